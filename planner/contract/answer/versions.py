"""Answers as they are stored: older forms upgraded, everything validated when read. PURE.

Version 1 (without a number) called `robust_plan` robust, `cvar_90` worst_tenth and
`units_started` begun; what it did not say about purchases is worked out from its own lines.
Version 3 added the verdict and what belongs to it, version 4 the finance of scenarios; older
answers leave them out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import accumulate
from typing import Any

from planner.contract.answer.comparison import VERSION, ComparisonAnswer
from planner.contract.answer.scenario import CostLine, sum_by_source
from planner.contract.purchase_options import TRAITS
from pricing.market.offers import HOURS_PER_MONTH

Json = Mapping[str, Any]
"""A JSON object at the edge: an answer, or a part of one, before it is validated."""

_RISK_NOT_SCENARIOS = ("probability_cheapest", "regret", "samples", "seed")


def read_answer(data: Json) -> ComparisonAnswer:
    """A stored answer of any version; `ValidationError` where it is none."""
    return ComparisonAnswer.model_validate(upgrade(data))


def upgrade(data: Json) -> Json:
    """A stored answer in today's form; one that has it already is returned as it is."""
    version = data.get("version", 1)
    if version >= VERSION:
        return data
    return {**data, "version": VERSION} if version > 1 else _from_version_1(data)


def _from_version_1(data: Json) -> dict[str, Any]:
    return {
        **{name: value for name, value in data.items() if name != "robust"},
        "version": VERSION,
        "demand": _demand(data["demand"]),
        "scenarios": [_scenario(one, data) for one in data["scenarios"]],
        "break_even": [_break_even(row, data) for row in data.get("break_even") or ()],
        "cost_curve": data.get("cost_curve") or {},
        "explanation": _explanation(data),
        "offers": {key: _offer(key, row) for key, row in (data.get("offers") or {}).items()},
        "servers": data.get("servers") or (),
        "risk": _risk(data.get("risk")),
        "robust_plan": _robust_plan(data.get("robust")),
        "sensitivity": data.get("sensitivity") or (),
    }


def _demand(old: Json) -> dict[str, Any]:
    hours = sum(float(value) for value in old["hours_per_month"])
    return {
        **old,
        "total_hours": hours,
        "total_hours_p10": hours * float(old["range"]["p10"]),
        "total_hours_p90": hours * float(old["range"]["p90"]),
        "highest_peak": max(map(float, old["peak_accelerators"]), default=0.0),
    }


def _break_even(row: Json, data: Json) -> dict[str, Any]:
    offer = (data.get("offers") or {}).get(row["against"]) or {}
    return {**row, "label": row.get("label") or offer.get("label") or row["against"]}


def _offer(key: str, old: Json) -> dict[str, Any]:
    return {**old, "term_months": old.get("term_months", _term_months(key) or None)}


def _term_months(offer_id: str) -> int:
    """The term that an offer's id names; 0 where it names none.

    >>> _term_months("aws:us-east-1:p5.48xlarge:reserved:36m:all_upfront"), _term_months("x:spot")
    (36, 0)
    """
    named = [part[:-1] for part in offer_id.split(":") if part.endswith("m")]
    return next((int(months) for months in reversed(named) if months.isdigit()), 0)


def _risk(old: Json | None) -> dict[str, Any] | None:
    if old is None:
        return None
    ranges = {
        key: _renamed(row, worst_tenth="cvar_90")
        for key, row in old.items()
        if key not in _RISK_NOT_SCENARIOS and isinstance(row, Mapping)
    }
    return {**old, **ranges}


def _robust_plan(old: Json | None) -> dict[str, Any] | None:
    if old is None:
        return None
    return _renamed(
        old,
        tail_weight="cvar_weight",
        worst_tenth="cvar_90",
        futures="representative_samples",
        begun="units_started",
    )


def _renamed(old: Json, **names: str) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in old.items()}


def _explanation(data: Json) -> dict[str, Any] | None:
    """Its sentences stand with what they speak of: purchases, then limits, then switch points."""
    old = data.get("explanation")
    if not old:
        return None
    hybrid: Json = next((s for s in data["scenarios"] if s["key"] == "hybrid"), {})
    known = {(p["source"], p["month"]): p for p in _purchases(hybrid, data)}
    rows = [
        {**known.get((p["source"], p["month"]), {}), **p, **_kind(p["source"])}
        for p in old["purchases"]
    ]
    reasons = iter(old.get("words", ())[len(rows) :])
    parts = {
        name: [{"sentence": next(reasons, ""), **row} for row in old.get(name, ())]
        for name in ("marginal_values", "switch_points")
    }
    return {**old, **parts, "purchases": rows}


def _kind(source: str) -> dict[str, str]:
    if source.startswith("server:"):
        return {"kind": "server", "unit": "servers"}
    return {"kind": "commitment", "unit": "commitments"}


def _scenario(old: Json, data: Json) -> dict[str, Any]:
    if not old["feasible"]:
        return dict(old)
    rent = next((s for s in data["scenarios"] if s["key"] == "on_demand"), None)
    saving = None
    if rent is not None and rent["feasible"]:
        saving = Decimal(rent["total_cost"]) - Decimal(old["total_cost"])
    lines = tuple(CostLine.model_validate(line) for line in old["lines"])
    return {
        **_sums(lines, int(data["horizon_months"])),
        **old,
        "lines": lines,
        "saving_against_on_demand": saving,
        "energy": _energy(old.get("energy")),
        "purchases": sorted(_purchases(old, data), key=lambda p: (p["month"], p["source"])),
        "costs_by_source": sum_by_source(lines),
    }


def _sums(lines: Sequence[CostLine], horizon: int) -> dict[str, Any]:
    """Sums by month and category, which the first answers of version 1 left to their readers."""
    cash = [Decimal("0.00")] * (max([horizon, *(line.month for line in lines)]) + 1)
    categories: dict[str, Decimal] = defaultdict(Decimal)
    for line in lines:
        cash[line.month] += line.amount
        categories[line.category] += line.amount
    return {
        "cash_per_month": cash,
        "cumulative_cost": list(accumulate(cash)),
        "cost_by_category": categories,
    }


def _energy(old: Json | None) -> dict[str, Any] | None:
    """Before there was a figure for a part, `kg_co2e` gave that of the known grids, and 0 for
    none."""
    if old is None:
        return None
    if "kg_co2e_of_known_grid" in old:
        return dict(old)
    known = old["kg_co2e"] or (None if old.get("kwh_of_unknown_grid") else 0.0)
    return {**old, "kg_co2e_of_known_grid": known}


# What a plan of version 1 buys ------------------------------------------------------------


def _purchases(scenario: Json, data: Json) -> Iterator[dict[str, Any]]:
    """Servers and reserved hours as their lines say; commitments as the quantities of their
    months say, a unit serving its whole term from the month in which it begins."""
    by_source: dict[str, list[Json]] = defaultdict(list)
    for line in scenario.get("lines", ()):
        by_source[line.get("source") or line["offer_id"] or line["label"]].append(line)
    horizon = int(data["horizon_months"])
    for source, lines in by_source.items():
        option = TRAITS.get(lines[0]["purchase_option"])
        if option is None:
            continue
        if option.is_commitment:
            yield from _commitments(source, lines, horizon)
        elif option.is_paid_ahead:
            yield from map(partial(_reserved, source), _of(lines, "upfront"))
        elif option.chart_role == "owned":
            service = _service(scenario, source, horizon)
            yield from map(partial(_server, source, service), _of(lines, "capex"))


def _of(lines: Sequence[Json], category: str) -> list[Json]:
    return [line for line in lines if line["category"] == category]


def _reserved(source: str, line: Json) -> dict[str, Any]:
    return {
        "month": line["month"],
        "source": source,
        "label": line["label"],
        "kind": "capacity_block",
        "units": line["quantity"],
        "unit": "node-hours",
        "first": line["month"],
        "last": line["month"],
        "due_at_start": line["amount"],
    }


def _service(scenario: Json, source: str, horizon: int) -> tuple[int, int]:
    """First and last month in which a source serves."""
    months = [row["month"] for row in scenario["capacity"] if row["source"] == source]
    return min(months, default=0), max(months, default=horizon - 1)


def _server(source: str, service: tuple[int, int], line: Json) -> dict[str, Any]:
    return {
        "month": line["month"],
        "source": source,
        "label": line["label"],
        "kind": "server",
        "units": line["quantity"],
        "unit": "servers",
        "first": max(service[0], line["month"]),
        "last": service[1],
        "due_at_start": line["amount"],
    }


def _commitments(source: str, lines: Sequence[Json], horizon: int) -> Iterator[dict[str, Any]]:
    term = _term_months(lines[0]["offer_id"]) or horizon
    monthly, upfront = (
        {line["month"]: line for line in _of(lines, name)} for name in ("commitment", "upfront")
    )
    started: dict[int, int] = {}
    for month in range(horizon):
        if month in upfront:
            units = round(upfront[month]["quantity"])
        elif monthly and not upfront:
            charged = float(monthly[month]["quantity"]) if month in monthly else 0.0
            running = sum(n for m, n in started.items() if m + term > month)
            units = round(charged / HOURS_PER_MONTH) - running
        else:
            units = 0
        if units > 0:
            started[month] = units
            yield _commitment(source, month, units, term, horizon, monthly, upfront)


def _commitment(
    source: str,
    month: int,
    units: int,
    term: int,
    horizon: int,
    monthly: Mapping[int, Json],
    upfront: Mapping[int, Json],
) -> dict[str, Any]:
    once, each = upfront.get(month), monthly.get(month)
    line = each or once or {}
    return {
        "month": month,
        "source": source,
        "label": str(line["label"]).removesuffix(": upfront payment"),
        "kind": "commitment",
        "units": units,
        "unit": "commitments",
        "first": month,
        "last": min(month + term, horizon) - 1,
        "due_at_start": once and once["amount"],
        "due_per_month": each and _per_month(each, units),
    }


def _per_month(line: Json, units: int) -> str:
    price = Decimal(line["unit_price"]) * units * HOURS_PER_MONTH
    return f"{price.quantize(Decimal('0.01')):f}"
