"""A request's shape: strict models, and refusals in plain words. PURE.

Every model of a request builds on `RequestModel`; `parse` and `in_plain_words` turn pydantic's
errors into one `InvalidInput` that names the field, what is wrong and what is allowed.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import (
    AllowInfNan,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    ValidationError,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import ErrorDetails, core_schema

from planner.contract.unknown_fields import describe_unknown, models_in, tags
from pricing.common.bounded import (
    MAX_EXPONENT,
    MAX_NUMBER_LENGTH,
    NUMBER_PATTERN,
    SHOWN_LENGTH,
    ask_which,
    looks_like_number,
    number_problem,
    shorten,
)
from pricing.common.invalid_input import MAX_REFUSALS, InvalidInput


class RequestModel(BaseModel):
    """Base of everything a request holds: strict types, no unknown field, frozen."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


def _month(value: object) -> object:
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return value.replace(day=1)
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", value):
        raise ValueError(f"{shown(value)} is not a month; write it as YYYY-MM, such as 2027-01")
    if value < "1900":
        raise ValueError(f"{value} is before 1900-01; write the month as YYYY-MM")
    if value > "2199-12":
        raise ValueError(f"{value} is after 2199-12; write the month as YYYY-MM")
    return dt.date(int(value[:4]), int(value[5:]), 1)


def _usable(value: object) -> object:
    """Refuses a text that is a number, if one that nothing can compute with."""
    if isinstance(value, str) and looks_like_number(value) and (problem := number_problem(value)):
        raise ValueError(problem)
    return value


def _whole(value: object) -> object:
    _usable(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


SMALLEST_NUMBER = 1e-12
"""Products of a few such numbers, and quotients by them, are still finite."""


def _finite(value: object) -> object:
    _usable(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**MAX_EXPONENT:
        raise ValueError("a number this large cannot be used; allowed are numbers up to 1e300")
    if isinstance(value, float) and 0 < abs(value) < SMALLEST_NUMBER:
        raise ValueError(f"{value:g} is too small to count with; allowed are 0 and from 1e-12 up")
    return value


Month = Annotated[dt.date, BeforeValidator(_month)]
"""A month written YYYY-MM, held as its first day."""
Number = Annotated[float, Strict(), AllowInfNan(False), BeforeValidator(_finite)]
"""A finite number; booleans, text, NaN and infinity are refused."""
Whole = Annotated[int, Strict(), BeforeValidator(_whole)]
"""A whole number; 8.0 is 8, 8.5 and booleans are refused."""


def read_decimal(value: object) -> object:
    """The number that a decimal string writes; everything else as it is, to be judged later.

    >>> read_decimal("12.50"), read_decimal("1e9999"), read_decimal(True)
    (12.5, '1e9999', True)
    """
    if not isinstance(value, str) or number_problem(value):
        return value
    return _finite(float(value))


DECIMAL_TEXT_SCHEMA: JsonSchemaValue = {
    "type": "string",
    "maxLength": MAX_NUMBER_LENGTH,
    "pattern": f"^{NUMBER_PATTERN}$",
}
"""A number written as text."""


class _DecimalText:
    """Marks a number that may also be written as a decimal string."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(read_decimal, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), dict(DECIMAL_TEXT_SCHEMA)]}


DECIMAL_TEXT = _DecimalText()
"""Last annotation of an amount or rate: a JSON number or a decimal string."""

Model = TypeVar("Model", bound=BaseModel)


def parse(model: type[Model], data: object, field_prefix: str = "") -> Model:
    """`data` as `model`, or `InvalidInput` with every refusal found (`others`).

    >>> class Run(RequestModel):
    ...     tokens: Number
    >>> parse(Run, {"tokens": True}, "workload")
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: workload.tokens: true is not a number
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise in_plain_words(error, model, data, field_prefix) from None


def in_plain_words(
    error: ValidationError, model: type[BaseModel], data: object, field_prefix: str = ""
) -> InvalidInput:
    """What `model` refuses about `data`: the first refusal, with the rest in `others`."""
    details = error.errors(include_url=False)
    shown_details = details[: MAX_REFUSALS + 1]
    refusals = [one for detail in shown_details for one in _refusals(model, data, detail)]
    count = len(refusals) + len(details) - len(shown_details)
    return InvalidInput.together(
        (r.under(field_prefix) if field_prefix else r for r in refusals), count
    )


def shown(value: object) -> str:
    """A value as a message shows it: short, JSON's words, text in quotes.

    >>> shown(True), shown("x" * 90)[:12], shown(None), shown([1, 2])
    ('true', "'xxxxxxxxxxx", 'null', 'a list')
    """
    words = {True: "true", False: "false", None: "null"}
    if value is None or isinstance(value, bool):
        return words[value]
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return "a list"
    if isinstance(value, str):
        return shorten(value)
    text = repr(value) if not isinstance(value, dt.date) else value.isoformat()
    return text if len(text) <= SHOWN_LENGTH else f"{text[: SHOWN_LENGTH - 1]}…"


def _refusals(model: type[BaseModel], data: object, detail: ErrorDetails) -> Iterator[InvalidInput]:
    cause = detail.get("ctx", {}).get("error")
    path = _path(data, detail["loc"], detail["type"])
    if isinstance(cause, InvalidInput):
        yield from (r.under(path) if path else r for r in cause.all())
        return
    if detail["type"].startswith("union_tag"):
        path = f"{path}.{_tag_name(detail)}".lstrip(".")
    yield InvalidInput(path, _message(model, detail, cause))


def _path(data: object, loc: tuple[int | str, ...], kind: str) -> str:
    """Dotted path of `loc` without the parts by which pydantic names a member of a union. The
    first part inside an object that is its own kind is one, even where a field has that name."""
    parts: list[str] = []
    here, entered = data, None
    for i, part in enumerate(loc):
        if here is not entered and isinstance(here, Mapping) and here.get("kind") == part:
            entered = here
            continue
        is_missing_name = i == len(loc) - 1 and kind == "missing"
        if not (_leads_on(here, part) or is_missing_name):
            continue
        parts.append(str(part))
        here = None if is_missing_name else here[part]  # type: ignore[index]
    return ".".join(parts)


def _leads_on(here: object, part: int | str) -> bool:
    if isinstance(here, Mapping):
        return part in here
    return isinstance(here, list | tuple) and isinstance(part, int) and part < len(here)


def _message(model: type[BaseModel], detail: ErrorDetails, cause: object) -> str:
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if isinstance(cause, ValueError):
        return str(cause)
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        loc = detail["loc"]
        return describe_unknown(model, _model_at(model, loc[:-1]), loc)
    if kind in ("literal_error", "enum"):
        expected = str(context["expected"]).replace("'", "")
        return f"{shown(value)} is not known; allowed are {expected}"
    if kind.startswith("union_tag"):
        return _unknown_kind(detail)
    return _wrong_value(kind, shown(value), context, detail["msg"])


_TYPES = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "finite_number": "a finite number",
}
_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def _wrong_value(kind: str, value: str, context: Mapping[str, Any], fallback: str) -> str:
    if kind in ("float_type", "int_type") and (question := ask_which(value.strip("'"))):
        return question
    if kind in _TYPES:
        return f"{value} is not {_TYPES[kind]}{_as_number(kind, value)}"
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"{value} is not allowed; must be {words} {context[name]:g}"
    if kind == "too_short":
        return f"needs at least {context['min_length']} entries, not {context['actual_length']}"
    if kind == "too_long":
        return f"holds at most {context['max_length']} entries, not {context['actual_length']}"
    if kind == "string_too_long":
        return f"is longer than {context['max_length']} characters"
    if kind == "string_too_short":
        return "is empty"
    if kind == "string_pattern_mismatch":
        return f"{value} is not of the form {context['pattern']}"
    return f"{value}: {fallback[:1].lower()}{fallback[1:]}"


_AMOUNT = re.compile(
    r"'((?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(?:\.\d{1,6})?(?:e\+?\d{1,2})?) ?(m|b|bn|t)?'",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"'(\d{1,15}(?:\.\d{1,6})?) ?%'")
_MAGNITUDES = {"": 1.0, "m": 1e6, "b": 1e9, "t": 1e12}


def _as_number(kind: str, value: str) -> str:
    """How a text that means a number is written as one; nothing for any other.

    >>> _as_number("float_type", "'1.5B'"), _as_number("int_type", "'4,096'")
    ('; write 1500000000', '; write 4096')
    >>> _as_number("float_type", "'12.5%'")
    '; write 0.125'
    >>> _as_number("float_type", "'many'"), _as_number("bool_type", "'1'")
    ('', '')
    """
    percent = _PERCENT.fullmatch(value) if kind == "float_type" else None
    if percent:
        return f"; write {float(percent[1]) / 100:.15g}"
    match = _AMOUNT.fullmatch(value) if kind in ("float_type", "int_type") else None
    if match is None:
        return ""
    magnitude = _MAGNITUDES[(match[2] or "")[:1].lower()]
    return f"; write {float(match[1].replace(',', '')) * magnitude:.15g}"


def _tag_name(detail: ErrorDetails) -> str:
    """Field by which a union's members are told apart."""
    return str(detail.get("ctx", {}).get("discriminator", "kind")).strip("'")


def _unknown_kind(detail: ErrorDetails) -> str:
    if detail["type"] == "union_tag_not_found":
        return "is required"
    context = detail.get("ctx", {})
    expected = str(context["expected_tags"]).replace("'", "")
    return f"{shorten(str(context['tag']))} is not known; allowed are {expected}"


def _model_at(model: type[BaseModel], loc: Sequence[int | str]) -> type[BaseModel] | None:
    """The model that `loc` leads to: fields, list entries and union members on the way."""
    here: list[type[BaseModel]] = [model]
    for part in loc:
        members = [m for m in here if len(here) > 1 and (part == m.__name__ or part in tags(m))]
        if members:
            here = members
            continue
        fields = [m.model_fields[str(part)] for m in here if str(part) in m.model_fields]
        if fields:
            here = [m for field in fields for m in models_in(field.annotation)]
        elif isinstance(part, str):
            here = [m for m in here if part == m.__name__ or part in tags(m)] or here
    return here[0] if len(here) == 1 else None
