"""The advised plan explained: what to start when, what limits cost, where it changes. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from planner.contract.amounts import format_money
from planner.contract.answer.common import Category
from planner.contract.labels import OWNED
from planner.contract.request.comparison import ComparisonRequest
from planner.costing.advice.verdict import name_limit
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import CAPITAL, FINANCING, Stream, build_unit_streams
from planner.costing.cost_model.terms import Calendar
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.marginal_values import (
    AdditionalUnit,
    MarginalValue,
    SwitchPoint,
    UnitStart,
    demand_switch_points,
    list_unit_starts,
    marginal_values,
)
from planner.costing.optimizer.problem import Plan, PlanProblem
from planner.costing.optimizer.work import WorkMeter
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import scenario_options
from pricing.common.copies import replace
from pricing.common.pluralize import pluralize

MARGINAL_GAP = 0.001
"""Proof asked of a changed problem, and the nodes of its search."""
PURCHASES = "max_units "
"""What the limits on purchases of one server begin with."""
SAMPLES, TOLERANCE = 7, 0.02
"""Demands tried between half and twice the one given, and how closely a switch point is located."""


@dataclass(frozen=True)
class Explanation:
    """Why the plan is as it is."""

    purchases: tuple[UnitStart, ...]
    marginal_values: tuple[MarginalValue, ...] = ()
    switch_points: tuple[SwitchPoint, ...] = ()


def to_plan(scenario: Scenario, inputs: ModelInputs) -> Plan:
    """The scenario as the optimiser's plan."""
    units = {key for key, source in inputs.by_key.items() if source.term is not None}
    used_hours = scenario.used_hours
    return Plan(
        feasible=scenario.feasible,
        cost=scenario.cost,
        bound=scenario.bound,
        units_started=dict(scenario.units_started),
        used_hours={key: hours for key, hours in used_hours.items() if key in units},
        rented_hours={key: hours for key, hours in used_hours.items() if key not in units},
    )


def list_purchases(scenario: Scenario, inputs: ModelInputs) -> tuple[UnitStart, ...]:
    """What a scenario starts, in the order of months."""
    return list_unit_starts(inputs.problem, to_plan(scenario, inputs))


def explain(
    scenario: Scenario,
    inputs: ModelInputs,
    work: WorkMeter | None = None,
    *,
    holds_servers: bool = False,
) -> Explanation:
    """The best plan of a scenario, its limits and the demand at which it would be another.

    The changed problems are solved anew: seconds, not milliseconds. Limits and demands that the
    `work` does not allow for are left out. With `holds_servers` no more servers are bought than the
    plan buys, as more would not pay back; at which demand they would is not looked for.
    """
    work = WorkMeter() if work is None else work
    options = scenario_options(scenario.key, inputs.interruptible)
    keys = inputs.keys(options | {OWNED} if holds_servers else options)
    plan = to_plan(scenario, inputs)
    problem = _with_servers_of(scenario, inputs.problem) if holds_servers else inputs.problem
    values = marginal_values(
        problem,
        plan,
        keys,
        gap=MARGINAL_GAP,
        additional_units=additional_units(inputs.sources, inputs.calendar),
        work=work.share(0.5),
    )
    points = (
        ()
        if holds_servers
        else demand_switch_points(
            inputs.problem, keys, samples=SAMPLES, tolerance=TOLERANCE, work=work.share(1.0)
        )
    )
    return Explanation(
        list_unit_starts(inputs.problem, plan),
        tuple(
            value
            for value in values
            if value.saving > 0.005 and not (holds_servers and value.limit.startswith(PURCHASES))
        ),
        tuple(p for p in points if _groups(p.below, inputs) != _groups(p.above, inputs)),
    )


def _with_servers_of(scenario: Scenario, problem: PlanProblem) -> PlanProblem:
    started = scenario.units_started
    units = tuple(
        replace(one, max_units=int(started[one.key].sum()) if one.key in started else 0)
        if one.is_owned
        else one
        for one in problem.units
    )
    return replace(problem, units=units)


def _groups(keys: frozenset[str] | None, inputs: ModelInputs) -> frozenset[str] | None:
    if keys is None:
        return None
    groups = set()
    for key in keys:
        source = inputs.by_key[key]
        months = source.term.duration_months if source.term else 0
        term = pluralize(months, "month")
        groups.add(source.label if source.is_owned else f"commitments of {term}")
    return frozenset(groups)


def describe(
    explanation: Explanation, inputs: ModelInputs, request: ComparisonRequest
) -> list[str]:
    """The explanation as sentences."""
    calendar = inputs.calendar
    sentences = [_describe_start(purchase, inputs, calendar) for purchase in explanation.purchases]
    sentences += [describe_value(value, inputs, request) for value in explanation.marginal_values]
    sentences += [describe_switch(point, inputs, request) for point in explanation.switch_points]
    return sentences


def _describe_start(purchase: UnitStart, inputs: ModelInputs, calendar: Calendar) -> str:
    source = inputs.by_key[purchase.key]
    verb = "commit to"
    if source.is_owned:
        verb = "lease" if source.is_leased else "buy"
    period = f"{calendar.month(purchase.first):%Y-%m} to {calendar.month(purchase.last):%Y-%m}"
    when = f"{calendar.month(purchase.month):%Y-%m}"
    return f"{when}: {verb} {purchase.units} × {source.label}, in use from {period}."


def describe_value(value: MarginalValue, inputs: ModelInputs, request: ComparisonRequest) -> str:
    saving = f"{format_money(value.saving, request.currency)} of present value"
    if value.limit.startswith("one more"):
        limit = _add_label(value.limit, inputs)
        return f"{limit[0].upper()}{limit[1:]} would save this plan {saving}, before its own price."
    named = name_limit(value.limit, request, inputs)
    side = "fewer" if named.is_least else "more"
    more = f"{named.amount(value.step)} {side} of the {named.now(value.current_value)}"
    return f"{more} would save {saving}."


def _find_key(limit: str, inputs: ModelInputs) -> str | None:
    keys = sorted(inputs.by_key, key=len, reverse=True)
    return next((key for key in keys if f" {key}" in limit), None)


def _add_label(limit: str, inputs: ModelInputs) -> str:
    key = _find_key(limit, inputs)
    if key is not None:
        limit = limit.replace(key, inputs.by_key[key].label)
    return limit.replace(", already owned in place", ", as old as the youngest one owned,")


def describe_switch(point: SwitchPoint, inputs: ModelInputs, request: ComparisonRequest) -> str:
    below, above = _groups(point.below, inputs), _groups(point.above, inputs)
    if below is None or above is None:
        side = "From" if above is None else "Up to"
        return (
            f"{side} {point.multiplier:.2f} times the demand, there is no plan"
            f"{_describe_conflicts(point, inputs, request)}."
        )
    return (
        f"At {point.multiplier:.2f} times the demand, the advice changes from "
        f"{_describe_groups(below, above)} to {_describe_groups(above, below)}."
    )


def _describe_conflicts(point: SwitchPoint, inputs: ModelInputs, request: ComparisonRequest) -> str:
    if not point.conflicts:
        return " that meets every limit"
    unserved = [conflict.limit for conflict in point.conflicts if conflict.current_value is None]
    if unserved:
        return f": {'; '.join(unserved)}"
    limits = [
        f"the {name_limit(c.limit, request, inputs).now(c.current_value or 0.0)}"
        for c in point.conflicts
    ]
    changed = "changed" if any(c.is_least for c in point.conflicts) else "raised"
    if all(conflict.is_sufficient for conflict in point.conflicts):
        return f" unless {' or '.join(limits)} is {changed}"
    return f" unless {' and '.join(limits)} are {changed} together"


def _describe_groups(groups: frozenset[str], others: frozenset[str]) -> str:
    """Kinds in words; "alone" where the other side has them too, with more.

    >>> _describe_groups(frozenset({"box"}), frozenset({"box", "commitments of 12 months"}))
    'box alone'
    >>> _describe_groups(frozenset(), frozenset({"box"}))
    'renting alone'
    """
    suffix = " alone" if groups < others else ""
    return (" and ".join(sorted(groups)) or "renting") + suffix


def additional_units(
    sources: Sequence[CapacitySource], calendar: Calendar
) -> dict[str, AdditionalUnit]:
    """One more unit of each server by key: new at the start, or another of the youngest batch of
    those already owned; its operating cost is due whatever the plan."""
    return {s.key: _add_unit(s, calendar) for s in sources if s.is_owned and s.term is not None}


def _add_unit(source: CapacitySource, calendar: Calendar) -> AdditionalUnit:
    months = np.arange(calendar.months)
    if source.existing is None:
        assert source.term is not None
        in_service = months < source.term.duration_months
        streams = tuple(_streams_of_new_unit(source))
    else:
        in_service = source.existing > 0
        streams = tuple(_streams_of_youngest(source))
    one = replace(source, fixed_streams=streams)
    cash = one.fixed_cash(calendar)
    cost = float(cash @ calendar.discount) + one.fixed_shift(calendar)
    return AdditionalUnit(in_service.astype(np.int64), cost, cash[: calendar.months])


def _streams_of_new_unit(source: CapacitySource) -> Iterator[Stream]:
    assert source.term is not None
    units_started = np.eye(1, source.term.months)[0]
    bought = CAPITAL | FINANCING | {Category.RESIDUAL}
    charges = tuple(c for c in source.unit_charges if c.category not in bought)
    return build_unit_streams(charges, replace(source.term, lead_months=0), units_started)


def _streams_of_youngest(source: CapacitySource) -> Iterator[Stream]:
    assert source.existing is not None
    units = np.maximum(source.existing, 1)
    for stream in source.fixed_streams:
        quantity = stream.quantity.copy()
        quantity[: units.size] /= units
        yield replace(stream, quantity=quantity)
