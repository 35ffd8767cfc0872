"""Facts of the verdict that need words: when it pays back, whose prices, what was assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from planner.contract.answer.common import Category
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.verdict import Alternative, DecisionPart
from planner.contract.labels import category_title, cloud_title
from planner.contract.money import format_difference, whole_parts
from planner.contract.months import name_day, parse_month
from planner.contract.shares import format_named_shares
from planner.exports.list_prices import describe_discounts
from planner.web.common.formatting import money

LIST_PRICES = "list prices"
_TEAM_PRICES: Mapping[str, str] = {
    "price_adjustments": "contract discounts",
    "custom_offers": "private offers",
    "on_prem.servers": "",
}
"""Fields of the request in which the rates of a team stand, and what they are called."""
_SOFTWARE: Mapping[str, str] = {"cuda": "NVIDIA with CUDA", "any": "any software"}


def payback_words(answer: ComparisonAnswer) -> str:
    """Month in which what is bought or leased has paid back; empty where nothing is."""
    verdict, plan = answer.verdict, answer.recommended
    if verdict is None or plan is None or not plan.buys_or_leases:
        return ""
    if verdict.payback is None:
        return "not within the plan" if _can_rent(answer) else "nothing rented to compare with"
    if verdict.payback not in answer.months and verdict.resale:
        return "only with the resale at the end"
    return f"{parse_month(verdict.payback):%B %Y}"


def _can_rent(answer: ComparisonAnswer) -> bool:
    """Whether a plan that buys and leases nothing could be advised."""
    return any(one.allowed and not one.buys_or_leases for one in answer.feasible)


@dataclass(frozen=True)
class ShownPart:
    """A part of the decision with what stands below it."""

    part: DecisionPart
    amount: int
    """What it costs in whole units; all parts add up to the total as shown."""
    share: str
    """Of the accelerator-hours, in per cent; all of them add up to 100% as shown."""
    machine_hours: float | None
    """What the advised plan rents of it."""
    price_day: str


def decision_parts(answer: ComparisonAnswer) -> list[ShownPart]:
    """What to do, by money."""
    amounts = _whole_amounts(answer)
    shares = format_named_shares({part.source: part.share_of_hours for part in _parts(answer)})
    rented = _machine_hours(answer)
    return [
        ShownPart(
            part, amount, shares[part.source], rented.get(part.source), _price_day(part, answer)
        )
        for part, amount in zip(_parts(answer), amounts, strict=False)
    ]


def beside_parts(answer: ComparisonAnswer) -> tuple[int, str] | None:
    """What the total holds beside the parts of the decision, and what it is for: taxes and costs
    of no single machine."""
    named = {part.source for part in _parts(answer)}
    plan = answer.recommended
    lines = [line for line in (plan.lines if plan else ()) if line.source not in named]
    amounts = _whole_amounts(answer)
    if not lines or not named or not amounts[-1]:
        return None
    kinds = dict.fromkeys(category_title(line.category) for line in lines)
    return amounts[-1], ", ".join(kinds)


def _parts(answer: ComparisonAnswer) -> tuple[DecisionPart, ...]:
    return answer.verdict.decision if answer.verdict else ()


def _whole_amounts(answer: ComparisonAnswer) -> list[int]:
    """Of each part, and last of all that no part holds; they add up to the total as shown."""
    amounts = [part.amount for part in _parts(answer)]
    total = answer.verdict.total if answer.verdict else None
    rest = Decimal(0) if total is None else total - sum(amounts)
    return whole_parts([*amounts, rest])


def _machine_hours(answer: ComparisonAnswer) -> dict[str, float]:
    """What the advised plan rents of each source."""
    plan = answer.recommended
    rented: dict[str, float] = {}
    for row in plan.costs_by_source if plan else ():
        if row.category is Category.COMPUTE and row.unit == "node-hours":
            rented[row.source] = rented.get(row.source, 0.0) + row.quantity
    return rented


_DOING: Mapping[str, str] = {"reserve": "reserve ahead", "keep": "keep what is there"}


def short_title(answer: ComparisonAnswer) -> str:
    """A plan without a name by what to do and when: `Buy and rent, 36 months from January 2027`;
    a plan that is over before its last month by the months from its first payment to its last."""
    done = list(dict.fromkeys(_DOING.get(part.action, part.action) for part in _parts(answer)))
    what = " and ".join([", ".join(done[:-1]), done[-1]] if len(done) > 1 else done)
    if answer.recommended is None:
        what = "no plan within these limits"
    months, start = answer.horizon_months, answer.first_month
    paid = [line.month for line in answer.recommended.lines] if answer.recommended else []
    if paid and max(paid) < months - 1:
        months, start = max(paid) - min(paid) + 1, parse_month(answer.months[min(paid)])
    span = f"{months} {'month' if months == 1 else 'months'}"
    what = what or "plan"
    return f"{what[0].upper()}{what[1:]}, {span} from {start:%B %Y}"


def is_the_only_plan(answer: ComparisonAnswer) -> bool:
    """Whether every scenario that may be advised has the advised plan."""
    plan = answer.recommended
    return plan is not None and all(
        one.lines == plan.lines for one in answer.feasible if one.allowed
    )


def cheapest_cases(answer: ComparisonAnswer) -> str:
    """`1,988 of 2,000 simulated cases`; empty where no cases were simulated."""
    verdict, risk = answer.verdict, answer.risk
    if verdict is None or verdict.confidence is None or risk is None:
        return ""
    cases = round(verdict.confidence * risk.samples)
    return f"{'all' if cases == risk.samples else f'{cases:,}'} of {risk.samples:,} simulated cases"


def by_shown_saving(answer: ComparisonAnswer) -> list[Alternative]:
    """What would be cheaper in the order of what `saving_words` shows, the largest first: savings
    of the total, then those in today's money alone. Where none saves, the cheapest first."""
    total = answer.verdict.total if answer.verdict else None

    def place(one: Alternative) -> tuple[bool, Decimal]:
        if one.saving is None or (total is not None and one.total < total):
            return False, one.total
        return True, -one.saving

    return sorted(answer.cheaper_if, key=place)


def saving_words(one: Alternative, answer: ComparisonAnswer) -> str:
    """`−1,200 USD`: the total less the other, both as shown; in today's money where that is no
    less. The total itself where there is none to save against."""
    if one.saving is None:
        return money(one.total, answer.currency)
    total = answer.verdict.total if answer.verdict else None
    if total is None or total <= one.total:
        return f"−{money(one.saving, answer.currency)} in today's money"
    saved = format_difference(total, one.total, answer.currency)
    return f"−{saved}".replace(" ", "\u00a0")


def _price_day(part: DecisionPart, answer: ComparisonAnswer) -> str:
    """Day on which the price of an offer was seen; empty for what is owned or signed already."""
    offer = answer.offers.get(part.source)
    if offer is None or part.action == "keep":
        return ""
    return f"price of {name_day(offer.as_of)}" if offer.as_of else "price without a date"


def prices_paid(answer: ComparisonAnswer) -> tuple[str, list[str]]:
    """Whose prices the answer rests on, in a few words, and which they are where that is more
    than a cell should hold: `("team rates", ["contract discounts: 2 of the team Alpha"])`."""
    rates = [
        _with_source(one.field, one.source) for one in answer.inherited if one.field in _TEAM_PRICES
    ]
    changed = list(_changed_prices(answer))
    if rates:
        return "team rates", [*rates, *changed]
    if len(changed) == 1:
        return f"{LIST_PRICES}, but {changed[0]}", []
    return (f"{LIST_PRICES}, but {len(changed)} changed" if changed else LIST_PRICES), changed


def _changed_prices(answer: ComparisonAnswer) -> list[str]:
    """Machines of the advised plan that are not at their list price: `AWS p5.48xlarge −8%`."""
    plan = answer.recommended
    paid = dict.fromkeys(row.source for row in (plan.costs_by_source if plan else ()))
    offers = [answer.offers[source] for source in paid if source in answer.offers]
    words = [
        f"{cloud_title(one.provider)} {one.instance_type} {describe_discounts(one)}"
        for one in offers
        if one.multiplier != 1
    ]
    return list(dict.fromkeys(words))


def _with_source(field: str, source: str) -> str:
    name = _TEAM_PRICES[field]
    return f"{name}: {source}" if name else source


def assumed(answer: ComparisonAnswer) -> str:
    """What nobody asked for and the plan keeps to all the same: `NVIDIA with CUDA, …`."""
    return ", ".join(_assumed(answer))


def _assumed(answer: ComparisonAnswer) -> Iterator[str]:
    left_open = {row.field: str(row.value) for row in answer.assumptions if not row.given}
    software = left_open.get("workload.software")
    if software:
        yield _SOFTWARE.get(software, software)
    if left_open.get("workload.interruptible") == "false":
        yield "not interruptible"
    partitions = left_open.get("constraints.partitions")
    if partitions:
        yield f"{partitions} regions"
    if left_open.get("constraints.allow_partial_nodes") == "false":
        yield "whole machines"
