"""What is owed, and what servers fetch, if the work of a plan stops early. PURE.

After n months nothing more is started, rented or run. Owed is what falls due from then on of what
was signed before: commitments and leases to the end of their term, loans with their interest, and
contracts that were there already. Of a source whose units were started in several months each
payment counts by the share of its units started before n. Servers bought before n fetch the
residual value of their age. Amounts are nominal, as stated, before tax.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from planner.contract.answer.common import Category
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.ownership import sale_value
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario, cents

OWED = frozenset({Category.COMMITMENT, Category.LEASE, Category.LOAN, Category.INTEREST})


@dataclass(frozen=True)
class EarlyStop:
    """A plan whose work ends after so many months."""

    months: int
    owed: Decimal
    """What falls due later of what was signed."""
    resale: Decimal
    """What the servers bought by then fetch on that day."""


def list_stops(plan: Scenario, inputs: ModelInputs, every_months: int) -> tuple[EarlyStop, ...]:
    """The plan stopped after every few months of its horizon, the last month left out."""
    months = range(every_months, inputs.calendar.months, every_months)
    return tuple(stop_after(plan, inputs, month) for month in months)


def stop_after(plan: Scenario, inputs: ModelInputs, months: int) -> EarlyStop:
    """The plan stopped after so many months."""
    owed = sum(
        float(line.amount) * _share_signed(plan, inputs.by_key.get(line.source), line.month, months)
        for line in plan.lines
        if line.month >= months and line.category in OWED and line.amount > 0
    )
    resale = sum(_resale(plan, inputs, key, months) for key in plan.units_started)
    return EarlyStop(months, cents(owed), cents(resale))


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
