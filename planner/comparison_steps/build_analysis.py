"""Break-even, risk, sensitivity and explanation as parts of the answer. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from planner.comparison_steps.results import ComparisonResults
from planner.comparison_steps.server_break_even import PAID_USED_OR_NOT_RULES
from planner.contract.answer import explanation as answer
from planner.contract.answer.break_even import (
    BreakEvenRow,
    CostCurve,
    CostCurveSeries,
    Crossing,
)
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.risk import CostRange, RiskAnswer
from planner.contract.answer.risk import RobustPlan as RobustPlanAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.answer.sensitivity import DefaultEffect, PriceGrid, SensitivityRow
from planner.contract.purchase_options import OWNED
from planner.costing.advice.explanation import (
    Explanation,
    describe,
    describe_switch,
    describe_value,
    list_purchases,
)
from planner.costing.advice.warnings import warn_beyond_horizon
from planner.costing.analysis.break_even import BreakEven
from planner.costing.analysis.default_effects import DefaultEffect as MeasuredEffect
from planner.costing.analysis.risk_result import RiskResult
from planner.costing.analysis.sensitivity import TornadoBar, build_price_grid
from planner.costing.model_inputs import ModelInputs
from planner.costing.paying_use import NOT_KNOWN, CostLine, find_crossings, uses_that_pay
from planner.costing.results.scenario_result import cents
from pricing.market.offers import HOURS_PER_MONTH

OWN_COST_AT_OWN_VALUE = 6
"""Rules from which on a row of the tornado has the plan's cost at the plan's value."""
CURVE_POINTS = 11
"""Points of each line of the cost curve, from no use to 730 h a month."""


def build_break_even(rows: Iterable[BreakEven], inputs: ModelInputs) -> tuple[BreakEvenRow, ...]:
    """When each server pays for itself."""
    return tuple(
        BreakEvenRow(
            server=row.server,
            against=row.against,
            label=inputs.by_key[row.against].label,
            purchase_option=row.purchase_option,
            term_months=row.term_months,
            rent_per_hour=_digits(row.rent_per_hour, 6),
            running_cost_per_hour=_digits(row.running_cost_per_hour, 6),
            hours=row.hours,
            months_at_full_use=row.months_at_full_use,
            utilisation_over_life=row.utilisation_over_life,
            over_life=row.over_life,
            utilisation_within_plan=row.within_plan.share,
            within_plan=row.within_plan.when,
        )
        for row in rows
    )


def build_cost_curve(lines: Sequence[CostLine], inputs: ModelInputs, rules: int) -> CostCurve:
    """Net present cost of a node against its hours of use a month, over the months in which a
    server bought at the start serves, else over the horizon."""
    owned = next((inputs.by_key[one.key] for one in lines if one.purchase_option == OWNED), None)
    most = HOURS_PER_MONTH if owned is None else owned.hours_per_month
    is_shown = rules >= PAID_USED_OR_NOT_RULES
    uses = uses_that_pay(lines, most / HOURS_PER_MONTH) if is_shown else {}
    step = HOURS_PER_MONTH / (CURVE_POINTS - 1)
    hours = [i * step for i in range(CURVE_POINTS)]
    return CostCurve(
        hours_per_month=tuple(hours),
        series=tuple(
            CostCurveSeries(
                key=line.key,
                label=line.label,
                purchase_option=line.purchase_option,
                cost=tuple(_digits(line.cost(h), 2) for h in hours),
                owning_pays=uses.get(line.key, NOT_KNOWN).when,
                owning_pays_at=uses.get(line.key, NOT_KNOWN).share,
            )
            for line in lines
        ),
        crossings=tuple(
            Crossing(
                one=crossing.one,
                other=crossing.other,
                hours_per_month=crossing.hours_per_month,
                cost=_digits(crossing.cost, 2),
            )
            for crossing in find_crossings(lines)
        ),
    )


def build_grid(lines: Sequence[CostLine]) -> PriceGrid | None:
    """Owning less renting a node, by utilisation and price."""
    grid = build_price_grid(lines)
    if grid is None:
        return None
    return PriceGrid(
        server=grid.server,
        against=grid.against,
        utilisations=grid.utilisations,
        price_factors=grid.price_factors,
        difference=tuple(tuple(map(cents, row)) for row in grid.difference),
    )


def build_risk(risk: RiskResult | None, *, holds: bool = True) -> RiskAnswer | None:
    """Range of each scenario, how often it is the cheapest, and its expected regret; whether the
    ranges hold."""
    if risk is None:
        return None
    ranges = {key.value: _cost_range(risk, key) for key in risk.percentiles}
    return RiskAnswer(
        on_demand=ranges.get("on_demand"),
        spot=ranges.get("spot"),
        committed=ranges.get("committed"),
        cloud_mix=ranges.get("cloud_mix"),
        on_prem=ranges.get("on_prem"),
        hybrid=ranges.get("hybrid"),
        probability_cheapest=dict(risk.probability_cheapest),
        regret={key: cents(amount) for key, amount in risk.regret.items()},
        samples=risk.samples,
        seed=risk.seed,
        holds=holds,
        price_model=risk.price_model,
    )


def _cost_range(risk: RiskResult, key: ScenarioKey) -> CostRange:
    p10, p50, p90 = risk.percentiles[key]
    total_p10, total_p50, total_p90 = risk.total_percentiles[key]
    return CostRange(
        p10=cents(p10),
        p50=cents(p50),
        p90=cents(p90),
        mean=cents(risk.mean[key]),
        cvar_90=cents(risk.cvar_90[key]),
        total_p10=cents(total_p10),
        total_p50=cents(total_p50),
        total_p90=cents(total_p90),
    )


def build_robust_plan(results: ComparisonResults) -> RobustPlanAnswer | None:
    """The plan that holds up across simulated outcomes, where it is asked for."""
    plan, inputs, currency = results.robust_plan, results.inputs, results.request.currency
    if plan is None:
        return None
    starts = {
        key: {str(month): int(units[month]) for month in units.nonzero()[0]}
        for key, units in plan.scenario.units_started.items()
    }
    purchases = Explanation(list_purchases(plan.scenario, inputs))
    return RobustPlanAnswer(
        cvar_weight=plan.cvar_weight,
        same_as=plan.same_as,
        expected=cents(plan.expected),
        cvar_90=cents(plan.cvar_90),
        samples=plan.samples,
        seed=plan.seed,
        representative_samples=plan.model_samples,
        gap=plan.gap,
        net_present_cost=plan.scenario.net_present_cost,
        total_cost=plan.scenario.total_cost,
        units_started=starts,
        words=tuple(describe(purchases, inputs, results.request)),
        warnings=tuple(warn_beyond_horizon(plan.scenario, inputs, currency)),
    )


def build_sensitivity(results: ComparisonResults) -> tuple[SensitivityRow, ...]:
    """What moves the advised total, the strongest first.

    At the value of the plan stands the plan's own cost, whose lines are rounded to the cent one by
    one; the analysis rounds once (rules 6).
    """
    advised = results.recommendation.scenario
    plan = results.consented_scenarios[advised] if advised else None
    if results.request.rules < OWN_COST_AT_OWN_VALUE:
        plan = None

    def total(row: TornadoBar, at: float, computed: float) -> Decimal:
        return plan.total_cost if plan and row.is_as_planned(at) else cents(computed)

    def present(row: TornadoBar, at: float, computed: float) -> Decimal:
        return plan.net_present_cost if plan and row.is_as_planned(at) else cents(computed)

    return tuple(
        SensitivityRow(
            field=row.field,
            unit=row.unit,
            low=row.low,
            high=row.high,
            total_at_low=total(row, row.low, row.total_at_low),
            total_at_high=total(row, row.high, row.total_at_high),
            net_present_cost_at_low=present(row, row.low, row.net_present_cost_at_low),
            net_present_cost_at_high=present(row, row.high, row.net_present_cost_at_high),
            cheapest_at_low=row.cheapest_at_low,
            cheapest_at_high=row.cheapest_at_high,
            break_even_at_low=row.break_even_at_low,
            break_even_at_high=row.break_even_at_high,
        )
        for row in results.tornado
    )


def build_default_effects(rows: Iterable[MeasuredEffect]) -> tuple[DefaultEffect, ...]:
    """What each default does to owning less renting, the strongest first."""
    return tuple(
        DefaultEffect(
            field=row.field,
            unit=row.unit,
            value=row.value,
            neutral=row.neutral,
            effect=cents(row.effect),
            gains=row.gains,
        )
        for row in rows
    )


def build_explanation(
    results: ComparisonResults, scenarios: Iterable[ScenarioAnswer]
) -> answer.Explanation | None:
    """What the advised plan buys and when; what limits cost and where the advice changes, if
    the request asks for it."""
    explanation, inputs = results.explanation, results.inputs
    if explanation is None or results.explained is None:
        return None
    best = next(one for one in scenarios if one.key is results.explained.key)
    units = [row for row in best.purchases if row.kind != "capacity_block"]
    return answer.Explanation(
        purchases=tuple(units),
        marginal_values=tuple(
            answer.MarginalValue(
                limit=value.limit,
                given=value.current_value,
                step=value.step,
                saving=cents(value.saving),
                sentence=describe_value(value, inputs, results.request),
            )
            for value in explanation.marginal_values
        ),
        switch_points=tuple(
            answer.SwitchPoint(
                multiplier=point.multiplier,
                below=_keys(point.below),
                above=_keys(point.above),
                limits=tuple(conflict.limit for conflict in point.conflicts),
                sentence=describe_switch(point, inputs, results.request),
            )
            for point in explanation.switch_points
        ),
        words=tuple(describe(explanation, inputs, results.request)),
    )


def _keys(keys: frozenset[str] | None) -> tuple[str, ...] | None:
    return None if keys is None else tuple(sorted(keys))


def _digits(amount: float, digits: int) -> Decimal:
    return Decimal(str(round(amount, digits)))
