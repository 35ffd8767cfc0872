"""The figures beside the decision: what is paid, when, how sure it is, at whose prices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from planner.contract.answer.common import Category
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.verdict import BudgetUse, Verdict
from planner.contract.labels import NOT_COUNTED, budget_title
from planner.contract.months import count_months, name_day, parse_month
from planner.contract.purchase_options import OWNED
from planner.web.answer.verdict_facts import (
    cheapest_cases,
    is_the_only_plan,
    payback_words,
    prices_paid,
)
from planner.web.common.formatting import money
from pricing.common.pluralize import pluralize


@dataclass(frozen=True)
class FigureRow:
    """A title and what stands beside it."""

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


def figure_rows(
    answer: ComparisonAnswer, budget_of_project: FigureRow | None = None
) -> list[FigureRow]:
    """Rows of an answer with a verdict; a figure that there is none of is left out."""
    return list(_rows(answer, answer.verdict, budget_of_project)) if answer.verdict else []


def _rows(
    answer: ComparisonAnswer, verdict: Verdict, budget_of_project: FigureRow | None
) -> Iterator[FigureRow]:
    currency = answer.currency
    yield FigureRow("Total", money(verdict.total, currency))
    if verdict.range:
        low, high = money(verdict.range.p10, currency), money(verdict.range.p90, currency)
        title = "In 8 of 10 cases" if verdict.range.holds else "Range of published runs"
        note = verdict.range.note
        yield FigureRow(title, f"{low} – {high}", term="p10, p50, p90", note=note)
    beside = _beside_leases(verdict)
    capital = _or_nothing(verdict.capital_to_approve or beside, currency)
    note = "network and spares of what is leased" if beside else _rent_alone(verdict)
    note = note or _due_later(answer, verdict)
    yield FigureRow("Capital to approve now", capital, note=note)
    uncounted = "what they cost after the plan is not counted" if _outlasts(answer) else ""
    if verdict.obligation_to_sign is not None:
        signed = money(verdict.obligation_to_sign, currency)
        yield FigureRow("Contracts to sign now", signed, note=uncounted)
    dated = _paid_ahead(answer, verdict)
    if dated:
        yield FigureRow("Reserved by date", money(dated, currency), note="to sign and pay ahead")
    yield from _budgets(verdict, currency, budget_of_project)
    months = f"Due within {pluralize(answer.horizon_months, 'month')}"
    resale = f"net of {money(verdict.resale, currency)} of resale" if verdict.resale else ""
    yield FigureRow(months, money(verdict.within_horizon, currency), note=resale)
    yield _owed(verdict, currency)
    if verdict.resale is not None:
        yield FigureRow("Resale counted at the end", money(verdict.resale, currency))
    payback = payback_words(answer)
    if payback:
        yield FigureRow("Pays back", payback)
    cases = cheapest_cases(answer)
    if is_the_only_plan(answer):
        yield FigureRow("Other plans", "none that may be advised")
    elif cases:
        yield FigureRow("Stays the cheapest", f"in {cases}", note=_of_which(answer))
    present = money(verdict.present_value, currency)
    yield FigureRow("In today's money", present, term="present value")
    paid, which = prices_paid(answer)
    yield FigureRow("Prices", paid, details=tuple(which))
    yield FigureRow("Oldest rental price paid", _oldest(verdict))
    rate = answer.exchange_rate
    if rate:
        day = f", {name_day(rate.as_of)}" if rate.as_of else ""
        yield FigureRow("Exchange rate", f"{rate.units_per_usd} {currency} per USD{day}")


def _due_later(answer: ComparisonAnswer, verdict: Verdict) -> str:
    """When the first servers are bought, if that is not at once."""
    first = min((one.starts for one in verdict.decision if one.action == "buy"), default=None)
    if first is None or first == answer.start:
        return ""
    return f"due in {parse_month(first):%B %Y}"


def _budgets(
    verdict: Verdict, currency: str, budget_of_project: FigureRow | None
) -> Iterator[FigureRow]:
    """Those of the request, and that of the project that keeps the answer."""
    yield from (_budget(one, verdict, currency) for one in verdict.budget)
    if budget_of_project:
        yield budget_of_project
    elif not verdict.budget:
        yield FigureRow("Budget", "none given")


def _owed(verdict: Verdict, currency: str) -> FigureRow:
    """What is owed after the plan; where tax saves more then than is due, what it saves."""
    owed = verdict.owed_after or Decimal(0)
    words = _or_nothing(max(owed, Decimal(0)), currency)
    note = f"{money(-owed, currency)} of tax saved later is counted" if owed < 0 else ""
    if NOT_COUNTED in verdict.sentence:
        note = "of what is counted; contracts go on"
    return FigureRow("Owed afterwards", words, note=note)


def _paid_ahead(answer: ComparisonAnswer, verdict: Verdict) -> Decimal:
    """What reservations by date are paid for before they begin, support and staff left out."""
    reserved = {one.source for one in verdict.decision if one.action == "reserve"}
    lines = answer.recommended.lines if answer.recommended else ()
    due = (
        one.amount for one in lines if one.source in reserved and one.category is Category.UPFRONT
    )
    return sum(due, Decimal(0))


def _oldest(verdict: Verdict) -> str:
    """The day of the oldest price of what is rented; prices of servers have dates of their own."""
    if verdict.oldest_price:
        return name_day(verdict.oldest_price)
    if all(one.purchase_option == OWNED for one in verdict.decision):
        return "nothing is rented"
    return "its price list has no dates"


def _outlasts(answer: ComparisonAnswer) -> bool:
    """Whether contracts go on after the plan and their share within it alone counts."""
    if answer.assumption("term_end") != "prorate" or answer.verdict is None:
        return False
    return any(
        count_months(answer.first_month, parse_month(one.last_start)) + one.term_months
        > answer.horizon_months
        for one in answer.verdict.decision
        if one.term_months is not None
    )


def _beside_leases(verdict: Verdict) -> Decimal:
    """What the first servers on lease need at once, where none is bought."""
    leases = [one for one in verdict.decision if one.action == "lease"]
    first = min((one.starts for one in leases), default="")
    due = (one.due_at_start or Decimal(0) for one in leases if one.starts == first)
    return Decimal(0) if verdict.capital_to_approve else sum(due, Decimal(0))


def _rent_alone(verdict: Verdict) -> str:
    """What there is to pay where machines are rented and nothing is bought, signed or reserved."""
    ahead = verdict.capital_to_approve or verdict.obligation_to_sign
    actions = {one.action for one in verdict.decision}
    is_rent_alone = "rent" in actions and "reserve" not in actions and not ahead
    return "rent falls due month by month" if is_rent_alone else ""


def _or_nothing(amount: Decimal | None, currency: str) -> str:
    return money(amount, currency) if amount else "nothing"


def _of_which(answer: ComparisonAnswer) -> str:
    """Where a plan that is not advised costs less: among which plans the advised one is best."""
    total = answer.verdict.total if answer.verdict else None
    barred = [one.total_cost for one in answer.feasible if not one.allowed]
    is_undercut = total is not None and any(one is not None and one < total for one in barred)
    return "of the plans that may be advised" if is_undercut else ""


def _budget(use: BudgetUse, verdict: Verdict, currency: str) -> FigureRow:
    note = " ".join(filter(None, (use.sentence, _may_exceed(use, verdict))))
    title = budget_title(use.kind, use.fiscal_year)
    return budget_row(title, use.headroom, use.budget, currency, note)


def budget_row(
    title: str, left: Decimal, budget: Decimal, currency: str, note: str = ""
) -> FigureRow:
    """`826,020 USD left of 1,000,000 USD`."""
    rest = f"{money(abs(left), currency)} {'over' if left < 0 else 'left of'}"
    return FigureRow(title, f"{rest} {money(budget, currency)}", note=note, is_over=left < 0)


def _may_exceed(use: BudgetUse, verdict: Verdict) -> str:
    """Where the range of the total reaches beyond the budget of the whole plan."""
    if use.kind != "total" or use.headroom < 0 or verdict.range is None:
        return ""
    if verdict.range.p90 <= use.budget:
        return ""
    return "In more than 1 of 10 cases it is not enough."
