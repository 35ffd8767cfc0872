"""What the budgets of a request keep out, in sentences of the verdict. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from planner.comparison_steps.budgets.gains import BudgetGain, limit_of, name_budget
from planner.comparison_steps.results import ComparisonResults
from planner.contract.answer.verdict import BudgetUse, DecisionPart, Verdict
from planner.contract.money import decimals_of, format_difference, format_money
from planner.contract.months import FiscalYears, parse_month
from planner.costing.cost_model.charges import CAPITAL
from planner.costing.results.payments import capital, resale_value
from planner.costing.results.scenario_result import Scenario

_FIELDS = (
    "constraints.capex_budget", "constraints.capex_by_fiscal_year.", "constraints.monthly_budget",
    "constraints.total_budget",
)  # fmt: skip


def describe_gain(
    results: ComparisonResults, facts: Verdict, gains: Sequence[BudgetGain] | None
) -> str:
    """What budgets have no room for, its price and what it would save; empty where they keep out
    nothing cheaper."""
    if not gains or facts.total is None:
        return ""
    gain = gains[0]
    uses = {limit_of(use): use for use in facts.budget}
    over = [uses[limit_of(use)] for use in gain.uses]
    purchases = list(_list_purchases(gain.plan, results))
    left = min(use.headroom for use in over)
    fits_one = any(left >= one.each for one in purchases)
    is_more = 0 < _count_bought(facts) < sum(one.units for one in purchases)
    other = "the servers" if fits_one else f"a {'further ' if is_more else ''}server"
    is_close = any(left < one.each and round(left) >= round(one.each) for one in purchases)
    show = _Amounts(results.request.currency, is_close)
    budgets = " and the ".join(_describe_budget(use, results, show) for use in over)
    verb = "has" if len(over) == 1 else "have"
    listed = " and ".join(one.describe(show) for one in purchases)
    saving = _describe_saving(gain, facts, results.request.currency)
    due = "".join(_describe_payments(use, show) for use in gain.uses if use.kind != "capital")
    if not purchases:
        return (
            f"The {budgets} {verb} no room for a cheaper plan: {gain.alternative.plan[0].lower()}"
            f"{gain.alternative.plan[1:-1]}; that would be {saving}{due}."
        )
    is_one = [one.units for one in purchases] == [1]
    in_all = "" if is_one else f" ({show(capital(gain.plan))} in all)"
    return (
        f"The {budgets} {verb} no room for {other} that would save money: {listed}{in_all} would "
        f"make the plan {saving}{due}."
    )


def _describe_payments(use: BudgetUse, show: _Amounts) -> str:
    """What a plan pays in its dearest month, or in all before any resale."""
    amount = show(Decimal(ceil(use.planned)))
    if use.month is None:
        return f", with payments of {amount} in all"
    return f", with {amount} due in {parse_month(use.month):%B %Y}"


@dataclass(frozen=True)
class _Amounts:
    """Writes amounts in whole units, to the cent where two would look alike."""

    currency: str
    to_the_cent: bool = False

    def __call__(self, amount: Decimal) -> str:
        """
        >>> _Amounts("USD")(Decimal("355972.79")), _Amounts("USD", True)(Decimal("355972.79"))
        ('355,973 USD', '355,972.79 USD')
        """
        if not self.to_the_cent:
            return self._write_whole(amount)
        return f"{amount:,.{decimals_of(self.currency)}f} {self.currency}"

    def _write_whole(self, amount: Decimal) -> str:
        return format_money(amount, self.currency) if amount else f"0 {self.currency}"


@dataclass(frozen=True)
class _Purchase:
    """Servers of a kind that a plan buys or leases, with the capital that one takes."""

    units: int
    label: str
    each: Decimal
    is_leased: bool

    def describe(self, show: _Amounts) -> str:
        """
        >>> [_Purchase(units, "DGX H100", Decimal(355973), False).describe(_Amounts("USD"))[:32]
        ...  for units in (1, 2)]
        ['1 × DGX H100, 355,973 USD with n', '2 × DGX H100, 355,973 USD each w']
        """
        what = "for network and spares" if self.is_leased else "with network and spares"
        each = " each" if self.units > 1 else ""
        return f"{self.units} × {self.label}, {show(self.each)}{each} {what}"


def _describe_budget(use: BudgetUse, results: ComparisonResults, show: _Amounts) -> str:
    """`capital budget of fiscal year 2027 (400,000 USD, 44,027 USD left)`."""
    named = name_budget(use, results)
    left = f", {show(use.headroom)} left" if use.planned else ""
    return f"{named.name} ({named.amount(float(use.budget))}{left})"


def _describe_saving(gain: BudgetGain, facts: Verdict, currency: str) -> str:
    """What the plan would cost less in all; in present value where that alone is less."""
    plan = gain.plan
    total = facts.total or Decimal(0)
    if total > plan.total_cost:
        less = f"{format_difference(total, plan.total_cost, currency)} cheaper"
    else:
        saving = gain.alternative.saving or Decimal(0)
        less = f"{format_money(saving, currency)} cheaper in present value"
    resale = resale_value(plan)
    return f"{less}, net of {format_money(resale, currency)} of resale" if resale else less


def _list_purchases(plan: Scenario, results: ComparisonResults) -> Iterator[_Purchase]:
    """Each kind of server that a plan buys or leases, its name with the month of purchase."""
    for key, started in plan.units_started.items():
        price = sum(
            (line.amount for line in plan.lines if line.source == key and line.category in CAPITAL),
            Decimal("0.00"),
        )
        units, months = int(started.sum()), started.nonzero()[0].tolist()
        if price and units:
            source = results.inputs.by_key[key]
            when = f" in {results.calendar.month(months[0]):%B %Y}" if len(months) == 1 else ""
            lease = " on lease" if source.is_leased else ""
            yield _Purchase(units, f"{source.label}{lease}{when}", price / units, source.is_leased)


def _count_bought(facts: Verdict) -> float:
    return sum(part.units or 0.0 for part in facts.decision if part.action == "buy")


def explain_no_room(
    own: Scenario, results: ComparisonResults, gains: Sequence[BudgetGain] | None
) -> str:
    """Where budgets leave no plan of owning: that higher ones would change nothing, or, where that
    is not worked out, what owning takes."""
    limits = [one for one in own.relaxations if one.field.startswith(_FIELDS)]
    if not limits:
        return ""
    if gains is not None:
        is_monthly = any(one.field in _FIELDS[2:] for one in limits)
        what = "A higher budget" if is_monthly else "More capital"
        return (
            f"{what} would change nothing: even without a limit, no plan that may be advised is "
            "2% cheaper."
        )
    sentence = limits[0].sentence
    return f"To own instead of rent, {sentence[0].lower()}{sentence[1:]}"


def describe_full_budget(results: ComparisonResults, facts: Verdict) -> str:
    """That a capital budget has no room for one more server, where something else serves too."""
    bought = [part for part in facts.decision if part.action == "buy"]
    if not bought or len(bought) == len(facts.decision):
        return ""
    at_once = [part for part in bought if part.starts == part.last_start]
    prices = [p.due_at_start / Decimal(str(p.units)) for p in at_once if p.due_at_start and p.units]
    uses = [use for use in facts.budget if _is_of_purchases(use, at_once, results)]
    least = min(prices, default=Decimal(0))
    full = min(uses, key=lambda use: use.headroom, default=None)
    if full is None or full.headroom >= least:
        return ""
    show = _Amounts(results.request.currency, round(full.headroom) >= round(least))
    return (
        f"The {name_budget(full, results).name} has no room for another server: "
        f"{show(full.headroom)} is left, and one takes {show(least)}."
    )


def _is_of_purchases(
    use: BudgetUse, parts: Sequence[DecisionPart], results: ComparisonResults
) -> bool:
    """Whether a capital budget is that of the plan, or of a year in which one of them is bought."""
    if use.kind != "capital":
        return False
    years = FiscalYears(results.calendar.start, results.request.finance.fiscal_year_start_month)
    months = {results.calendar.index(parse_month(part.starts)) for part in parts}
    return use.fiscal_year is None or use.fiscal_year in {years.year_of(one) for one in months}
