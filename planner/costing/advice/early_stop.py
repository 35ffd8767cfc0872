"""What is owed, and what servers fetch, if the work of a plan stops early. PURE.

After n months nothing more is started, rented or run. Owed is what falls due from then on of what
was signed before: commitments and leases to the end of their term, loans with their interest, and
contracts that were there already, with what minimum spends then fall short of. What was paid
upfront is gone, by months of its term. Of a source whose units were started in several months each
payment counts by the share of its units started before n. Servers bought before n fetch the
residual value of their age. Amounts are nominal, as stated, before tax.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from planner.contract.amounts import format_money
from planner.contract.answer.common import Category
from planner.costing.analysis.outcomes import QUARTER_MONTHS, RiskParameters
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.ownership import sale_value
from planner.costing.cost_model.spend_pools import BILLED, in_advance, settle_pools
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario, cents
from pricing.common.words import pluralize

OWED = frozenset({Category.COMMITMENT, Category.LEASE, Category.LOAN, Category.INTEREST})


@dataclass(frozen=True)
class EarlyStop:
    """A plan whose work ends after so many months."""

    months: int
    owed: Decimal
    """What falls due later of what was signed."""
    resale: Decimal
    """What the servers bought by then fetch on that day."""
    paid_ahead: Decimal
    """What was paid upfront for the months after it."""


def list_stops(
    plan: Scenario, inputs: ModelInputs, every_months: int, also: int = 0
) -> tuple[EarlyStop, ...]:
    """The plan stopped after every few months of its horizon and after another, the last month
    left out."""
    months = {*range(every_months, inputs.calendar.months, every_months), also}
    return tuple(
        stop_after(plan, inputs, month)
        for month in sorted(months)
        if 0 < month < inputs.calendar.months
    )


def stop_after(plan: Scenario, inputs: ModelInputs, months: int) -> EarlyStop:
    """The plan stopped after so many months."""
    length = inputs.calendar.length
    owed, billed = 0.0, {one.provider: np.zeros((length, 2)) for one in inputs.pools}
    for line in plan.lines:
        amount = float(line.amount)
        if line.month >= months:
            source = inputs.by_key.get(line.source)
            amount *= line.category in OWED and _share_signed(plan, source, line.month, months)
            owed += max(amount, 0.0)
        if line.provider in billed and line.category in BILLED:
            billed[line.provider][line.month, in_advance(line.category)] += amount
    for pool, amounts in settle_pools(inputs.pools, billed):
        owed += 0.0 if pool.is_credit else float(amounts[months:].sum())
    resale = sum(_resale(plan, inputs, key, months) for key in plan.units_started)
    paid_ahead = sum(
        float(line.amount) * _share_left(inputs.by_key.get(line.source), line.month, months)
        for line in plan.lines
        if line.month < months and line.category is Category.UPFRONT
    )
    return EarlyStop(months, cents(owed), cents(resale), cents(paid_ahead))


def _share_left(source: CapacitySource | None, start: int, months: int) -> float:
    """Share of a term from month `start` on that is after `months`."""
    if source is None or source.term is None:
        return 0.0
    return max(0.0, 1.0 - (months - start) / source.term.duration_months)


def describe_end(plan: Scenario, inputs: ModelInputs, risk: RiskParameters, currency: str) -> str:
    """What a plan leaves if its project ends, in the worst of the quarters in which it may; empty
    where that has no chance within the plan."""
    after, chance = risk.end_after_months, f"{100.0 * risk.end_probability:.3g}%"
    stops = list_stops(plan, inputs, QUARTER_MONTHS, after)
    stops = tuple(one for one in stops if after in (0, one.months))
    if not risk.end_probability or not stops:
        return ""
    stop = max(stops, key=lambda one: one.owed + one.paid_ahead)
    left = {
        "{} is still owed": stop.owed,
        "{} paid upfront is lost": stop.paid_ahead,
        "the servers fetch {}": stop.resale,
    }
    words = [w.format(format_money(sum_, currency)) for w, sum_ in left.items() if sum_]
    when = f"after {pluralize(stop.months, 'month')}"
    ends = f"({chance} each quarter){f', at worst {when}' * bool(words)}"
    if after:
        ends = f"{when} (a chance of {chance})"
    if any(units[stop.months :].any() for units in plan.units_started.values()):
        words.append("nothing later is signed or bought")
    if not words and all(line.month < stop.months for line in plan.lines):
        return ""  # all work is done by then
    rest, last = ", ".join(words[:-1]), words[-1] if words else "nothing is owed any more"
    return f"If the project ends {ends}, {f'{rest} and ' * bool(rest)}{last}."


def _share_signed(plan: Scenario, source: CapacitySource | None, due: int, months: int) -> float:
    """Share of the units that pay in month `due` which were started before `months`."""
    if source is None or source.term is None or source.key not in plan.units_started:
        return 1.0
    started = plan.units_started[source.key]
    last = due - (source.term.lead_months if source.is_leased else 0)
    first = 0
    if source.is_leased or not source.is_owned:
        first = max(0, last - source.term.duration_months + 1)
    paying = started[first : last + 1]
    return float(paying[: max(months - first, 0)].sum() / max(int(paying.sum()), 1))


def _resale(plan: Scenario, inputs: ModelInputs, key: str, months: int) -> float:
    source, server = inputs.by_key[key], inputs.servers.by_key.get(key)
    if server is None or source.term is None or source.is_leased:
        return 0.0
    bought = np.flatnonzero(plan.units_started[key][:months])
    age = months - bought
    units = plan.units_started[key][bought] * (
        age < source.term.lead_months + source.term.duration_months
    )
    assumptions = server.assumptions(inputs.assumptions)
    return float((units * sale_value(server.unit_price, age, bought, assumptions)).sum())
