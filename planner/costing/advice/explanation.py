"""The advised plan explained: what to start when, and what each limit costs. PURE."""

from __future__ import annotations

from dataclasses import dataclass

from planner.contract.amounts import format_money
from planner.contract.labels import OWNED
from planner.contract.request.comparison import ComparisonRequest
from planner.costing.advice.verdict import name_limit
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.marginal_values import (
    MarginalValue,
    UnitStart,
    list_unit_starts,
    marginal_values,
)
from planner.costing.optimizer.problem import PlanProblem
from planner.costing.optimizer.work import WorkMeter
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import scenario_options
from pricing.common.copies import replace

MARGINAL_GAP = 0.001
"""Proof asked of a changed problem."""
PURCHASES = "max_units "
"""What the limits on purchases of one server begin with."""


@dataclass(frozen=True)
class Explanation:
    """Why the plan is as it is."""

    purchases: tuple[UnitStart, ...]
    marginal_values: tuple[MarginalValue, ...] = ()


def list_purchases(scenario: Scenario, inputs: ModelInputs) -> tuple[UnitStart, ...]:
    """What a scenario starts, in the order of months."""
    return list_unit_starts(inputs.problem, scenario.units_started)


def explain(
    scenario: Scenario,
    inputs: ModelInputs,
    work: WorkMeter | None = None,
    *,
    holds_servers: bool = False,
) -> Explanation:
    """The best plan of a scenario, and what its limits cost.

    The changed problems are solved anew: seconds, not milliseconds. Limits that the `work` does
    not allow for are left out. With `holds_servers` no more servers are bought than the plan buys,
    as more would not pay back.
    """
    options = scenario_options(scenario.key, inputs.interruptible)
    keys = inputs.keys(options | {OWNED} if holds_servers else options)
    problem = _with_servers_of(scenario, inputs.problem) if holds_servers else inputs.problem
    values = marginal_values(problem, scenario.cost, keys, gap=MARGINAL_GAP, work=work)
    return Explanation(
        list_purchases(scenario, inputs),
        tuple(
            value
            for value in values
            if value.saving > 0.005 and not (holds_servers and value.limit.startswith(PURCHASES))
        ),
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


def describe(
    explanation: Explanation, inputs: ModelInputs, request: ComparisonRequest
) -> list[str]:
    """The explanation as sentences."""
    sentences = [_describe_start(purchase, inputs) for purchase in explanation.purchases]
    return sentences + [describe_value(v, inputs, request) for v in explanation.marginal_values]


def _describe_start(purchase: UnitStart, inputs: ModelInputs) -> str:
    source, month = inputs.by_key[purchase.key], inputs.calendar.month
    verb = "commit to"
    if source.is_owned:
        verb = "lease" if source.is_leased else "buy"
    return (
        f"{month(purchase.month):%Y-%m}: {verb} {purchase.units} × {source.label}, in use from "
        f"{month(purchase.first):%Y-%m} to {month(purchase.last):%Y-%m}."
    )


def describe_value(value: MarginalValue, inputs: ModelInputs, request: ComparisonRequest) -> str:
    """What a step more of a limit would save."""
    named = name_limit(value.limit, request, inputs)
    side = "fewer" if named.is_least else "more"
    saving = f"{format_money(value.saving, request.currency)} of present value"
    more = f"{named.amount(value.step)} {side} of the {named.now(value.current_value)}"
    return f"{more} would save {saving}."
