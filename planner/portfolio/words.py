"""A portfolio's answer in sentences. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from planner.contract.amounts import format_money, format_named_shares
from planner.contract.answer.portfolio import PortfolioAnswer, ProjectShare, SharedPool
from planner.contract.answer.risk import PortfolioRange
from planner.contract.answer.scenario import Purchase
from planner.costing.advice.decision import describe_parts
from planner.costing.choice import round_to_error
from pricing.common.words import capitalize_first, pluralize

SAME_COST = Decimal("0.001")
"""Part of the cost of planning apart below which a saving is none: rounding and the search's gap
make as much."""
SMALL_SAVING = 0.01
"""Part below which a saving is said to a tenth of a per cent."""


class SignedFigure(NamedTuple):
    """An amount that somebody signs for."""

    title: str
    words: str
    """What is done, with a place for the amount."""
    amount: Decimal | int
    note: str


def join(parts: Sequence[str]) -> str:
    """
    >>> join(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def describe_plan(answer: PortfolioAnswer) -> str:
    """What to do, what it costs and what it saves."""
    if not answer.feasible or answer.net_present_cost is None:
        return "No plan serves any of the projects."
    what = describe_parts(answer.orders) if answer.orders else "Buy and rent nothing"
    count = sum(not one.waits for one in answer.projects)
    whom = "one project" if count == 1 else f"{count} projects"
    sentence = f"{what}: {_describe_cost(answer)} for {whom}"
    if answer.resale:
        resale = format_money(answer.resale, answer.currency)
        sentence += f", net of {resale} from reselling servers at the end"
    if answer.saving is None or answer.apart is None or len(answer.projects) == 1:
        return f"{sentence}."
    if not answer.saving:
        return f"{sentence}; planning together saves nothing here."
    if abs(answer.saving) < SAME_COST * answer.apart:
        return f"{sentence}; planning together costs the same as planning apart."
    differs = format_money(abs(answer.saving), answer.currency)
    apart = format_money(answer.apart, answer.currency)
    part = float(abs(answer.saving) / answer.apart)
    percent = f"{part:.1%}" if part < SMALL_SAVING else f"{part:.0%}"
    own = format_money(answer.net_present_cost, answer.currency)
    sentence += f"; as stated and net present {own}, {differs} ({percent})"
    if answer.saving > 0:
        return f"{sentence} less than the {apart} of planning apart."
    return f"{sentence} more than the {apart} of planning apart, {_NO_ROOM}."


def list_signed(answer: PortfolioAnswer) -> Iterator[SignedFigure]:
    """What is approved as capital, signed and paid ahead; the first is always there."""
    servers, contracts, blocks = (
        [one for one in answer.purchases if one.kind == kind]
        for kind in ("server", "commitment", "capacity_block")
    )
    capital, signed = answer.capital_to_approve, answer.obligation_to_sign
    yield SignedFigure(
        "Capital to approve first", "approve {} of capital", capital or 0, _when(answer, servers)
    )
    if signed:
        first = min((one.month for one in contracts), default=0)
        upfront = sum(one.due_at_start or 0 for one in contracts if one.month == first)
        notes = [_when(answer, contracts)]
        part = "all" if upfront == signed else format_money(upfront, answer.currency)
        notes += [f"{part} of it paid upfront"] if upfront else []
        note = ", ".join(filter(None, notes))
        yield SignedFigure("Contracts to sign first", "sign for {}", signed, note)
    dated = sum(one.due_at_start or 0 for one in blocks)
    if dated:
        yield SignedFigure("Reserved by date", "reserve by date for {}", dated, "paid ahead")


def _when(answer: PortfolioAnswer, purchases: Sequence[Purchase]) -> str:
    first = min((one.month for one in purchases), default=0)
    return f"from {answer.month(first):%B %Y}" if first else ""


def describe_signatures(answer: PortfolioAnswer) -> str:
    """A sentence on what is approved, signed and paid ahead; "" where nothing is."""
    signed = [
        one.words.format(format_money(one.amount, answer.currency))
        + (f" ({one.note})" if one.note else "")
        for one in list_signed(answer)
        if one.amount
    ]
    return f" {capitalize_first(join(signed))}." if signed else ""


def _describe_cost(answer: PortfolioAnswer) -> str:
    ends, currency = answer.range, answer.currency
    if ends is None or answer.expected is None:
        return f"{format_money(answer.total_cost or Decimal(0), currency)} as stated"
    error = float(answer.standard_error or 0)
    rounded = f"expect {round_to_error(float(answer.expected), error):,.0f} {currency}"
    if not ends.holds:
        return rounded
    low, high = (f"{round_to_error(float(one), error):,.0f}" for one in (ends.p10, ends.p90))
    return f"{rounded} ({low} to {high})"


_NO_ROOM = "because shared budgets and quotas leave no room for what each would do on its own"


def list_orders(answer: PortfolioAnswer) -> Iterator[str]:
    """What to keep, buy, sign for and rent, and what each costs as stated, in sentences."""
    for one in answer.orders:
        amount = format_money(one.amount, answer.currency)
        yield f"{capitalize_first(one.sentence)}: {amount}."


def explain_share(answer: PortfolioAnswer, one: ProjectShare) -> str:
    """Why a project pays what it pays, of what is known of it."""
    if one.waits and one.alone is None:
        return "It is not served: even on its own, no plan keeps to its limits and the shared ones."
    if one.waits:
        return (
            "It waits: budgets and quotas leave no room for it after the projects that come first."
        )
    if one.share is None or one.alone is None:
        return "It has no share: one of the projects has no plan of its own to measure shares by."
    return " ".join([_compare_with_alone(answer, one), *_describe_use(answer, one)])


def _compare_with_alone(answer: PortfolioAnswer, one: ProjectShare) -> str:
    share = one.share or Decimal(0)
    pays = f"It pays {format_money(share, answer.currency)}"
    known = {each.name: each.fraction for each in answer.projects if each.fraction is not None}
    parts = format_named_shares(known, 1)
    part = "" if one.fraction is None else f", {parts[one.name]} of the plan"
    own_plan = format_money(one.alone or 0, answer.currency)
    if not one.saving or pays.endswith(f" {own_plan}"):
        return f"{pays}{part}: as much as it would pay alone."
    apart = format_money(abs(one.saving), answer.currency)
    alone = f"the {own_plan} it would pay alone"
    if share < 0:
        paid = format_money(-share, answer.currency)
        return f"The others pay it {paid} for what it brings{part}: {apart} less than {alone}."
    if one.saving > 0:
        return f"{pays}{part}: {apart} less than {alone}."
    return f"{pays}{part}: {apart} more than {alone}, {_NO_ROOM}."


def _describe_use(answer: PortfolioAnswer, one: ProjectShare) -> Iterator[str]:
    if not one.busy_months:
        yield "It has no work in the months of the plan."
        return
    first, last = (answer.month(pick(one.busy_months)) for pick in (min, max))
    count = pluralize(len(one.busy_months), "month")
    yield f"It works in {count} from {first:%B %Y} to {last:%B %Y}."
    if one.sooner or (one.alone_sooner and not one.waits):
        yield (
            "Its runs finish before their deadlines here."
            if one.sooner
            else "Its runs are spread over the months to their deadlines here; by itself it would "
            "do them sooner."
        )


METHOD_TITLES = {
    "shapley": "by what each project adds to those that joined before it, averaged over all orders "
    "of joining, so that none is favoured",
    "shapley_sampled": "by what each project adds to those that joined before it, averaged over "
    "sampled orders of joining, so that none is favoured",
    "use": "by the hours that each project uses of every machine, at that machine's cost for an "
    "hour of use",
}
"""How shares come about."""


def describe_waiting(waiting: Sequence[str], cost: Decimal | None, currency: str) -> Iterator[str]:
    """Who waits for others, and what serving all would cost; `waiting` is empty where those that
    are not served have no plan even alone."""
    sentences = []
    if waiting:
        names, verb = join(list(waiting)), "waits" if len(waiting) == 1 else "wait"
        sentences.append(
            f"{names} {verb}: budgets and quotas leave no room after the projects that come first."
        )
    if cost is not None:
        amount = f"{format_money(abs(cost), currency)} {'more' if cost >= 0 else 'less'}"
        limits = "those limits" if waiting else "budgets and quotas"
        sentences.append(f"Without {limits}, serving all would cost {amount}.")
    if sentences:
        yield " ".join(sentences)


def describe_turns(answer: PortfolioAnswer) -> str:
    """A sentence for each pool of how few accelerators it takes, and how long jobs wait; "" where
    no projects take turns."""
    return "".join(map(_describe_pool, answer.pools))


def _describe_pool(one: SharedPool) -> str:
    pool = f"{one.accelerators:g} accelerators in place of {one.accelerators_at_once:g}"
    within = f"within {one.p90_wait_hours:.1f} hours"
    jobs = len(one.projects) - len(one.by_hour)
    if not one.by_hour:
        starts = within if one.p90_wait_hours >= 0.05 else "at once"
        return f" Jobs of {jobs} projects take turns on {pool}: 9 of 10 start {starts}."
    if not jobs:
        return f" {join(one.by_hour)} share {pool} by the hour."
    whose = "one project" if jobs == 1 else f"{jobs} projects"
    work = f" Jobs of {whose} work on what {join(one.by_hour)} {{}} in each hour"
    leaves = "leaves" if len(one.by_hour) == 1 else "leave"
    return f"{work.format(leaves)}, {pool}: 9 of 10 wait {within} in all."


def describe_range(ends: PortfolioRange, currency: str) -> str:
    """Between what the total lies in 8 of 10 simulated outcomes, with the middle."""
    low, middle, high = (format_money(one, currency) for one in (ends.p10, ends.p50, ends.p90))
    doubt = "" if ends.holds else _FAR_FROM_PUBLISHED
    return f"{low} to {high} in 8 of 10 cases (median {middle}){doubt}"


_FAR_FROM_PUBLISHED = (
    "; it does not hold here, as the work of a project is far from every published run"
)

TOO_LITTLE_WORK = (
    "The work allowed for one question ran out before enough outcomes were simulated. As a "
    "background job, or with fewer projects or months, the total has a range."
)
"""Why a plan that may have a range has none."""
NO_PLAN = "There is no plan, so there is no total that could vary."
"""Why an answer without a plan has no range."""
