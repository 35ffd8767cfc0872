"""What every form of the pages shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django import forms, template
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.forms.boundfield import BoundField
from django.utils.safestring import SafeString

from planner.web.common.query_codec import number
from pricing.common.bounded import number_problem, shorten, spell_out


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

    def __init__(self, rows: int = 2, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": rows}), **options)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return "\n".join(text.split("\r\n")) if isinstance(text, str) else text


class Form(forms.Form):
    """Fields with a unit behind the box, ids that stay apart on a page with several forms."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        kwargs.setdefault("auto_id", f"{type(self).__name__.removesuffix('Form').lower()}-%s")
        super().__init__(*args, **kwargs)

    def unit(self, **units: str) -> None:
        for name, unit in units.items():
            self.fields[name].unit = unit  # type: ignore[attr-defined]


register = template.Library()


@register.filter
def styled(field: BoundField) -> SafeString:
    widget = field.field.widget
    css = "form-select" if isinstance(widget, forms.Select) else "form-control"
    if isinstance(widget, forms.CheckboxInput):
        css = "form-check-input"
    return field.as_widget(attrs={"class": f"{css} is-invalid" if field.errors else css})


@register.filter
def refusals(field: BoundField) -> list[str]:
    return list(describe_refusals(field))


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
    """The classes of a button that an account page names by tags and type.

    >>> button_class({"tags": "delete", "type": "submit"}), button_class({"type": "submit"})
    ('btn btn-danger', 'btn')
    >>> button_class({"tags": "prominent,login", "type": "submit"})
    'btn btn-primary'
    """
    tags = str(attrs.get("tags") or "")
    if "delete" in tags or "danger" in tags:
        return "btn btn-danger"
    is_main = attrs.get("type") == "submit" and tags and "secondary" not in tags
    return "btn btn-primary" if is_main else "btn"


MOST_CHOICES = 8
"""Choices of a list that a refusal names; of a longer one it says that there is one."""
_KINDS: tuple[tuple[type[forms.Field], str], ...] = (
    (forms.IntegerField, "a whole number; type one such as 30"),
    (forms.FloatField, "a number; type one such as 12.5"),
    (forms.DateField, "a day; type one such as 2026-11-20"),
    (forms.EmailField, "an address of mail; type one such as ada@example.com"),
    (forms.SlugField, "a short name; use letters, digits, - and _, such as our-h100"),
    (forms.URLField, "a web address; type one such as https://example.com/hook"),
)
"""The first that a box is, and what a value of another kind is not."""
_PASSWORDS = {
    "password_too_short": "is too short; type at least {min_length} characters",
    "password_too_common": "is one of the most common passwords, which are tried first; type "
    "several words",
    "password_entirely_numeric": "has digits alone; add letters",
    "password_too_similar": "is nearly the {verbose_name}; type one that has nothing of it",
}


def describe_refusals(field: BoundField) -> Iterator[str]:
    for error in field.errors.as_data():
        words = _describe(field, error)
        yield words or " ".join(error.messages)


def _describe(field: BoundField, error: ValidationError) -> str:
    code, name = error.code or "", f"“{field.label}”"
    if code in _PASSWORDS:
        return f"{name} {_PASSWORDS[code].format(**(error.params or {}))}."
    if error.message == UnicodeUsernameValidator.message:
        return f"{name} was given as {_shown(field)}; use letters, digits, @ . + - and _ alone."
    if not _is_of_the_framework(field.field, error):
        return ""
    if code == "required":
        kind = field.field
        if isinstance(kind, forms.FileField):
            return f"No file is chosen under {name}; choose one."
        if isinstance(kind, forms.MultipleChoiceField):
            return f"Nothing is ticked under {name}; tick at least one."
        if isinstance(kind, forms.ChoiceField):
            return f"Nothing is chosen under {name}; choose one of the list."
        return f"{name} is empty; fill it in."
    describe = _BY_CODE.get(code)
    return describe(field, name, error) if describe else ""


def _is_of_the_framework(field: forms.Field, error: ValidationError) -> bool:
    message = error.message
    own = [field.error_messages.get(error.code or "")]
    own += [getattr(validator, "message", None) for validator in field.validators]
    return any(message is one or message == one for one in own if one is not None)


def _describe_length(field: BoundField, name: str, error: ValidationError) -> str:
    params, most = error.params or {}, field.field.max_length  # type: ignore[attr-defined]
    length = params.get("show_value") or params.get("length") or len(_typed(field))
    return (
        f"{name} has {length:,} characters, of which at most {most:,} are allowed; take out "
        f"{length - most:,}."
    )


def _describe_bounds(field: BoundField, name: str, error: ValidationError) -> str:
    return f"{name} cannot be {_shown(field)}; type {_bounds(field.field)}."


def _bounds(field: Any) -> str:
    """
    >>> _bounds(forms.IntegerField(min_value=1, max_value=90))
    '1 to 90'
    >>> _bounds(forms.FloatField(max_value=1000))
    'at most 1,000'
    """
    least, most = field.min_value, field.max_value
    if least is not None and most is not None:
        return f"{least:,} to {most:,}"
    return f"at least {least:,}" if most is None else f"at most {most:,}"


def _describe_kind(field: BoundField, name: str, error: ValidationError) -> str:
    if isinstance(field.field, forms.FileField):
        return f"The file under {name} did not arrive; choose it again."
    kind = next((words for kind, words in _KINDS if isinstance(field.field, kind)), "")
    return f"{name} was given as {_shown(field)}, which is not {kind}." if kind else ""


def _describe_choice(field: BoundField, name: str, error: ValidationError) -> str:
    choices: list[tuple[Any, Any]] = list(field.field.choices)  # type: ignore[attr-defined]
    labels = [str(label) for value, label in choices if value != ""]
    listed = ", ".join(labels) if 0 < len(labels) <= MOST_CHOICES else "one of the list"
    typed = shorten(str((error.params or {}).get("value", _typed(field))))
    return f"{typed} is no choice under {name}; choose {listed}."


_BY_CODE: dict[str, Callable[[BoundField, str, ValidationError], str]] = {
    "max_length": _describe_length,
    "min_value": _describe_bounds,
    "max_value": _describe_bounds,
    "invalid": _describe_kind,
    "invalid_choice": _describe_choice,
    "invalid_list": _describe_choice,
    "empty": lambda field, name, error: (
        f"The file {shorten(getattr(field.data, 'name', ''))} under {name} is empty; "
        "choose another."
    ),
    "missing": _describe_kind,
    "null_characters_not_allowed": lambda field, name, error: (
        f"{name} holds a NUL character, which nobody sees; type it again."
    ),
}


def _typed(field: BoundField) -> str:
    return "" if field.data is None else str(field.data)


def _shown(field: BoundField) -> str:
    unit = getattr(field.field, "unit", "")
    return f"{shorten(_typed(field))}{f' {unit}' if unit else ''}"
