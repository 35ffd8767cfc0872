"""The form of a plan: an address on the way in, boxes drawn from the request's schema on the way
out. A kind of work has some ten boxes, each subject of the options some five, and one box holds
all else as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qsl

from django.http import QueryDict
from django.utils import timezone

from planner.contract.amounts import add_months, format_month, next_month
from planner.web.common import fields, query_codec
from planner.web.common.choices import Choice, find_default
from planner.web.common.plan_request import (
    PRICES,
    RATES,
    REST,
    REST_EXAMPLE,
    is_of_other_work,
    is_page_only,
)
from planner.web.common.query_codec import SCALES, to_pattern
from pricing.common.bounded import read_position
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_rows, read_table

MAX_ROWS = 12
"""Rows of one repeated group that the form shows; the API takes more."""
MONTHS_ASKED = 12
"""Months from the first to the last that a form begins with."""
_SPAN = ("start", "horizon_months")


@dataclass(frozen=True)
class Work:
    key: str
    title: str
    kind: str
    boxes: tuple[str, ...]
    begins: str
    """What the boxes hold before anybody types, as an address."""
    options: tuple[str, ...] = ()


_FOLDER = Path(__file__).parent
WORKS = tuple(read_table(_FOLDER / "works.csv", Work))
_OF_ALL_WORK = ("constraints.geographies", "constraints.total_budget", "currency")
_LAYOUT = tuple(read_rows(_FOLDER / "layout.csv"))


def _of_part(part: str) -> dict[str, tuple[str, ...]]:
    rows = (row for row in _LAYOUT if row["part"] == part)
    return {row["name"]: tuple(filter(None, row["boxes"].split(";"))) for row in rows}


OPTIONS = _of_part("subject")
"""Subjects of the options beside those of the work itself."""
ROWS = _of_part("rows")
"""Groups of rows and the fields that a row shows, all where none is named."""


@dataclass(frozen=True)
class Box:
    field: fields.Field
    name: str
    """Name in the address, which may have another unit than the field's own."""
    values: tuple[str, ...]
    error: str
    default_text: str = ""
    default_source: str = ""

    @property
    def value(self) -> str:
        return self.values[-1] if self.values else ""

    @property
    def options(self) -> list[Choice]:
        """What can be chosen; several places chosen at once are a choice of their own."""
        own = ",".join(self.values)
        named = dict(self.field.options)
        if not named or not own or own in named or self.is_checks or self.is_suggested:
            return self.field.options
        titles = ", ".join(named.get(one, one) for one in own.split(","))
        return [*self.field.options, (own, titles)]

    @property
    def chosen(self) -> tuple[str, ...]:
        return self.values if self.is_checks else (",".join(self.values),)

    @property
    def is_suggested(self) -> bool:
        return self.field.choices == fields.SUGGESTED

    @property
    def is_checks(self) -> bool:
        return self.field.kind == "choices" and self.field.path != "constraints.geographies"

    @property
    def is_wide(self) -> bool:
        return self.is_checks or self.field.kind in ("numbers", "json")

    @property
    def typical(self) -> str:
        return self.default_text or self.field.typical

    @property
    def described_by(self) -> str:
        notes = [f"{self.name}-help"] if self.field.help or self.default_source else []
        return " ".join([*notes, *([f"{self.name}-error"] if self.error else [])])


@dataclass(frozen=True)
class Rows:
    """A repeated group: its rows, and how many the next press of 'add' shows."""

    name: str
    title: str
    rows: tuple[tuple[Box, ...], ...]
    first: int = 0
    """Position in the request of the first of them."""

    @property
    def more(self) -> int:
        return min(self.first + len(self.rows) + 1, MAX_ROWS)

    @property
    def has_values(self) -> bool:
        return any(shown.values for row in self.rows for shown in row)

    @property
    def is_in_use(self) -> bool:
        return self.has_values or len(self.rows) > 1


@dataclass(frozen=True)
class Subject:
    title: str
    boxes: tuple[Box, ...]

    @property
    def is_open(self) -> bool:
        return any(shown.values or shown.error for shown in self.boxes)


class PlanForm:
    def __init__(self, query: QueryDict, refusals: Iterable[InvalidInput] = ()) -> None:
        self.query = query
        self.work = find_work(query)
        self.errors = {one.field: fields.in_field_unit(one.field, one.message) for one in refusals}
        self.currency = query.get("currency") or "USD"
        self._names: dict[str, str] = {}
        """Path of each box → its name."""

    def build_box(self, path: str) -> Box:
        field = fields.find_field(path, self.work.kind)
        assert field is not None
        field = replace(field, path=path)
        names = (field.name, path, *(f"{path}~{scale}" for scale in SCALES))
        name = next((name for name in names if name in self.query), field.name)
        self._names[path] = name
        values = tuple(one for one in self.query.getlist(name) if one.strip())
        if field.kind == "choices":
            values = tuple(part for one in values for part in one.split(","))
        elif fields.FIELD_TYPES.get(to_pattern(path)) == "choices" and values:
            values = (", ".join(values),)
        return Box(
            replace(field, unit=field.unit_as(name).replace("money", self.currency)),
            name,
            values if field.kind == "choices" else values[-1:],
            self._error(path),
            *find_default(field.default, field.scale),
        )

    def _error(self, path: str) -> str:
        messages = (m for at, m in self.errors.items() if at == path or at.startswith(f"{path}."))
        return next(messages, "")

    def boxes(self, paths: Iterable[str]) -> tuple[Box, ...]:
        return tuple(map(self.build_box, paths))

    def questions(self) -> tuple[Box, ...]:
        own = () if self.work.kind == "serving" else ("workload.interruptible",)
        return self.boxes((*self.work.boxes, *_OF_ALL_WORK, *own))

    def subjects(self) -> list[Subject]:
        span = () if "start" in self.work.boxes else _SPAN
        of_work = (*self.work.options, "workload.accelerators_per_job", "workload.software")
        named = {
            "The work": of_work,
            "Limits": OPTIONS["Limits"],
            **OPTIONS,
            "This plan": ("name", *span, "use_catalog", "inherits"),
        }
        return [Subject(title, self.boxes(paths)) for title, paths in named.items()]

    def groups(self) -> list[Rows]:
        is_run = "workload.runs.0.start" in self.work.boxes
        return [self.rows(name) for name in ROWS if is_run or name != "workload.runs"]

    def rows(self, name: str, least: int = 0) -> Rows:
        named = ROWS[name] or [
            one.path.rpartition(".")[2] for one in fields.fields_below(f"{name}.*")
        ]
        first = 1 if name == "workload.runs" else 0
        positions = range(first, max(self._row_count(name), least))
        rows = tuple(self.boxes(f"{name}.{i}.{one}" for one in named) for i in positions)
        title = "Runs at other times" if first else fields.find_label(name)
        return Rows(name, title, rows, first)

    def _row_count(self, name: str) -> int:
        prefix = f"{name}."
        keys = (key for key in self.query if key.startswith(prefix))
        used = (read_position(key.removeprefix(prefix).split(".")[0]) for key in keys)
        requested = read_position(self.query.get(f"rows.{name}", "")) or 0
        counts = (position + 1 for position in used if position is not None)
        return min(max(requested, *counts, 0), MAX_ROWS)

    def other_errors(self) -> Iterator[tuple[str, str]]:
        """What is refused and has no box; to be asked for after the boxes."""
        for path, message in self.errors.items():
            if path != REST and not any(
                path == shown or path.startswith(f"{shown}.") for shown in self._names
            ):
                yield path, message

    def rest(self) -> Box:
        """The box of what the address holds and no other box shows, as JSON; after the others."""
        unshown = query_codec.drop_empty(self.query, *self._names.values())
        others = [
            n for n in unshown if is_page_only(n) or n == "workload.kind" or self._is_foreign(n)
        ]
        rest = query_codec.read(query_codec.drop_empty(unshown, *others), fields.FIELD_TYPES)
        text = self.query.get(REST) or (json.dumps(rest, indent=1, default=str) if rest else "")
        field = fields.Field(REST, "All else", "json", typical=REST_EXAMPLE)
        return Box(field, REST, (text,) if text else (), self.errors.get(REST, ""))

    def _is_foreign(self, name: str) -> bool:
        return is_of_other_work(name, self.work.kind)

    def rest_fields(self) -> list[fields.Field]:
        """What may be written there, for completion."""
        own = (one for one in fields.SINGLE if not self._is_foreign(one.path))
        return sorted((one for one in own if one.path not in self._names), key=lambda f: f.path)

    def hidden(self) -> list[tuple[str, str]]:
        """What an address holds about its prices and rates, so that sending keeps it."""
        held = [(name, value) for name in (PRICES, RATES) for value in self.query.getlist(name)]
        return [("workload.kind", self.work.kind), *held]


def find_work(query: Mapping[str, str]) -> Work:
    """The tab of the form: the one chosen, else that of the request."""
    chosen, kind = query.get("work", ""), query.get("workload.kind", "training")
    if not chosen and kind == "training" and query.get("workload.optimizer") in ("lora", "qlora"):
        chosen = "fine_tune"
    of_kind = (work for work in WORKS if work.kind == kind)
    return next((work for work in WORKS if work.key == chosen), next(of_kind, WORKS[0]))


def begin(query: QueryDict, currency: str) -> QueryDict:
    """An address for the tab that was chosen: what is typed and belongs to its work, with what its
    boxes begin with. A box that still holds what the tab before began with is not typed."""
    work, before = find_work(query), find_work(query_codec.drop_empty(query, "work"))
    untouched = set(parse_qsl(before.begins)) if work != before else set()
    first = next_month(timezone.now().date())
    months = {"first": first, "last": add_months(first, MONTHS_ASKED - 1)}
    initial = query.copy()
    initial["workload.kind"] = work.kind
    for name in list(initial):
        known = to_pattern(name.partition("~")[0]) in fields.FIELD_TYPES or is_page_only(name)
        is_foreign = is_of_other_work(name, work.kind)
        if not known or is_foreign or (name, initial[name]) in untouched:
            del initial[name]
    if initial.get("workload.optimizer") and work.key in ("train", "fine_tune"):
        del initial["workload.optimizer"]
    typed = {name.partition("~")[0] for name in initial}
    for name, value in parse_qsl(work.begins):
        if name.partition("~")[0] not in typed:
            month = months.get(value)
            initial[name] = format_month(month) if month else value
    if "currency" not in initial and currency != "USD":
        initial["currency"] = currency
    return initial


def as_query(pairs: Iterable[tuple[str, str]] | Mapping[str, str]) -> QueryDict:
    query = QueryDict(mutable=True)
    query.update(pairs)
    return query
