"""Facts of the verdict that need words: when it pays back, whose prices, what was assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from planner.contract import labels
from planner.contract.amounts import format_named_shares, name_day, parse_month, whole_parts
from planner.contract.answer.common import Category
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioFinance
from planner.contract.answer.verdict import Alternative, BudgetUse, DecisionPart, Verdict
from planner.contract.figures import reserved_ahead
from planner.web.common.formatting import money, number, percent
from pricing.common.words import capitalize_first, pluralize

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
    span = pluralize(months, "month")
    return f"{capitalize_first(what or 'plan')}, {span} from {start:%B %Y}"


def is_the_only_plan(answer: ComparisonAnswer) -> bool:
    plan = answer.recommended
    return plan is not None and all(
        one.lines == plan.lines for one in answer.feasible if one.allowed
    )


def saving_words(one: Alternative, currency: str) -> str:
    """`−1,200 USD`, expected in today's money; the total where there is none to save against."""
    saved = money(one.total, currency) if one.saving is None else f"−{money(one.saving, currency)}"
    return saved.replace(" ", "\u00a0")


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

    def months(value: float | None) -> str:
        return "never" if value is None else f"{number(value, 1)} months"

    rate, reason = finance.internal_rate_of_return, finance.why_no_internal_rate
    internal = "none, or more than one" if rate is None else f"{percent(rate, 1)} a year"
    internal = f"none: {reason}" if reason else internal
    return [
        ("Net present value", money(finance.net_present_value, currency)),
        ("Internal rate of return", internal),
        ("Payback", months(finance.payback_months)),
        ("Discounted payback", months(finance.discounted_payback_months)),
        ("Cost per year", money(finance.cost_per_year, currency)),
    ]


@dataclass(frozen=True)
class FigureRow:
    title: str
    words: str
    is_over: bool = False
    """Whether it is a limit that the plan does not keep to."""


def _signed(answer: ComparisonAnswer, verdict: Verdict) -> Iterator[FigureRow]:
    currency, capital = answer.currency, verdict.capital_to_approve
    leases = [one for one in verdict.decision if one.action == "lease"]
    first = min((one.starts for one in leases), default="")
    due = (one.due_at_start or Decimal(0) for one in leases if one.starts == first)
    if capital := capital or sum(due, Decimal(0)):
        yield FigureRow("Capital to approve first", money(capital, currency))
    if verdict.obligation_to_sign is not None:
        signed = money(verdict.obligation_to_sign, currency)
        yield FigureRow("Contracts to sign first", signed)
    dated = reserved_ahead(answer)
    if dated:
        yield FigureRow("Reserved by date", money(dated, currency))


MOST_FACTS = 5


def first_facts(answer: ComparisonAnswer) -> list[FigureRow]:
    """What stands beside the expected cost and its range, no amount twice: what is signed, budgets
    with their chance, when it pays back, what it saves, how often it stays the cheapest."""
    verdict = answer.verdict
    if verdict is None or verdict.total is None:
        return []
    expected = verdict.total if verdict.expected is None else verdict.expected
    shown_as = {money(expected, answer.currency): "all of it"}
    if verdict.range is not None:
        shown_as[money(verdict.range.p10, answer.currency)] = "the low end of the range"
    signed = [
        FigureRow(row.title, shown_as.get(row.words, row.words)) for row in _signed(answer, verdict)
    ]
    least = float(answer.assumption("choice.certainty") or 0)
    limits = [budget_fact(one, least, answer.currency) for one in verdict.budget]
    if verdict.deadline and verdict.deadline_chance is not None:
        title = f"Deadline {parse_month(verdict.deadline):%B %Y}"
        words = f"kept in {percent(verdict.deadline_chance)} of cases"
        limits.append(FigureRow(title, words, is_over=verdict.deadline_chance < least))
    signed = signed or [FigureRow("To sign or approve now", "nothing")]
    rows = signed[: MOST_FACTS - len(limits)]
    rows += limits
    payback = payback_words(answer)
    if payback:
        rows.append(FigureRow("Pays back", payback))
    if verdict.against and round(verdict.against.difference) > 0:
        saved = money(verdict.against.difference, answer.currency)
        rows.append(FigureRow(f"Cheaper than {verdict.against.words}", f"by {saved}"))
    if verdict.confidence is not None and not is_the_only_plan(answer):
        rows.append(FigureRow("Stays the cheapest", f"in {percent(verdict.confidence)} of cases"))
    return rows[:MOST_FACTS]


def budget_fact(use: BudgetUse, certainty: float, currency: str) -> FigureRow:
    """A budget and how likely it is kept; what is left of it where no chance is known."""
    budget = money(use.budget, currency)
    title = f"{labels.budget_title(use.kind, use.fiscal_year)} of {budget}"
    rest = f"{money(abs(use.headroom), currency)} {'over' if use.headroom < 0 else 'left'}"
    if use.headroom == use.budget:
        rest = "all left"
    chance = "" if use.chance is None else f"kept in {percent(use.chance)} of cases"
    words = ", ".join(filter(None, (rest if use.headroom < 0 or not chance else "", chance)))
    is_unsure = use.chance is not None and use.chance < certainty
    return FigureRow(title, words, is_over=use.headroom < 0 or is_unsure)
