"""What Django refuses of a box, in our words: the box by its label, the value as it was typed, and
what would do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django import forms
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.forms.boundfield import BoundField

from pricing.common.bounded import shorten

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
    """Each refusal of a box; one that is in our words already stays as it is."""
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
        return _describe_missing(field, name)
    describe = _BY_CODE.get(code)
    return describe(field, name, error) if describe else ""


def _is_of_the_framework(field: forms.Field, error: ValidationError) -> bool:
    """Whether the sentence is one that Django gives every form, and none of ours."""
    message = error.message
    own = [field.error_messages.get(error.code or "")]
    own += [getattr(validator, "message", None) for validator in field.validators]
    return any(message is one or message == one for one in own if one is not None)


def _describe_missing(field: BoundField, name: str) -> str:
    kind = field.field
    if isinstance(kind, forms.FileField):
        return f"No file is chosen under {name}; choose one."
    if isinstance(kind, forms.MultipleChoiceField):
        return f"Nothing is ticked under {name}; tick at least one."
    if isinstance(kind, forms.ChoiceField):
        return f"Nothing is chosen under {name}; choose one of the list."
    return f"{name} is empty; fill it in."


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
    labels = [str(label) for value, label in _choices(field.field) if value != ""]
    listed = ", ".join(labels) if 0 < len(labels) <= MOST_CHOICES else "one of the list"
    typed = shorten(str((error.params or {}).get("value", _typed(field))))
    return f"{typed} is no choice under {name}; choose {listed}."


def _choices(field: Any) -> list[tuple[Any, Any]]:
    return list(field.choices)


def _describe_empty_file(field: BoundField, name: str, error: ValidationError) -> str:
    file = getattr(field.data, "name", "")
    return f"The file {shorten(file)} under {name} is empty; choose another."


def _describe_nul(field: BoundField, name: str, error: ValidationError) -> str:
    return f"{name} holds a NUL character, which nobody sees; type it again."


_BY_CODE: dict[str, Callable[[BoundField, str, ValidationError], str]] = {
    "max_length": _describe_length,
    "min_value": _describe_bounds,
    "max_value": _describe_bounds,
    "invalid": _describe_kind,
    "invalid_choice": _describe_choice,
    "invalid_list": _describe_choice,
    "empty": _describe_empty_file,
    "missing": _describe_kind,
    "null_characters_not_allowed": _describe_nul,
}


def _typed(field: BoundField) -> str:
    return "" if field.data is None else str(field.data)


def _shown(field: BoundField) -> str:
    """A value as it was typed, with the unit behind its box."""
    unit = getattr(field.field, "unit", "")
    return f"{shorten(_typed(field))}{f' {unit}' if unit else ''}"
