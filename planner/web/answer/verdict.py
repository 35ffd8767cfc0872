"""Facts of the verdict that need words: when it pays back, whose prices, what was assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from planner.contract import labels
from planner.contract.amounts import (
    format_difference,
    format_named_shares,
    name_day,
    parse_month,
    whole_parts,
)
from planner.contract.answer.common import Category
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioFinance
from planner.contract.answer.verdict import Alternative, BudgetUse, DecisionPart, Verdict
from planner.exports.focus import describe_discount
from planner.web.common.formatting import money, number, percent
from pricing.common.words import pluralize

LIST_PRICES = "list prices"
NOTHING = "nothing"
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
        return (
            "not within the plan"
            if any(one.allowed and not one.buys_or_leases for one in answer.feasible)
            else "nothing rented to compare with"
        )
    if verdict.payback not in answer.months and verdict.resale:
        return "only with the resale at the end"
    return f"{parse_month(verdict.payback):%B %Y}"


@dataclass(frozen=True)
class ShownPart:
    part: DecisionPart
    amount: int
    """What it costs in whole units; all parts add up to the total as shown."""
    share: str
    """Of the accelerator-hours, in per cent; all of them add up to 100% as shown."""
    machine_hours: float | None
    """What the advised plan rents of it."""
    price_day: str


def decision_parts(answer: ComparisonAnswer) -> list[ShownPart]:
    amounts = _whole_amounts(answer)
    shares = format_named_shares({part.source: part.share_of_hours for part in _parts(answer)})
    plan = answer.recommended
    rented: dict[str, float] = {}
    for row in plan.costs_by_source if plan else ():
        if row.category is Category.COMPUTE and row.unit == "node-hours":
            rented[row.source] = rented.get(row.source, 0.0) + row.quantity
    shown = []
    for part, amount in zip(_parts(answer), amounts, strict=False):
        offer, day = answer.offers.get(part.source), ""
        if offer is not None and part.action != "keep":
            day = f"price of {name_day(offer.as_of)}" if offer.as_of else "price without a date"
        hours = rented.get(part.source)
        shown.append(ShownPart(part, amount, shares[part.source], hours, day))
    return shown


def beside_parts(answer: ComparisonAnswer) -> tuple[int, str] | None:
    """What the total holds beside the parts of the decision, and what it is for: taxes and costs
    of no single machine."""
    named = {part.source for part in _parts(answer)}
    plan = answer.recommended
    lines = [line for line in (plan.lines if plan else ()) if line.source not in named]
    amounts = _whole_amounts(answer)
    if not lines or not named or not amounts[-1]:
        return None
    kinds = dict.fromkeys(labels.category_title(line.category) for line in lines)
    return amounts[-1], ", ".join(kinds)


def _parts(answer: ComparisonAnswer) -> tuple[DecisionPart, ...]:
    return answer.verdict.decision if answer.verdict else ()


def _whole_amounts(answer: ComparisonAnswer) -> list[int]:
    amounts = [part.amount for part in _parts(answer)]
    total = answer.verdict.total if answer.verdict else None
    rest = Decimal(0) if total is None else total - sum(amounts)
    return whole_parts([*amounts, rest])


_DOING: Mapping[str, str] = {"reserve": "reserve ahead", "keep": "keep what is there"}


def short_title(answer: ComparisonAnswer) -> str:
    """A plan without a name by what to do and when: `Buy and rent, 36 months from January 2027`;
    a plan that is over before its last month by the months from its first payment to its last."""
    done = list(dict.fromkeys(_DOING.get(part.action, part.action) for part in _parts(answer)))
    what = " and ".join([", ".join(done[:-1]), done[-1]] if len(done) > 1 else done)
    months, start = answer.horizon_months, answer.first_month
    paid = [line.month for line in answer.recommended.lines] if answer.recommended else []
    if paid and max(paid) < months - 1:
        months, start = max(paid) - min(paid) + 1, parse_month(answer.months[min(paid)])
    span = f"{months} {'month' if months == 1 else 'months'}"
    what = what or "plan"
    return f"{what[0].upper()}{what[1:]}, {span} from {start:%B %Y}"


def is_the_only_plan(answer: ComparisonAnswer) -> bool:
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


def prices_paid(answer: ComparisonAnswer) -> tuple[str, list[str]]:
    """Whose prices the answer rests on, in a few words, and which they are where that is more
    than a cell should hold: `("team rates", ["contract discounts: 2 of the team Alpha"])`."""
    rates = [
        f"{name}: {one.source}" if (name := _TEAM_PRICES[one.field]) else one.source
        for one in answer.inherited
        if one.field in _TEAM_PRICES
    ]
    plan = answer.recommended
    paid = dict.fromkeys(row.source for row in (plan.costs_by_source if plan else ()))
    words = (
        " ".join(
            (labels.cloud_title(one.provider), one.instance_type, describe_discount(one.multiplier))
        )
        for one in map(answer.offers.get, paid)
        if one is not None and one.multiplier != 1
    )
    changed = list(dict.fromkeys(words))
    if rates:
        return "team rates", [*rates, *changed]
    if len(changed) == 1:
        return f"{LIST_PRICES}, but {changed[0]}", []
    return (f"{LIST_PRICES}, but {len(changed)} changed" if changed else LIST_PRICES), changed


def assumed(answer: ComparisonAnswer) -> str:
    """What nobody asked for and the plan keeps to all the same: `NVIDIA with CUDA, …`."""
    left_open = {row.field: str(row.value) for row in answer.assumptions if not row.given}
    software = left_open.get("workload.software", "")
    partitions = left_open.get("constraints.partitions")
    words = (
        _SOFTWARE.get(software, software),
        "not interruptible" if left_open.get("workload.interruptible") == "false" else "",
        f"{partitions} regions" if partitions else "",
        "whole machines" if left_open.get("constraints.allow_partial_nodes") == "false" else "",
    )
    return ", ".join(filter(None, words))


def list_returns(finance: ScenarioFinance | None, currency: str) -> list[tuple[str, str]]:
    if finance is None or finance.against is None:
        return []
    reason = finance.why_no_internal_rate
    internal = f"none: {reason}" if reason else _rate(finance.internal_rate_of_return)
    return [
        ("Net present value", money(finance.net_present_value, currency)),
        ("Internal rate of return", internal),
        ("Payback", _months(finance.payback_months)),
        ("Discounted payback", _months(finance.discounted_payback_months)),
        ("Cost per year", money(finance.cost_per_year, currency)),
    ]


def _rate(rate: float | None) -> str:
    return "none, or more than one" if rate is None else f"{percent(rate, 1)} a year"


def _months(months: float | None) -> str:
    return "never" if months is None else f"{number(months, 1)} months"


@dataclass(frozen=True)
class FigureRow:
    title: str
    words: str
    term: str = ""
    """Entry of the glossary that explains the title."""
    note: str = ""
    details: tuple[str, ...] = ()
    """What folds below the words."""
    is_over: bool = False
    """Whether it is a budget that the plan does not keep to."""

    @property
    def in_a_line(self) -> str:
        """All of it, for paper: `nothing (rent falls due month by month)`."""
        beside = "; ".join([*([self.note] if self.note else []), *self.details])
        return f"{self.words} ({beside})" if beside else self.words


def figure_rows(answer: ComparisonAnswer) -> list[FigureRow]:
    return list(_rows(answer, answer.verdict)) if answer.verdict else []


STOPPED_AFTER = 12
"""Months of work after which it is told what is owed if there is no more."""


def _stopped(answer: ComparisonAnswer) -> Iterator[FigureRow]:
    months = int(answer.assumption("risk.end_after_months") or STOPPED_AFTER)
    row = next((one for one in answer.stops if one.months == months), None)
    if row is not None:
        words = {"servers would fetch": row.resale, "paid upfront for later": row.paid_ahead}
        note = "; ".join(f"{w} {money(sum_, answer.currency)}" for w, sum_ in words.items() if sum_)
        title = f"Owed if it stops after {pluralize(months, 'month')}"
        yield FigureRow(title, _or_nothing(row.owed, answer.currency), note=note)


def _rows(answer: ComparisonAnswer, verdict: Verdict) -> Iterator[FigureRow]:
    currency = answer.currency
    yield from _cost_rows(verdict, currency)
    yield from _cost_of_tokens(answer)
    yield from _signed(answer, verdict)
    yield from (_budget(one, verdict, currency) for one in verdict.budget)
    if not verdict.budget:
        yield FigureRow("Budget", "none given")
    months = f"Due within {pluralize(answer.horizon_months, 'month')}"
    resale = f"net of {money(verdict.resale, currency)} of resale" if verdict.resale else ""
    yield FigureRow(months, money(verdict.within_horizon, currency), note=resale)
    yield _owed(verdict, currency)
    yield from _stopped(answer)
    if verdict.resale is not None:
        yield FigureRow("Resale counted at the end", money(verdict.resale, currency))
    payback = payback_words(answer)
    if payback:
        yield FigureRow("Pays back", payback)
    cases = cheapest_cases(answer)
    if is_the_only_plan(answer):
        yield FigureRow("Other plans", "none that may be advised")
    elif cases:
        yield FigureRow("Stays the cheapest", f"in {cases}")
    present = money(verdict.present_value, currency)
    yield FigureRow("In today's money", present, term="present value")
    paid, which = prices_paid(answer)
    yield FigureRow("Prices", paid, details=tuple(which))
    yield FigureRow("Oldest rental price paid", _oldest(verdict))
    rate = answer.exchange_rate
    if rate:
        day = f", {name_day(rate.as_of)}" if rate.as_of else ""
        yield FigureRow("Exchange rate", f"{rate.units_per_usd} {currency} per USD{day}")


def _signed(answer: ComparisonAnswer, verdict: Verdict) -> Iterator[FigureRow]:
    currency = answer.currency
    beside = _beside_leases(verdict)
    capital = _or_nothing(verdict.capital_to_approve or beside, currency)
    note = "network and spares of what is leased" if beside else _due_later(answer, verdict)
    yield FigureRow("Capital to approve now", capital, note=note)
    if verdict.obligation_to_sign is not None:
        signed = money(verdict.obligation_to_sign, currency)
        yield FigureRow("Contracts to sign now", signed)
    dated = _paid_ahead(answer, verdict)
    if dated:
        yield FigureRow("Reserved by date", money(dated, currency), note="to sign and pay ahead")


MOST_FACTS = 5


def first_facts(answer: ComparisonAnswer) -> list[FigureRow]:
    """What stands beside the expected cost and its range, no amount twice: what is signed, budgets
    with their chance, when it pays back, how often it stays the cheapest."""
    verdict = answer.verdict
    if verdict is None or verdict.total is None:
        return []
    expected = verdict.total if verdict.expected is None else verdict.expected
    shown_as = {money(expected, answer.currency): "all of it"}
    if verdict.range is not None:
        shown_as[money(verdict.range.p10, answer.currency)] = "the low end of the range"
    signed = [
        FigureRow(row.title, shown_as.get(row.words, row.words))
        for row in _signed(answer, verdict)
        if row.words != NOTHING
    ]
    limits = [*(budget_fact(one, answer.currency) for one in verdict.budget), *_deadline(verdict)]
    rows = [*(signed or [FigureRow("To sign or approve now", NOTHING)])][: MOST_FACTS - len(limits)]
    rows += limits
    payback, cases = payback_words(answer), cheapest_cases(answer)
    if payback:
        rows.append(FigureRow("Pays back", payback))
    if cases and not is_the_only_plan(answer):
        rows.append(FigureRow("Stays the cheapest", f"in {cases}"))
    return rows[:MOST_FACTS]


def _deadline(verdict: Verdict) -> Iterator[FigureRow]:
    if verdict.deadline and verdict.deadline_chance is not None:
        title = f"Deadline {parse_month(verdict.deadline):%B %Y}"
        words = f"kept in {percent(verdict.deadline_chance)} of cases"
        yield FigureRow(title, words, is_over=labels.CHANCE_TO_MISS in verdict.sentence)


def budget_fact(use: BudgetUse, currency: str) -> FigureRow:
    """A budget and how likely it is kept; what is left of it where no chance is known."""
    title = f"{labels.budget_title(use.kind, use.fiscal_year)} of {money(use.budget, currency)}"
    rest = f"{money(abs(use.headroom), currency)} {'over' if use.headroom < 0 else 'left'}"
    if use.headroom == use.budget:
        rest = "all left"
    chance = "" if use.chance is None else f"kept in {percent(use.chance)} of cases"
    words = ", ".join(filter(None, (rest if use.headroom < 0 or not chance else "", chance)))
    return FigureRow(title, words, is_over=use.headroom < 0)


def _cost_of_tokens(answer: ComparisonAnswer) -> Iterator[FigureRow]:
    shown = {name: number(float(c), 2) for name, c in answer.cost_per_million_tokens.items()}
    if shown:
        ends = f"{shown['p10']} to {shown['p90']} in 8 of 10 cases" if "p10" in shown else ""
        words = f"{shown['expected']} {answer.currency}"
        yield FigureRow("Cost of a million tokens", words, note=ends)


def _cost_rows(verdict: Verdict, currency: str) -> Iterator[FigureRow]:
    if verdict.expected is not None:
        yield FigureRow("Expected cost", money(verdict.expected, currency))
    allowance = describe_allowance(verdict, currency)
    yield FigureRow("As stated", money(verdict.total, currency), note=allowance)
    if verdict.range:
        low, high = money(verdict.range.p10, currency), money(verdict.range.p90, currency)
        title = "In 8 of 10 cases" if verdict.range.holds else "Range of published runs"
        note = verdict.range.note
        yield FigureRow(title, f"{low} – {high}", term="p10, p50, p90", note=note)


def describe_allowance(verdict: Verdict, currency: str) -> str:
    """What may turn out otherwise adds to the cost as stated, by cause, those of no effect left
    out."""
    if verdict.expected is None or verdict.total is None:
        return ""
    parts = [
        f"{labels.CAUSE_TITLES[cause]} {amount:+,.0f}"
        for cause, amount in verdict.risk_allowance.items()
        if abs(amount) >= Decimal("0.5")
    ]
    added = money(verdict.expected - verdict.total, currency)
    return f"risk allowance {added}: {', '.join(parts)}" if parts else ""


def _due_later(answer: ComparisonAnswer, verdict: Verdict) -> str:
    first = min((one.starts for one in verdict.decision if one.action == "buy"), default=None)
    return f"due in {parse_month(first):%B %Y}" if first and first != answer.start else ""


def _owed(verdict: Verdict, currency: str) -> FigureRow:
    owed = verdict.owed_after or Decimal(0)
    words = _or_nothing(max(owed, Decimal(0)), currency)
    note = f"{money(-owed, currency)} of tax saved later is counted" if owed < 0 else ""
    if labels.NOT_COUNTED in verdict.sentence:
        note = "of what is counted; contracts go on"
    return FigureRow("Owed afterwards", words, note=note)


def _paid_ahead(answer: ComparisonAnswer, verdict: Verdict) -> Decimal:
    reserved = {one.source for one in verdict.decision if one.action == "reserve"}
    lines = answer.recommended.lines if answer.recommended else ()
    due = (
        one.amount for one in lines if one.source in reserved and one.category is Category.UPFRONT
    )
    return sum(due, Decimal(0))


def _oldest(verdict: Verdict) -> str:
    if verdict.oldest_price:
        return name_day(verdict.oldest_price)
    if all(one.purchase_option == labels.OWNED for one in verdict.decision):
        return "nothing is rented"
    return "its price list has no dates"


def _beside_leases(verdict: Verdict) -> Decimal:
    leases = [one for one in verdict.decision if one.action == "lease"]
    first = min((one.starts for one in leases), default="")
    due = (one.due_at_start or Decimal(0) for one in leases if one.starts == first)
    return Decimal(0) if verdict.capital_to_approve else sum(due, Decimal(0))


def _or_nothing(amount: Decimal | None, currency: str) -> str:
    return money(amount, currency) if amount else NOTHING


def _budget(use: BudgetUse, verdict: Verdict, currency: str) -> FigureRow:
    doubt = ""
    if (
        use.kind == "total"
        and use.headroom >= 0
        and verdict.range
        and verdict.range.p90 > use.budget
    ):
        doubt = "In more than 1 of 10 cases it is not enough."
    note = " ".join(filter(None, (use.sentence, doubt)))
    title = labels.budget_title(use.kind, use.fiscal_year)
    return budget_row(title, use.headroom, use.budget, currency, note)


def budget_row(
    title: str, left: Decimal, budget: Decimal, currency: str, note: str = ""
) -> FigureRow:
    rest = f"{money(abs(left), currency)} {'over' if left < 0 else 'left of'}"
    return FigureRow(title, f"{rest} {money(budget, currency)}", note=note, is_over=left < 0)
