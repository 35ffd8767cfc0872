"""A comparison as plain values: the answer that page, API and command line share.

Fields are those of the contract; beyond them the answer carries `offers` (each offer it speaks
of, with its native price), `cost_curve`, and per scenario `cash_per_month`,
`accrued_per_month`, `cumulative_cost` and `cost_by_category`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from planner.answer_parts import (
    energy_of,
    explanation_of,
    grid_of,
    money,
    risk_of,
    robust_of,
    scenario_of,
    swing_of,
)
from planner.costing.analysis.break_even import BreakEven, CostLine, find_crossings
from planner.costing.analysis.sensitivity import build_price_grid
from planner.costing.assumptions.assumptions import Assumption
from planner.costing.cost_model.capacity_source import CapacitySource
from pricing.market.offers import HOURS_PER_MONTH

if TYPE_CHECKING:
    from planner.comparison import Comparison

CURVE_POINTS = 11
"""Points of each line of the cost curve, from no use to 730 h a month."""


def answer_of(comparison: Comparison) -> dict[str, Any]:
    """The whole answer."""
    request = comparison.request
    return {
        "name": request.name,
        "start": f"{comparison.calendar.start:%Y-%m}",
        "horizon_months": request.horizon_months,
        "currency": request.currency,
        "exchange_rate": _exchange_rate(comparison),
        "catalog": _catalog(comparison),
        "assumptions": assumption_rows(comparison),
        "demand": _demand(comparison),
        "scenarios": [
            scenario_of(s) | {"energy": energy_of(comparison.energy.get(s.key))}
            for s in comparison.scenarios.values()
        ],
        "break_even": [_break_even(row) for row in comparison.break_even],
        "cost_curve": _curve(comparison.cost_lines),
        "recommendation": _recommendation(comparison),
        "offers": {s.offer_id: _offer(s) for s in comparison.used_sources if s.offer_id},
        "servers": [_server(s) for s in comparison.used_sources if s.is_owned],
        "explanation": explanation_of(comparison.explanation, comparison.inputs, request.currency),
        "risk": risk_of(comparison.risk),
        "robust": robust_of(comparison.robust, comparison.inputs, request.currency),
        "sensitivity": [swing_of(row) for row in comparison.swings],
        "price_grid": grid_of(build_price_grid(comparison.cost_lines)),
        "warnings": list(dict.fromkeys(comparison.warnings)),
    }


def month_of(answer: Mapping[str, Any], index: int) -> dt.date:
    """First day of month `index` of an answer's plan.

    >>> month_of({"start": "2027-11"}, 3)
    datetime.date(2028, 2, 1)
    """
    year, month = map(int, str(answer["start"]).split("-"))
    years, rest = divmod(month - 1 + index, 12)
    return dt.date(year + years, rest + 1, 1)


def _exchange_rate(comparison: Comparison) -> dict[str, Any] | None:
    request = comparison.request
    if request.currency == "USD":
        return None
    given = request.exchange_rates.get(request.currency)
    if given is not None:
        as_of = given.as_of.isoformat() if given.as_of else None
        return {"units_per_usd": money(given.units_per_usd), "as_of": as_of, "source": "request"}
    rate = comparison.catalog.exchange_rates.find(request.currency)
    return {
        "units_per_usd": money(rate.units_per_usd),
        "as_of": rate.date.isoformat(),
        "source": rate.source,
    }


def _catalog(comparison: Comparison) -> list[dict[str, Any]]:
    if not comparison.request.use_catalog:
        return []
    return [
        {
            "provider": info.provider,
            "revision": info.revision,
            "as_of": _date(info.as_of),
            "oldest_price_as_of": _date(info.oldest_price_as_of),
            "age_days": info.age_days(comparison.today),
        }
        for info in comparison.catalog.revisions
    ]


def _date(day: Any) -> str | None:
    return None if day is None else day.isoformat()


def assumption_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Every figure that the answer rests on, with its unit and source."""
    return [_assumption(row) for row in comparison.terms.rows]


def _assumption(row: Assumption) -> dict[str, Any]:
    shown = money(row.value) if isinstance(row.value, Decimal) else row.value
    return asdict(row) | {"value": shown}


def _demand(comparison: Comparison) -> dict[str, Any]:
    demand = comparison.demand
    low, high = demand.range_p10_p90
    return {
        "accelerator": demand.accelerator,
        "hours_per_month": _floats(demand.hours_per_month),
        "peak_accelerators": _floats(demand.peak_accelerators),
        "method": demand.method,
        "range": {"p10": low, "p90": high},
        "candidates": [
            {
                "accelerator": c.accelerator,
                "relative_throughput": c.relative_throughput,
                "min_accelerators": c.min_accelerators,
                "notes": list(c.notes),
            }
            for c in demand.candidates
        ],
        "excluded": dict(demand.excluded),
    }


def _floats(values: Iterable[Any]) -> list[float]:
    return [float(value) for value in values]


def _break_even(row: BreakEven) -> dict[str, Any]:
    return {
        "server": row.server,
        "against": row.against,
        "purchase_option": row.purchase_option,
        "term_months": row.term_months,
        "rent_per_hour": money(round(row.rent_per_hour, 6)),
        "running_cost_per_hour": money(round(row.running_cost_per_hour, 6)),
        "hours": row.hours,
        "months_at_full_use": row.months_at_full_use,
        "utilisation_over_life": row.utilisation_over_life,
    }


def _curve(lines: tuple[CostLine, ...]) -> dict[str, Any]:
    """Net present cost of a node against its hours of use a month, over the months in which a
    server bought at the start serves, else over the horizon."""
    step = HOURS_PER_MONTH / (CURVE_POINTS - 1)
    hours = [i * step for i in range(CURVE_POINTS)]
    return {
        "hours_per_month": hours,
        "series": [
            {
                "key": line.key,
                "label": line.label,
                "purchase_option": line.purchase_option,
                "cost": [money(round(line.cost(h), 2)) for h in hours],
            }
            for line in lines
        ],
        "crossings": [
            {
                "one": c.one,
                "other": c.other,
                "hours_per_month": c.hours_per_month,
                "cost": money(round(c.cost, 2)),
            }
            for c in find_crossings(lines)
        ],
    }


def _recommendation(comparison: Comparison) -> dict[str, Any]:
    advice = comparison.recommendation
    return {
        "scenario": advice.scenario.value if advice.scenario else None,
        "saving": money(advice.saving),
        "next_best": advice.next_best.value if advice.next_best else None,
        "because": list(advice.because),
    }


def _offer(source: CapacitySource) -> dict[str, Any]:
    native = source.native
    known = {
        "label": source.label,
        "provider": source.provider,
        "region": source.region,
        "zone": source.zone,
        "instance_type": source.instance_type,
        "accelerator": source.accelerator,
        "accelerator_count": source.accelerators,
        "purchase_option": source.purchase_option,
        "goodput": source.goodput,
    }
    if native is None:
        return known
    return known | {
        "native_currency": native.currency,
        "native_price_per_hour": native.price_per_hour,
        "native_upfront": native.upfront,
        "units_per_usd": native.units_per_usd,
        "rate_date": _date(native.rate_date),
        "multiplier": float(f"{native.multiplier:.12g}"),
        "as_of": _date(native.as_of),
        "source": native.source,
        "sku": native.sku,
    }


def _server(source: CapacitySource) -> dict[str, Any]:
    return {
        "key": source.key,
        "label": source.label,
        "accelerator": source.accelerator,
        "accelerator_count": source.accelerators,
        "power_kw": source.power_kw,
        "idle_power_kw": source.idle_power_kw,
    }
