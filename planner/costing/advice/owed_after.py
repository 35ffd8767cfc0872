"""What contracts of a plan oblige to after its horizon, counted or left to others. PURE."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from planner.contract.labels import NOT_COUNTED
from planner.contract.money import format_money
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.existing import Existing
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario

_CENT = Decimal("0.01")


def left_to_others(plan: Scenario, inputs: ModelInputs) -> tuple[Decimal, int]:
    """What commitments and leases cost after the horizon where their share within it alone counts,
    after tax as totals are, and for how many months; 0 where all of them counts."""
    if inputs.term_end != "prorate":
        return Decimal(0), 0
    calendar, amount, last = inputs.calendar, 0.0, 0
    for key, units_started in plan.units_started.items():
        source = inputs.by_key[key]
        if source.term is None or (source.is_owned and not source.is_leased):
            continue
        amount += float(source.due_after_horizon() @ units_started)
        start = int(np.flatnonzero(units_started)[-1]) + source.term.lead_months
        last = max(last, start + source.term.duration_months)
    owed = Decimal(str(amount * (1.0 - calendar.tax_rate))).quantize(_CENT)
    months = last - calendar.months
    return (owed, months) if owed > 0 and months > 0 else (Decimal(0), 0)


def left_of_signed(existing: Existing, inputs: ModelInputs) -> Decimal:
    """What contracts that are there already cost after the horizon where that is not counted, after
    tax; 0 where all of it is."""
    if inputs.term_end == "full":
        return Decimal(0)
    calendar, owed = inputs.calendar, 0.0
    prices = [(one.price_per_month * one.units, one.ends) for one in existing.commitments]
    prices += [(one.rent_per_month * one.units, one.ends) for one in existing.leased_servers]
    for price, ends in prices:
        owed += price * max(0, calendar.index(ends) + 1 - calendar.months)
    return Decimal(str(owed * (1.0 - calendar.tax_rate))).quantize(_CENT)


def describe_owed(plan: Scenario, inputs: ModelInputs, request: ComparisonRequest) -> str:
    """What is owed after the last month of the plan: of its total, or beyond it; what tax saves
    then where that is more."""
    last = inputs.calendar.month(inputs.calendar.months - 1)
    if plan.owed_after < 0:
        saved = format_money(-plan.owed_after, request.currency)
        return f"{saved} of tax saved after {last:%B %Y} is already deducted"
    if plan.owed_after:
        owed = format_money(plan.owed_after, request.currency)
        return f"{owed} of the cost is owed after {last:%B %Y}"
    beyond = left_to_others(plan, inputs)[0] + left_of_signed(request.existing, inputs)
    if beyond:
        more = format_money(beyond, request.currency)
        return f"{more} more is owed after {last:%B %Y}{NOT_COUNTED}"
    return "nothing is owed afterwards"
