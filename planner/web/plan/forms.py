"""The plan form: an address on the way in, boxes with words beside them on the way out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.http import QueryDict

from planner.web.common import fields
from planner.web.common.choices import find_default, list_choices
from planner.web.common.fields import Field, in_field_unit
from planner.web.common.plan_request import PRICES, RATES, is_page_only
from planner.web.common.query_codec import SCALES
from pricing.common.bounded import read_position
from pricing.common.invalid_input import InvalidInput

MAX_ROWS = 12
"""Rows of one repeated group that the form shows; the API takes more."""


@dataclass(frozen=True)
class FormField:
    field: Field
    bound: forms.BoundField
    error: str
    default_text: str
    default_source: str

    @property
    def wide(self) -> bool:
        return self.field.kind in ("choices", "numbers", "words")


@dataclass(frozen=True)
class Rows:
    """A repeated group: its rows, and how many the next press of 'add' shows."""

    name: str
    rows: tuple[tuple[FormField, ...], ...]
    title: str = ""
    help: str = ""

    @property
    def more(self) -> int:
        return min(len(self.rows) + 1, MAX_ROWS)

    @property
    def has_values(self) -> bool:
        return any(field.bound.initial for row in self.rows for field in row)

    @property
    def is_in_use(self) -> bool:
        is_refused = any(field.error for row in self.rows for field in row)
        return self.has_values or is_refused or len(self.rows) > 1


def _form_field(field: Field, placeholder: str, invalid: bool) -> forms.Field:
    css = "form-select" if field.kind == "choice" else "form-control"
    attrs: dict[str, Any] = {"class": css + (" is-invalid" if invalid else "")}
    if field.kind == "choice":
        choices = [("", "—"), *list_choices(field.choices)]
        return forms.ChoiceField(choices=choices, required=False, widget=forms.Select(attrs=attrs))
    if field.kind == "choices":
        boxes = forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"})
        return forms.MultipleChoiceField(
            choices=list_choices(field.choices), required=False, widget=boxes
        )
    if placeholder:
        attrs["placeholder"] = placeholder
    if field.kind == "numbers":
        column = forms.Textarea(attrs=attrs | {"rows": 2, "inputmode": "decimal"})
        return forms.CharField(required=False, widget=column)
    if field.kind == "month":
        attrs |= {"placeholder": field.typical, "maxlength": 20}
    elif field.kind == "number":
        attrs["inputmode"] = "decimal"
    return forms.CharField(required=False, widget=forms.TextInput(attrs=attrs))


class PlanForm:
    def __init__(self, query: QueryDict, refusals: Iterable[InvalidInput] = ()) -> None:
        self.query = query
        self.errors = {one.field: in_field_unit(one.field, one.message) for one in refusals}
        self.currency = query.get("currency") or "USD"
        self.kind = query.get("workload.kind") or "training"
        self._form = forms.Form()
        self._shown: set[str] = set()

    def build_field(self, field: Field) -> FormField:
        default = find_default(field.default, scale=field.scale) if field.default else None
        placeholder = default.text if default else field.typical
        below = f"{field.path}."
        error = next(
            (m for path, m in self.errors.items() if path == field.path or path.startswith(below)),
            "",
        )
        names = (field.name, field.path, *(f"{field.path}~{scale}" for scale in SCALES))
        name = next((name for name in names if name in self.query), field.name)
        form_field = _form_field(field, placeholder, bool(error))
        form_field.label = field.label
        values = self.query.getlist(name)
        form_field.initial = (values or "") if field.kind == "choices" else "".join(values[-1:])
        self._form.fields[name] = form_field
        self._describe(form_field, field, name, bool(error))
        self._shown.add(field.path)
        shown = replace(field, unit=field.unit_as(name).replace("money", self.currency))
        source = default.source if default else ""
        return FormField(shown, self._form[name], error, placeholder if default else "", source)

    def _describe(self, form_field: forms.Field, field: Field, name: str, invalid: bool) -> None:
        notes = []
        if field.help or field.default:
            notes.append(f"id_{name}_help")
        if invalid:
            notes.append(f"id_{name}_error")
            form_field.widget.attrs["aria-invalid"] = "true"
        if notes:
            form_field.widget.attrs["aria-describedby"] = " ".join(notes)

    def build_fields(self, group: str) -> list[FormField]:
        """The boxes of a group named as in `planner.web.common.fields`, in capitals there."""
        return [self.build_field(field) for field in getattr(fields, group.upper())]

    def rows(self, name: str, title: str = "", help: str = "") -> Rows:
        shown = tuple(
            tuple(
                self.build_field(replace(field, path=field.path.replace("*", str(i))))
                for field in fields.ROWS[name]
            )
            for i in range(self._row_count(name))
        )
        return Rows(name, shown, title, help)

    def _row_count(self, name: str) -> int:
        prefix = f"{name}."
        keys = (key for key in self.query if key.startswith(prefix))
        used = (read_position(key.removeprefix(prefix).split(".")[0]) for key in keys)
        requested = read_position(self.query.get(f"rows.{name}", "")) or 0
        counts = (position + 1 for position in used if position is not None)
        # Few have any, and an address has no room for all boxes.
        least = 0 if name.startswith("existing.") else 1
        return min(max(least, requested, *counts), MAX_ROWS)

    def other_errors(self) -> Iterator[tuple[str, str]]:
        for path, message in self.errors.items():
            if not any(path == shown or path.startswith(f"{shown}.") for shown in self._shown):
                yield path, message

    def hidden(self) -> list[tuple[str, str]]:
        """What the address holds and no box shows, so that nothing is lost on sending."""
        names = {name.partition("~")[0] for name in self._form.fields}
        return [
            (name, value)
            for name, values in self.query.lists()
            for value in values
            if name.partition("~")[0] not in names
            and name != "workload.kind"
            and (name in (PRICES, RATES) or not is_page_only(name))
        ]


def as_query(pairs: Iterable[tuple[str, str]] | Mapping[str, str]) -> QueryDict:
    query = QueryDict(mutable=True)
    for name, value in pairs.items() if isinstance(pairs, Mapping) else pairs:
        query.appendlist(name, value)
    return query
