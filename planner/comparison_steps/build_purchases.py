"""What a plan buys, commits to and reserves: months, units, invoices and payments. PURE.

Units and months come from the plan, amounts due at the start from its lines, and the monthly
payment from the charges of the commitment at the price of the month in which it begins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from decimal import Decimal

from planner.contract.answer.common import Category
from planner.contract.answer.scenario import CostLine, Purchase
from planner.contract.purchase_options import traits
from planner.costing.advice.explanation import list_purchases
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import UnitCharge
from planner.costing.cost_model.terms import ChargeTiming
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.marginal_values import UnitStart
from planner.costing.results.scenario_result import Scenario, cents

_DUE_AT_START = frozenset({Category.UPFRONT, Category.CAPEX})


def build_purchases(scenario: Scenario, inputs: ModelInputs) -> tuple[Purchase, ...]:
    """Purchases of a plan in the order of months and sources."""
    due = _due_at_start(scenario.lines)
    at_work = {(row.source, row.month) for row in scenario.capacity if row.hours_used > 0}
    rows = [
        _unit_purchase(start, inputs, due, at_work) for start in list_purchases(scenario, inputs)
    ]
    rows += _reservations(scenario.lines)
    return tuple(sorted(rows, key=lambda row: (row.month, row.source)))


def _due_at_start(lines: Iterable[CostLine]) -> Mapping[tuple[str, int], Decimal]:
    """(source, month) → invoice or upfront payment of the units started in that month."""
    due: dict[tuple[str, int], Decimal] = defaultdict(Decimal)
    for line in lines:
        if line.category in _DUE_AT_START:
            due[line.source, line.month] += line.amount
    return due


def _unit_purchase(
    start: UnitStart,
    inputs: ModelInputs,
    due: Mapping[tuple[str, int], Decimal],
    at_work: Container[tuple[str, int]],
) -> Purchase:
    source = inputs.by_key[start.key]
    within = range(start.first, min(start.last + 1, inputs.calendar.months))
    return Purchase(
        month=start.month,
        source=source.key,
        label=source.label,
        kind="server" if source.is_owned else "commitment",
        units=start.units,
        unit="servers" if source.is_owned else "commitments",
        first=start.first,
        last=start.last,
        idle_months=tuple(month for month in within if (source.key, month) not in at_work),
        due_at_start=due.get((source.key, start.month)),
        due_per_month=_due_per_month(source, start),
    )


def _due_per_month(source: CapacitySource, start: UnitStart) -> Decimal | None:
    """Units · what is due of the charges of a commitment in the month in which it begins."""
    assert source.term is not None
    each = sum(
        float(charge.amounts(source.term)[start.month, start.month])
        for charge in source.unit_charges
        if isinstance(charge, UnitCharge)
        and charge.timing is ChargeTiming.MONTHLY
        and charge.category is Category.COMMITMENT
    )
    return cents(start.units * each) if each else None


def _reservations(lines: Iterable[CostLine]) -> list[Purchase]:
    """Hours reserved by date, which are paid before they are used."""
    return [
        Purchase(
            month=line.month,
            source=line.source,
            label=line.label,
            kind="capacity_block",
            units=line.quantity,
            unit=line.unit,
            first=line.month,
            last=line.month,
            due_at_start=line.amount,
        )
        for line in lines
        if line.category is Category.UPFRONT and traits(line.purchase_option).is_paid_ahead
    ]
