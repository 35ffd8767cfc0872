"""The assumptions of an answer as rows that are edited in place, in the units of the form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from django.http import QueryDict

from planner.contract.answer.comparison import AssumptionRow as AnswerRow
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.sensitivity import DefaultEffect
from planner.web.common.choices import Choice, list_choices
from planner.web.common.form_fields import (
    ALL,
    RISK,
    RULES,
    find_label,
    in_field_unit,
)
from planner.web.common.formatting import plain, unit_words, unseparated
from planner.web.common.plan_fields.field import Field
from planner.web.common.plan_fields.finance import FINANCE, FINANCING
from planner.web.common.plan_fields.in_text import name_dates
from planner.web.common.plan_fields.limits import LIMITS
from planner.web.common.plan_fields.owning import OWNING
from planner.web.common.plan_request import is_page_only
from planner.web.common.query_codec import SCALES
from pricing.common.invalid_input import InvalidInput

_FIELDS = {field.path: field for field in ALL}
_EDITED_AS = {"on_prem.staff_accelerators_per_fte": "on_prem.staff_fte_per_server"}
"""Assumptions that are changed by giving another field instead."""
_DERIVED_LABELS = {"on_prem.staff_accelerators_per_fte": "Accelerators that one person runs"}
_FIXED_LABELS = {
    "risk.demand_half_life_months": "Months in which a change of demand halves",
    "risk.spot_waiting_hours_training": "Mean wait for a spot machine with stacked memory",
    "risk.spot_waiting_hours_other": "Mean wait for any other spot machine",
    "risk.spot_patience_hours": "Wait for spot before work runs on demand",
    "risk.price_process_edition": "Rule for how prices move",
    "risk.pool_edition": "Rule for credits and minimum spend in simulated cases",
    "risk.trend_edition": "Rule for a price trend that was given",
    "risk.hours_edition": "Rule for the range of the hours",
    "workload.run_edition": "Rule for the machines of a run",
    "finance.payback_edition": "Rule for the month of the payback",
    "finance.lease_edition": "Rule for servers on lease",
    "finance.support_edition": "Rule for the support plan on upfront payments",
    "on_prem.delivery_edition": "Rule for late deliveries",
    "on_prem.resale_edition": "Rule for resale",
    "on_prem.in_place_edition": "Rule for the resale of servers you already own",
    "constraints.quota_edition": "Rule for quotas",
    "projects.window_edition": "Rule for hours that may move",
    "projects.runs_edition": "Rule for the months of runs",
    "projects.range_samples": "Simulated outcomes of the total",
    "projects.range_edition": "Rule for the range of the total",
    "projects.shares_edition": "Rule for shares",
}
"""What stands in the assumptions and has no box."""
_WITH_BOX = (
    frozenset(
        field.path
        for field in (*OWNING, *FINANCING, *FINANCE, *RISK, *LIMITS)
        if field.path.startswith(("on_prem.", "finance.", "risk.", "constraints.undated_"))
    )
    | {field.path for field in RULES}
    | {"workload.interruptible", "workload.accelerators_per_job"}
    | {"constraints.min_provider_share"}
    | {"start", "horizon_months", "workload.mfu", "workload.goodput"}
)
_RATE = "exchange_rates."
_BETWEEN = ", "
"""What stands between several choices in one value."""


@dataclass(frozen=True)
class AssumptionRow:
    """One assumption: the value in use, and the box that changes it."""

    path: str
    label: str
    name: str
    """Name of the box in the address; empty where nothing can be changed."""
    value: str
    """What stands in the box: the value where the request gives it."""
    shown: str
    """The value in use."""
    unit: str
    given: bool
    source: str
    choices: tuple[Choice, ...] = ()

    @property
    def in_words(self) -> str:
        """The value in use where no box holds it: a month by its name."""
        return name_dates(self.shown)

    @property
    def element(self) -> str:
        """Part of the ids of the box, its state and its message."""
        return element_id(self.path)


@dataclass(frozen=True)
class Message:
    """What stands beside a box after a change that was refused; empty where it was not."""

    path: str
    text: str

    @property
    def label(self) -> str:
        return find_label(self.path)

    @property
    def element(self) -> str:
        return element_id(self.path)


def element_id(path: str) -> str:
    return "a-" + path.replace(".", "-").replace("_", "-")


def messages_of(query: QueryDict, refusals: Iterable[InvalidInput]) -> list[Message]:
    """One message for each box that was sent, so that those of former changes go."""
    refused = {one.field: in_field_unit(one.field, one.message) for one in refusals}
    paths = dict.fromkeys(name.partition("~")[0] for name in query)
    return [
        Message(path, refused.get(path, ""))
        for path in paths
        if path in _WITH_BOX or path.startswith(_RATE)
    ]


def list_assumption_rows(answer: ComparisonAnswer | PortfolioAnswer) -> list[AssumptionRow]:
    """Every assumption of the answer, those without a box as plain values."""
    return [_row(row, answer.currency) for row in answer.assumptions]


def _row(row: AnswerRow, currency: str) -> AssumptionRow:
    path = row.field
    field = _FIELDS.get(_EDITED_AS.get(path, path))
    if field is not None and field.kind == "choices" and _BETWEEN in str(row.value):
        return _several(row, field)
    if field is None:
        return AssumptionRow(
            path,
            _words(path),
            "",
            "",
            plain(row.value),
            unit_words(row.unit),
            False,
            row.source,
        )
    edits_another = path in _EDITED_AS
    named = f"{plain(row.value)} {row.unit}".replace("full-time equivalent", "FTE")
    shown = named if edits_another else _in_unit(row.value, field)
    choices = tuple(list_choices(field.choices)) if field.choices else ()
    return AssumptionRow(
        path=field.path,
        label=field.label,
        name=field.name,
        value=_typed(row.value, field) if row.given else "",
        shown=dict(choices).get(shown, shown),
        unit=field.unit.replace("money", currency) or _unit(row.unit, field),
        given=row.given,
        source=row.source,
        choices=choices,
    )


@dataclass(frozen=True)
class DefaultRow:
    """Who gains by a default, in the unit of its box."""

    label: str
    value: str
    neutral: str
    unit: str
    effect: Decimal
    gains: str


def default_rows(answer: ComparisonAnswer) -> list[DefaultRow]:
    """What each default does to owning less renting, the strongest first."""
    return [_default_row(row, answer.currency) for row in answer.default_effects]


def _default_row(row: DefaultEffect, currency: str) -> DefaultRow:
    field = _FIELDS.get(row.field)
    gains = "owning" if row.gains == "own" else "renting"
    if field is None:
        label = _DERIVED_LABELS.get(row.field) or find_label(row.field)
        return DefaultRow(label, plain(row.value), plain(row.neutral), row.unit, row.effect, gains)
    unit = field.unit.replace("money", currency) or row.unit
    value, neutral = (
        _rounded(_scaled(one, field) or Decimal(0)) for one in (row.value, row.neutral)
    )
    return DefaultRow(field.label, plain(value), plain(neutral), unit, row.effect, gains)


def _several(row: AnswerRow, field: Field) -> AssumptionRow:
    """Several choices at once: changed in the form, since a box of the table holds one."""
    titles = dict(list_choices(field.choices))
    shown = _BETWEEN.join(titles.get(one, one) for one in str(row.value).split(_BETWEEN))
    return AssumptionRow(field.path, field.label, "", "", shown, "", False, row.source)


def _unit(unit: str, field: Field) -> str:
    """Nothing for a choice; else what the core calls the unit."""
    return "" if field.choices else unit_words(unit)


def _words(path: str) -> str:
    return _FIXED_LABELS.get(path) or path.rpartition(".")[2].replace("_", " ").capitalize()


def _scaled(value: Any, field: Field) -> Decimal | None:
    try:
        figure = Decimal(str(value))
    except InvalidOperation:
        return None
    return figure / SCALES[field.scale] if field.scale else figure


def _in_unit(value: Any, field: Field) -> str:
    """The value in the unit of its box, to be read."""
    figure = _scaled(value, field)
    return str(value) if figure is None else plain(figure)


def _rounded(figure: Decimal) -> Decimal:
    """To six significant digits, whole units in any case.

    >>> _rounded(Decimal("0.10666666666666667")), _rounded(Decimal("1234567.25"))
    (Decimal('0.106667'), Decimal('1234567'))
    """
    return round(figure, max(0, 5 - figure.adjusted())) if figure else figure


def _typed(value: Any, field: Field) -> str:
    """The value in the unit of its box, to be changed: without separators."""
    figure = _scaled(value, field)
    return str(value).replace(",", "") if figure is None else unseparated(figure)


def kept_address(query: QueryDict, rows: list[AssumptionRow]) -> list[tuple[str, str]]:
    """Names and values of the address that no box of the rows holds."""
    held = {row.path for row in rows if row.name}
    return [
        (name, value)
        for name, values in query.lists()
        for value in values
        if name.partition("~")[0] not in held and not _is_dropped(name) and value.strip()
    ]


_STAYING = ("scenario", "prices", "rates")


def _is_dropped(name: str) -> bool:
    """What names the shown scenario, the prices and whose rates stays with the page while its
    assumptions change; the explanation is asked for anew, as it takes longer than an edit may."""
    return name == "explain" or (is_page_only(name) and name not in _STAYING)
