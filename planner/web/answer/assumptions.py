"""The assumptions of an answer as rows that are edited in place, in the units of the form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from django.http import QueryDict

from planner.contract.amounts import name_day
from planner.contract.answer.comparison import AssumptionRow as AnswerRow
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.labels import unit_words
from planner.contract.request.workload import DEFAULT_MONTHS
from planner.web.common.choices import Choice
from planner.web.common.fields import find_field, find_label, in_field_unit, name_dates
from planner.web.common.formatting import plain
from planner.web.common.plan_request import is_page_only
from planner.web.common.query_codec import SCALES, find_typed
from pricing.common.invalid_input import InvalidInput

_EDITED_AS = {"on_prem.staff_accelerators_per_fte": "on_prem.staff_fte_per_server"}
"""Assumptions that are changed by giving another field instead."""
_FIXED_LABELS = {
    "risk.demand_half_life_months": "Months in which a change of demand halves",
    "risk.spot_waiting_hours_training": "Mean wait for a spot machine with stacked memory",
    "risk.spot_waiting_hours_other": "Mean wait for any other spot machine",
    "risk.spot_patience_hours": "Wait for spot before work runs on demand",
}
"""What stands in the assumptions and has no box."""
RATE = "exchange_rates."
_BETWEEN = ", "
"""What stands between several choices in one value."""


@dataclass(frozen=True)
class Box:
    path: str

    @property
    def element(self) -> str:
        return "a-" + self.path.replace(".", "-").replace("_", "-")


@dataclass(frozen=True)
class AssumptionRow(Box):
    label: str
    shown: str
    """The value in use."""
    source: str
    name: str = ""
    """Name of the box in the address; empty where nothing can be changed."""
    value: str = ""
    """What stands in the box: the value where the request gives it."""
    unit: str = ""
    given: bool = False
    choices: tuple[Choice, ...] = ()

    @property
    def in_words(self) -> str:
        return name_dates(self.shown)


@dataclass(frozen=True)
class Message(Box):
    """What stands beside a box after a change that was refused; empty where it was not."""

    text: str

    @property
    def label(self) -> str:
        return find_label(self.path)


def messages_of(query: QueryDict, refusals: Iterable[InvalidInput]) -> list[Message]:
    refused = {one.field: in_field_unit(one.field, one.message) for one in refusals}
    paths = dict.fromkeys(name.partition("~")[0] for name in query)
    return [
        Message(path, refused.get(path, ""))
        for path in paths
        if path.startswith(RATE) or find_field(path)
    ]


def assumption_row(row: AnswerRow, currency: str) -> AssumptionRow:
    path = row.field
    field = find_field(_EDITED_AS.get(path, path))
    if field is not None and field.kind == "choices" and _BETWEEN in str(row.value):
        titles = dict(field.options)
        listed = _BETWEEN.join(titles.get(one, one) for one in str(row.value).split(_BETWEEN))
        return AssumptionRow(field.path, field.label, listed, row.source)
    if field is None:
        words = path.rpartition(".")[2].replace("_", " ").capitalize()
        label, unit = _FIXED_LABELS.get(path) or words, unit_words(row.unit)
        return AssumptionRow(path, label, plain(row.value), row.source, unit=unit)
    try:
        figure = Decimal(str(row.value)) / SCALES.get(field.scale, Decimal(1))
    except InvalidOperation:
        figure = None
    shown = str(row.value) if figure is None else plain(figure)
    typed = shown.replace(",", "")
    if path in _EDITED_AS:
        shown = f"{plain(row.value)} {row.unit}".replace("full-time equivalent", "FTE")
    choices = tuple(field.options)
    return AssumptionRow(
        path=field.path,
        label=field.label,
        name=field.name,
        value=typed if row.given else "",
        shown=dict(choices).get(shown, shown),
        unit=field.unit.replace("money", currency) or ("" if choices else unit_words(row.unit)),
        given=row.given,
        source=row.source,
        choices=choices,
    )


def kept_address(query: QueryDict, rows: list[AssumptionRow]) -> list[tuple[str, str]]:
    held = {row.path for row in rows if row.name}
    return [
        (name, value)
        for name, values in query.lists()
        for value in values
        if name.partition("~")[0] not in held
        and not (is_page_only(name) and name not in _STAYING)
        and value.strip()
    ]


_STAYING = ("scenario", "prices", "rates")


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


def plan_rows(answer: ComparisonAnswer, query: QueryDict) -> Iterator[AssumptionRow]:
    """First month, horizon, exchange rate, and what may have been measured of a training."""

    def typed_row(path: str, used: str, unit: str, unasked: str, scale: str = "") -> AssumptionRow:
        typed, name = find_typed(query, path, scale), f"{path}~{scale}" if scale else path
        label, source = find_label(path), "the request" if typed else unasked
        return AssumptionRow(path, label, typed or used, source, name, typed, unit, bool(typed))

    yield typed_row("start", answer.start, "month", _UNASKED["start"])
    months = str(answer.horizon_months)
    yield typed_row("horizon_months", months, "months", _UNASKED["horizon_months"])
    if rate := answer.exchange_rate:
        source = f"{rate.source}, {name_day(rate.as_of)}" if rate.as_of else rate.source
        path, unit = f"{RATE}{answer.currency}", f"{answer.currency} per USD"
        row = typed_row(path, rate.units_per_usd, unit, source)
        yield replace(row, label="Exchange rate", source=source)
    for path in _MEASURED.get(query.get("workload.kind", ""), ()):
        yield typed_row(path, "estimated", "%", answer.demand.method, "pct")
