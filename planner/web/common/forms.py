"""What every form of the pages shares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms, template
from django.forms.boundfield import BoundField
from django.template import Context
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from planner.contract.typed_numbers import spell_out
from planner.web.common.query_codec import number
from pricing.common.bounded import number_problem


class NumberField(forms.FloatField):
    """A number as people type it, read as the plan form reads it: with a decimal comma, with marks
    of thousands, with the unit behind the box. What may be read in two ways is asked about."""

    widget = forms.TextInput(attrs={"inputmode": "decimal"})

    def to_python(self, value: Any) -> Any:
        text = "" if value is None else str(value).strip()
        text = text.removesuffix(getattr(self, "unit", "")).rstrip()
        if not text:
            return None
        typed = text if text.endswith("%") else self.read(text)
        if isinstance(typed, str):
            raise forms.ValidationError(number_problem(typed), code="invalid")
        return typed

    def read(self, text: str) -> int | float | str:
        return number(text)


class BudgetField(NumberField):
    """An amount that nobody gives to a tenth of a cent: of `50.000` is asked what it means.
    Its value is the amount as projects store it, a text that is empty for none."""

    def read(self, text: str) -> int | float | str:
        return number(spell_out(text))

    def clean(self, value: Any) -> Any:
        amount = super().clean(value)
        return "" if amount is None else str(amount)


class LinesField(forms.CharField):
    """Text of several lines, whose ends are one character, as the box counts; browsers send two."""

    widget = forms.Textarea(attrs={"rows": 2})

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return "\n".join(text.split("\r\n")) if isinstance(text, str) else text


class Form(forms.Form):
    """Fields with a unit behind the box, `money` being the `currency`, and ids that stay apart on
    a page with several forms."""

    units: ClassVar[Mapping[str, str]] = {}

    def __init__(self, *args: Any, currency: str = "USD", **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        kwargs.setdefault("auto_id", f"{type(self).__name__.removesuffix('Form').lower()}-%s")
        super().__init__(*args, **kwargs)
        for name, unit in self.units.items():
            self.fields[name].unit = unit.replace("money", currency)  # type: ignore[attr-defined]


register = template.Library()


@register.filter
def styled(field: BoundField) -> SafeString:
    widget = field.field.widget
    css = "form-select" if isinstance(widget, forms.Select) else "form-control"
    if isinstance(widget, forms.CheckboxInput):
        css = "form-check-input"
    return field.as_widget(attrs={"class": f"{css} is-invalid" if field.errors else css})


@register.filter
def is_check(field: BoundField) -> bool:
    return isinstance(field.field.widget, forms.CheckboxInput)


@register.filter
def is_group(field: BoundField) -> bool:
    return isinstance(field.field.widget, forms.CheckboxSelectMultiple | forms.RadioSelect)


@register.filter
def is_wide(field: BoundField) -> bool:
    return isinstance(field.field.widget, forms.Textarea) or is_group(field)


@register.filter
def button_class(attrs: Mapping[str, Any]) -> str:
    """The classes of a button that an account page names by tags and type."""
    tags = str(attrs.get("tags") or "")
    if "delete" in tags or "danger" in tags:
        return "btn btn-danger"
    is_main = attrs.get("type") == "submit" and tags and "secondary" not in tags
    return "btn btn-primary" if is_main else "btn"


_HEAD = re.compile(r"(?:([a-z-]+):)?(.+)", re.DOTALL)


@register.simple_block_tag
def table_of(content: str, label: str, css: str = "card-table stacked") -> SafeString:
    """A table that scrolls sideways where it is wide. The heads of its columns end with `||`,
    each behind its class where it has one: `Name | num:Budget ||`, then come the rows."""
    heads, _, rows = content.partition("||")
    columns = [_HEAD.fullmatch(one.strip()) for one in heads.split("|")]
    context = {"label": label, "css": css, "rows": _of_template(rows)}
    shown = [(one[1], _of_template(one[2])) for one in columns if one]
    return render_to_string("parts/table.html", {**context, "heads": shown})


def _of_template(part: str) -> SafeString:
    return mark_safe(part)  # noqa: S308 - what a template drew, in which variables are escaped


@register.inclusion_tag("parts/press.html", takes_context=True)
def press(
    context: Context, verb: str, what: object, rows: str, row: Any, action: str,
    css: str = "btn btn-sm", stays: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """A button that does something to one row of the team at once, and comes back to this page
    unless the row is what the page is about and goes."""
    return {
        "verb": verb,
        "what": what,
        "css": css,
        "address": reverse("act", args=[context["team"].slug, rows, row.pk, action]),
        "next": context["request"].path if stays else "",
        "version": getattr(row, "version", None),
        "csrf_token": context.get("csrf_token"),
    }
