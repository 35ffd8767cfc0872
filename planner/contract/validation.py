"""A request's shape: strict models, and refusals in plain words. PURE.

Every model of a request builds on `RequestModel`; `parse` and `in_plain_words` turn pydantic's
errors into one `InvalidInput` that names the field, what is wrong and what is allowed.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Self, TypeVar, cast, get_args, get_origin

from pydantic import (
    AllowInfNan,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import ErrorDetails, core_schema

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
from pricing.market.offers import PurchaseOption

Slug = Annotated[str, Field(min_length=1, max_length=100)]
_MONTH = {"type": "string", "pattern": r"^\d{4}-(0[1-9]|1[0-2])$"}
_LENGTHS = {"minLength": "minItems", "maxLength": "maxItems"}
"""pydantic gives a converted array's bounds in the words for text."""
_JSON_SCHEMA_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
}


def to_json_schema(part: Any) -> Any:
    """pydantic's schema in JSON Schema's words: bounds that it left in its own, months as
    they are written (the request models hold no other dates)."""
    if isinstance(part, list):
        return [to_json_schema(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "array":
        part = {_LENGTHS.get(name, name): value for name, value in part.items()}
    if part.get("format") == "date":
        return {k: v for k, v in part.items() if k not in ("format", "type")} | _MONTH
    if "properties" in part:
        part = part | {"properties": _with_short_forms(part["properties"])}
    return {
        _JSON_SCHEMA_BOUNDS.get(name, name): to_json_schema(value) for name, value in part.items()
    }


def _with_short_forms(fields: dict[str, Any]) -> dict[str, Any]:
    """What the request models' readers also take, which pydantic's schema leaves out."""
    hours = fields.get("hours_per_month", {})
    if "items" in hours:
        every = hours["items"] | {"description": "The same in every month."}
        fields = fields | {"hours_per_month": {"anyOf": [every, hours]}}
    peak = fields.get("peak_accelerators", {})
    for kind in peak.get("anyOf", ()):
        if "items" in kind:
            every = kind["items"] | {"description": "The same in every month with hours."}
            fields = fields | {"peak_accelerators": peak | {"anyOf": [every, *peak["anyOf"]]}}
    rates = fields.get("exchange_rates", {})
    if isinstance(rate := rates.get("additionalProperties"), dict) and "$ref" in rate:
        plain = {"type": "number", "gt": 0, "description": "Units of the currency per US dollar."}
        wider = {"additionalProperties": {"anyOf": [plain, rate]}}
        fields = fields | {"exchange_rates": rates | wider}
    return fields


class RequestModel(BaseModel):
    """Base of everything a request holds: strict types, no unknown field, frozen."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    def _refusals(self) -> Iterator[InvalidInput]:
        """What its values cannot say together; the first is raised."""
        yield from ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for refusal in self._refusals():
            raise refusal
        return self


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
    # Dotted path of `loc` without the parts by which pydantic names a member of a union. The
    # first part inside an object that is its own kind is one, even where a field has that name.
    loc = detail["loc"]
    kind = detail["type"]
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
    path = ".".join(parts)
    if isinstance(cause, InvalidInput):
        yield from (r.under(path) if path else r for r in cause.all())
        return
    if detail["type"].startswith("union_tag"):
        tag = str(detail.get("ctx", {}).get("discriminator", "kind")).strip("'")
        path = f"{path}.{tag}".lstrip(".")
    yield InvalidInput(path, _message(model, detail, cause), (), _code(kind))


def _leads_on(here: object, part: int | str) -> bool:
    if isinstance(here, Mapping):
        return part in here
    return isinstance(here, list | tuple) and isinstance(part, int) and part < len(here)


def _code(kind: str) -> str:
    if kind in _BOUNDS or kind in _LENGTH_KINDS:
        return "out_of_range"
    return "wrong_type" if kind in _TYPES else _CODES.get(kind, "invalid")


_CODES = {
    "missing": "required",
    "union_tag_not_found": "required",
    "extra_forbidden": "unknown_field",
    "literal_error": "unknown_value",
    "enum": "unknown_value",
    "union_tag_invalid": "unknown_value",
}
_LENGTH_KINDS = ("too_short", "too_long", "string_too_short", "string_too_long")


def _message(model: type[BaseModel], detail: ErrorDetails, cause: object) -> str:
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if isinstance(cause, ValueError):
        return str(cause)
    if kind in ("missing", "union_tag_not_found"):
        return "is required"
    if kind == "extra_forbidden":
        loc = detail["loc"]
        return describe_unknown(model, _model_at(model, loc[:-1]), loc)
    if kind in ("literal_error", "enum"):
        expected = str(context["expected"]).replace("'", "")
        return f"{shown(value)} is not known; allowed are {expected}"
    if kind == "union_tag_invalid":
        expected = str(context["expected_tags"]).replace("'", "")
        return f"{shorten(str(context['tag']))} is not known; allowed are {expected}"
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


MAX_MONEY = 1e12
"""Most that one amount may be, in any currency."""


def entries(value: object) -> object:
    """A JSON list as the tuple that frozen models hold."""
    return tuple(value) if isinstance(value, list) else value


def _purchase_option(value: object) -> object:
    if isinstance(value, str):
        allowed = [option.value for option in PurchaseOption]
        if value not in allowed:
            known = ", ".join(allowed)
            raise ValueError(f"{shown(value)} is not a purchase option; allowed are {known}")
        return PurchaseOption(value)
    return value


def _currency(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"[A-Z]{3}", value):
        raise ValueError(f"{shown(value)} is not a currency code of three capitals, such as EUR")
    return value


Money = Annotated[Number, Field(ge=0, le=MAX_MONEY), DECIMAL_TEXT]
Price = Annotated[Number, Field(ge=0, le=1e9), DECIMAL_TEXT]
"""Money for an hour, a kW-month or the like."""
Rate = Annotated[Number, Field(ge=0, le=1), DECIMAL_TEXT]
Trend = Annotated[Number, Field(ge=-0.9, le=1), DECIMAL_TEXT]
"""Change per year as a fraction: −0.15 falls by 15 % a year."""
CostRate = Annotated[Number, Field(ge=0, le=10), DECIMAL_TEXT]
"""A cost as a fraction of another one, which it may exceed."""
Deviation = Annotated[Number, Field(ge=0, le=3), DECIMAL_TEXT]
"""A standard deviation, as a fraction."""
Text = Annotated[str, Field(min_length=1, max_length=200)]
Option = Annotated[PurchaseOption, BeforeValidator(_purchase_option)]
Currency = Annotated[str, BeforeValidator(_currency), Field(pattern=r"^[A-Z]{3}$")]
Item = TypeVar("Item")
Entries = Annotated[tuple[Item, ...], BeforeValidator(entries), Field(strict=False)]
"""A list of entries of one kind."""
Names = Annotated[Entries[Slug], Field(min_length=1, max_length=200)]
Options = Annotated[Entries[Option], Field(min_length=1, max_length=20)]


def describe_unknown(
    root: type[BaseModel], owner: type[BaseModel] | None, loc: Sequence[int | str]
) -> str:
    """That the field at `loc` of `root` is not known, with what was meant or what is allowed; in
    `owner`, the model that it stands in."""
    name = str(loc[-1])[:SHOWN_LENGTH]
    fields = owner.model_fields if owner else {}
    allowed = sorted(field.alias or key for key, field in fields.items())
    meant = " or ".join(sorted(set(_paths_named(root, name, loc))))
    hint = f"; did you mean {meant}?" if meant else _of_kind(root, name, loc)
    listed = f"; allowed are {', '.join(allowed)}" if allowed else ""
    return f"is not a known field{hint or closest(name, allowed) or listed}"


def closest(value: str, allowed: Sequence[str]) -> str:
    """`; did you mean …?` when something allowed is close, else nothing.

    >>> closest("tokns", ("tokens", "layers"))
    '; did you mean tokens?'
    """
    near = difflib.get_close_matches(value, allowed, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _paths_named(root: type[BaseModel], name: str, loc: Sequence[int | str]) -> Iterator[str]:
    """Where else than at `loc` a request has a field of this name: at its top, or one step below
    it."""
    if name in root.model_fields:
        yield f"{name}, at the top of the request"
    for key, field in root.model_fields.items():
        if key == loc[0] or any(
            get_origin(one) in (tuple, dict)
            for one in (field.annotation, *get_args(field.annotation))
        ):
            continue
        for model in models_in(field.annotation):
            if name in model.model_fields:
                yield f"{key}.{name}"


def _of_kind(root: type[BaseModel], name: str, loc: Sequence[int | str]) -> str:
    """`; it belongs to kind …` where another member of the same union has the field."""
    field = root.model_fields.get(str(loc[0])) if len(loc) > 1 else None
    members = [] if field is None else list(models_in(field.annotation))
    kinds = [str(tag) for m in members if name in m.model_fields for tag in tags(m)]
    return f"; it belongs to kind {' or '.join(kinds)}" if kinds else ""


def tags(model: type[BaseModel]) -> tuple[object, ...]:
    """The kinds by which a member of a union is told from the others."""
    field = model.model_fields.get("kind")
    return get_args(field.annotation) if field else ()


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        if issubclass(annotation, BaseModel):
            yield annotation
        return
    for argument in get_args(annotation):
        yield from models_in(argument)


T = TypeVar("T")


def with_value(part: T, path: str, value: object) -> T:
    """A request, or a part of it, with another value at a path.

    >>> from planner.contract.request.on_prem import OnPrem
    >>> own = OnPrem.model_validate({"already_owned": [{"server": "dgx-h100", "units": 4}]})
    >>> with_value(own, "already_owned.0.units", 2).already_owned[0].units
    2
    >>> with_value(own, "already_owned", ()).already_owned
    ()
    """
    first, _, rest = path.partition(".")
    if isinstance(part, tuple):
        at = int(first)
        return cast(T, (*part[:at], with_value(part[at], rest, value), *part[at + 1 :]))
    assert isinstance(part, RequestModel)
    changed = with_value(getattr(part, first), rest, value) if rest else value
    return cast(T, part.model_copy(update={first: changed}))
