"""What the plan was asked, as rows that are edited in place above the assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from django.http import QueryDict

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.months import name_day
from planner.contract.request.horizon import DEFAULT_MONTHS
from planner.web.answer.assumption_rows import AssumptionRow
from planner.web.common.form_fields import find_label
from planner.web.common.query_codec import find_typed

_ASKED = "the request"
_UNASKED = {
    "start": "the month after this one unless given",
    "horizon_months": f"{DEFAULT_MONTHS} unless given, or up to the last deadline of the runs",
}
"""Where the months of a plan are from that were not asked for."""
_MEASURED: Mapping[str, tuple[str, ...]] = {
    "training": ("workload.mfu", "workload.goodput"),
    "samples": ("workload.goodput",),
}
"""Figures that somebody may have measured, by kind of work; the hours are estimated without."""


def plan_rows(answer: ComparisonAnswer, query: QueryDict | None) -> list[AssumptionRow]:
    """First month, horizon, exchange rate, and what may have been measured of a training; of a
    kept answer without an address those that the answer holds."""
    if query is not None:
        return list(_rows(answer, query))
    rows = _rows(answer, QueryDict())
    return [
        replace(row, given=True, source=_ASKED) if row.path in _UNASKED else row for row in rows
    ]


def _rows(answer: ComparisonAnswer, query: QueryDict) -> Iterator[AssumptionRow]:
    months = str(answer.horizon_months)
    for path, used, unit in (
        ("start", answer.start, "month"),
        ("horizon_months", months, "months"),
    ):
        yield _row(path, find_label(path), used, unit, _UNASKED[path], query)
    rate = answer.exchange_rate
    if rate:
        source = f"{rate.source}, {name_day(rate.as_of)}" if rate.as_of else rate.source
        path, unit = f"exchange_rates.{answer.currency}", f"{answer.currency} per USD"
        yield _row(path, "Exchange rate", rate.units_per_usd, unit, source, query)
    for path in _MEASURED.get(query.get("workload.kind", ""), ()):
        yield _row(
            path, find_label(path), "estimated", "%", answer.demand.method, query, scale="pct"
        )


def _row(
    path: str, label: str, used: str, unit: str, source: str, query: QueryDict, scale: str = ""
) -> AssumptionRow:
    """`source`: where the figure is from that is used unless one is typed."""
    name = f"{path}~{scale}" if scale else path
    typed = find_typed(query, path, scale)
    if typed and not path.startswith("exchange_rates."):
        source = _ASKED
    return AssumptionRow(path, label, name, typed, typed or used, unit, bool(typed), source)
