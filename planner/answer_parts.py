"""Scenarios, risk, sensitivity and energy as plain values for the answer."""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate
from typing import Any

from planner.costing.advice.explanation import Explanation, describe, list_purchases
from planner.costing.advice.warnings import warn_beyond_horizon
from planner.costing.analysis.carbon import Energy
from planner.costing.analysis.monte_carlo import RiskResult
from planner.costing.analysis.robust_plan import RobustPlan
from planner.costing.analysis.sensitivity import PriceGrid, TornadoBar
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Line, Scenario, cents


def money(amount: Decimal | float | None) -> str | None:
    """Money as a decimal string without exponent; None stays None.

    >>> money(Decimal("12.50")), money(1e-7), money(None)
    ('12.50', '0.0000001', None)
    """
    if amount is None:
        return None
    exact = amount if isinstance(amount, Decimal) else Decimal(str(amount))
    return f"{exact:f}"


def scenario_of(scenario: Scenario) -> dict[str, Any]:
    known: dict[str, Any] = {"key": scenario.key.value, "feasible": scenario.feasible}
    known["why_not"] = list(scenario.why_not)
    if not scenario.feasible:
        empty = dict.fromkeys(("total_cost", "net_present_cost"))
        empty |= dict.fromkeys(("levelised_cost_per_accelerator_hour", "gap", "bound"))
        return known | empty | {"lines": [], "capacity": [], "warnings": list(scenario.warnings)}
    cash = scenario.cash_per_month
    return known | {
        "total_cost": money(scenario.total_cost),
        "net_present_cost": money(scenario.net_present_cost),
        "levelised_cost_per_accelerator_hour": money(scenario.levelised_cost_per_accelerator_hour),
        "cost_by_category": {k: money(v) for k, v in scenario.cost_by_category.items()},
        "cash_per_month": [money(amount) for amount in cash],
        "accrued_per_month": [money(amount) for amount in scenario.accrued],
        "write_off": {
            source: [money(amount) for amount in months]
            for source, months in scenario.write_off.items()
        },
        "cumulative_cost": [money(amount) for amount in accumulate(cash)],
        "lines": [_line(line) for line in scenario.lines],
        "capacity": [
            {
                "month": row.month,
                "source": row.source,
                "accelerators": row.accelerators,
                "hours_available": row.hours_available,
                "hours_used": row.hours_used,
            }
            for row in scenario.capacity
        ],
        "gap": scenario.gap,
        "bound": money(min(cents(scenario.bound), scenario.net_present_cost)),
        "warnings": list(scenario.warnings),
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "month": line.month,
        "category": line.category.value,
        "label": line.label,
        "provider": line.provider,
        "region": line.region,
        "instance_type": line.instance_type,
        "purchase_option": line.purchase_option,
        "quantity": line.quantity,
        "unit": line.unit,
        "unit_price": f"{line.unit_price:f}",
        "amount": f"{line.amount:f}",
        "offer_id": line.offer_id,
        "source": line.source,
    }


def risk_of(risk: RiskResult | None) -> dict[str, Any] | None:
    """Net present cost by scenario: percentiles, mean, mean of the dearest tenth; then the
    probability that each is the cheapest, and its expected regret."""
    if risk is None:
        return None
    by_scenario: dict[str, Any] = {
        key.value: {
            "p10": _cents(p10),
            "p50": _cents(p50),
            "p90": _cents(p90),
            "mean": _cents(risk.mean[key]),
            "worst_tenth": _cents(risk.cvar_90[key]),
        }
        for key, (p10, p50, p90) in risk.percentiles.items()
    }
    return by_scenario | {
        "probability_cheapest": {k.value: p for k, p in risk.probability_cheapest.items()},
        "regret": {k.value: _cents(amount) for k, amount in risk.regret.items()},
        "samples": risk.samples,
        "seed": risk.seed,
    }


def swing_of(row: TornadoBar) -> dict[str, Any]:
    """One figure of the tornado; totals are of the advised plan, undiscounted."""
    return {
        "field": row.field,
        "unit": row.unit,
        "low": row.low,
        "high": row.high,
        "total_at_low": _cents(row.total_at_low),
        "total_at_high": _cents(row.total_at_high),
        "net_present_cost_at_low": _cents(row.net_present_cost_at_low),
        "net_present_cost_at_high": _cents(row.net_present_cost_at_high),
        "cheapest_at_low": row.cheapest_at_low.value,
        "cheapest_at_high": row.cheapest_at_high.value,
        "break_even_at_low": row.break_even_at_low,
        "break_even_at_high": row.break_even_at_high,
    }


def grid_of(grid: PriceGrid | None) -> dict[str, Any] | None:
    """Owning less renting a node, by utilisation and price; negative: owning is the cheaper."""
    if grid is None:
        return None
    return {
        "server": grid.server,
        "against": grid.against,
        "utilisations": list(grid.utilisations),
        "price_factors": list(grid.price_factors),
        "difference": [[_cents(cost) for cost in row] for row in grid.difference],
    }


def energy_of(energy: Energy | None) -> dict[str, Any] | None:
    """kWh and kg CO2e of a scenario, by source with the grid of its place; null with the reasons
    where a figure is not known."""
    if energy is None:
        return None
    return {
        "kwh": _rounded(energy.kwh),
        "kg_co2e": _rounded(energy.kg_co2e),
        "kg_co2e_of_known_grid": _rounded(energy.kg_co2e_of_known_grid),
        "why_not": list(energy.why_not),
        "kwh_of_unknown_grid": round(energy.kwh_of_unknown_grid, 3),
        "unknown_power": list(energy.unknown_power),
        "sources": [
            {
                "source": draw.source,
                "kwh": round(draw.kwh, 3),
                "kg_co2e": _rounded(draw.kg_co2e),
                "g_co2e_per_kwh": draw.g_co2e_per_kwh,
                "carbon_source": draw.carbon_source,
                "method": draw.method,
            }
            for draw in energy.by_source
        ],
    }


def explanation_of(
    explanation: Explanation | None, inputs: ModelInputs, currency: str
) -> dict[str, Any] | None:
    """What the cheapest plan begins and when; what limits cost and where the advice turns, if
    the request asks for it."""
    if explanation is None:
        return None
    return {
        "purchases": [
            {
                "month": p.month,
                "source": p.key,
                "units": p.units,
                "first": p.first,
                "last": p.last,
            }
            for p in explanation.purchases
        ],
        "marginal_values": [
            {"limit": v.limit, "given": v.current_value, "step": v.step, "saving": _cents(v.saving)}
            for v in explanation.marginal_values
        ],
        "switch_points": [
            {
                "multiplier": p.multiplier,
                "below": None if p.below is None else sorted(p.below),
                "above": None if p.above is None else sorted(p.above),
                "limits": [conflict.limit for conflict in p.conflicts],
            }
            for p in explanation.switch_points
        ],
        "words": describe(explanation, inputs, currency),
    }


def robust_of(
    found: RobustPlan | None, inputs: ModelInputs, currency: str
) -> dict[str, Any] | None:
    """The plan begun with all futures in mind: expected cost over the futures of the risk, the
    mean of their dearest tenth, and what it costs if all goes as expected; the gap is over the
    `futures` that stood for them where it was searched, null where a limit forbids it in one."""
    if found is None:
        return None
    return {
        "tail_weight": found.cvar_weight,
        "same_as": found.same_as and found.same_as.value,
        "expected": _cents(found.expected),
        "worst_tenth": _cents(found.cvar_90),
        "samples": found.samples,
        "seed": found.seed,
        "futures": found.model_samples,
        "gap": found.gap,
        "net_present_cost": money(found.scenario.net_present_cost),
        "total_cost": money(found.scenario.total_cost),
        "begun": {
            key: {str(m): int(units[m]) for m in units.nonzero()[0]}
            for key, units in found.scenario.units_started.items()
        },
        "words": describe(Explanation(list_purchases(found.scenario, inputs)), inputs, currency),
        "warnings": list(warn_beyond_horizon(found.scenario, inputs, currency)),
    }


def _rounded(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 3)


def _cents(amount: float) -> str | None:
    return money(cents(amount))
