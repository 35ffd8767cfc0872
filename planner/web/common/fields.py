"""The fields of a request as pages name them: drawn from its schema, with words of the reader's
where the schema's own name and unit do not do."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from planner.contract.amounts import name_day, name_month
from planner.contract.labels import accelerator_name
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.validation import to_json_schema
from planner.costing.assumptions.assumptions import all_defaults
from planner.web.common.choices import Choice, list_choices, list_values
from planner.web.common.query_codec import SCALE_WORDS, SCALES, field_type, schema_forms, to_pattern
from pricing.common.bounded import number_problem, read_decimal
from pricing.common.tables import read_table


@dataclass(frozen=True)
class Field:
    """`unit` stands behind the box, `typical` inside it while empty."""

    path: str
    label: str
    kind: str = "number"
    """text, number, numbers, choices, choice, month, json."""
    unit: str = ""
    typical: str = ""
    help: str = ""
    choices: str = ""
    """Name of the list of choices in `planner.web.common.choices`."""
    values: tuple[str, ...] = ()
    """What the schema allows, where it lists that."""
    scale: str = ""
    """Suffix of the name in the address: pct, bn, …; see `planner.web.common.query_codec`."""
    term: str = ""
    """Entry of the glossary that explains the label."""

    @property
    def name(self) -> str:
        return f"{self.path}~{self.scale}" if self.scale else self.path

    @property
    def default(self) -> str:
        """Field of the core's defaults, whose value and source are shown."""
        last, is_row = self.path.rpartition(".")[2], "*" in to_pattern(self.path)
        return last if last in all_defaults() and not is_row and not self.typical else ""

    @cached_property
    def options(self) -> list[Choice]:
        if self.choices:
            return list_choices(self.choices)
        return list_values(self.path.rpartition(".")[2], self.values)

    def unit_as(self, name: str) -> str:
        scale = name.partition("~")[2]
        if scale == self.scale:
            return self.unit
        if not scale:
            return "as a fraction" if self.scale == "pct" else ""
        words = SCALE_WORDS.get(scale, "")
        if self.scale:
            return self.unit.replace(SCALE_WORDS[self.scale], words, 1)
        return f"{words} {self.unit}".strip()


@dataclass(frozen=True)
class Words:
    """What `field_words.csv` says of a field, or of all fields of rows with a name: `*.server`."""

    path: str
    label: str = ""
    unit: str = ""
    typical: str = ""
    scale: str = ""
    choices: str = ""
    term: str = ""
    help: str = ""
    """`-` for none; absent: what the schema says of the field."""


_WORDS = {one.path: one for one in read_table(Path(__file__).parent / "field_words.csv", Words)}
"""Of fields whose name in the schema does not tell a reader enough: `on_prem.lead_time_months` is
"Lead time" in months without it."""
_UNITS: tuple[tuple[str, str], ...] = (
    ("_per_kwh", "money/kWh"), ("_per_kw_month", "money/kW/month"), ("_per_year", "a year"),
    ("_per_month", "money/month"), ("_months", "months"), ("_gib", "GiB"), ("_kw", "kW"),
    ("_hours", "h"), ("_days", "days"), ("_seconds", "s"), ("_tokens", "tokens"), ("days", "days"),
)  # fmt: skip
"""What the end of a name says of its unit."""
_MONEY_FROM = 1e6
"""A decimal that may be as large is an amount; one of at most 10 is a share or a factor."""
_SHARE_ENDS = ("_rate", "_sd")
SUGGESTED = "models"
"""Choices beside which any other text may be typed."""
Schema = Mapping[str, Any]
_SCHEMA: Schema = to_json_schema(ComparisonRequest.model_json_schema())
_DEFINITIONS: Schema = _SCHEMA["$defs"]


def _walk(path: str, schema: Schema, kind: str = "") -> Iterator[tuple[str, str, Schema]]:
    for form in schema_forms(schema, _DEFINITIONS):
        below = form.get("properties", {})
        own = below.get("kind", {}).get("const", kind) if path == "workload" else kind
        for name, part in below.items():
            yield from _walk(f"{path}.{name}" if path else name, part, own)
        if "patternProperties" in form or isinstance(form.get("additionalProperties"), Mapping):
            yield f"{path}.**", kind, {"type": "number"}
        if form.get("type") == "array":
            yield from _walk(f"{path}.*", form.get("items", {}), kind)
    if path:
        yield path, kind, schema


def _build(path: str, of_work: str, schema: Schema) -> Field:
    forms, last = list(schema_forms(schema, _DEFINITIONS)), path.rpartition(".")[2]
    of_rows = _WORDS.get(f"*.{last}") if "*" in path else None
    words = _WORDS.get(f"{of_work}:{path}") or _WORDS.get(path) or of_rows or Words(path)
    values = tuple(one for form in forms for one in form.get("enum", ()))
    kind = field_type(forms, _DEFINITIONS)
    if kind == "flag":
        kind, values = "choice", ("true", "false")
    elif kind == "text" and any("-(0[1-9]" in form.get("pattern", "") for form in forms):
        kind = "month"
    elif kind == "text" and (values or words.choices not in ("", SUGGESTED)):
        kind = "choice"
    elif kind == "choices" and not words.choices:
        kind = "text"
    end = next((end for end, _ in _UNITS if last.endswith(end)), "")
    label = words.label or last.removesuffix(end).replace("_", " ")
    described = "" if "*" in path else _trim(schema.get("description", ""))
    help = words.help.strip("-") if words.help else described
    return Field(
        path=path,
        label=label[:1].upper() + label[1:],
        kind=kind,
        unit=words.unit or _unit(last, forms),
        typical=words.typical,
        help=help,
        choices=words.choices,
        values=values,
        scale=words.scale or _scale(last, forms),
        term=words.term,
    )


def _most(forms: list[Schema]) -> float | None:
    bounds = ("maximum", "exclusiveMaximum")
    return next((float(one[b]) for one in forms for b in bounds if b in one), None)


def _scale(last: str, forms: list[Schema]) -> str:
    most = _most(forms)
    is_number = any(one.get("type") == "number" for one in forms)
    if not is_number or most is None or last == "multiplier":
        return ""
    return "pct" if most <= 1 or (most <= 10 and last.endswith(_SHARE_ENDS)) else ""


def _unit(last: str, forms: list[Schema]) -> str:
    end = next((unit for end, unit in _UNITS if last.endswith(end)), "")
    if _scale(last, forms):
        return f"% {end}".strip()
    most, is_decimal = _most(forms) or 0, any(one.get("type") == "string" for one in forms)
    if is_decimal and most >= _MONEY_FROM:
        return f"money/{end[2:]}" if end == "a year" else end or "money"
    return "" if end.startswith(("money", "a ")) else end


def _trim(description: str) -> str:
    first = re.split(r"; (?:absent|required)|, 0 to 1|, fraction", description)[0]
    first = first.replace("as a fraction of", "as a share of").replace("`", "").strip()
    return f"{first.rstrip('.')}." if first else ""


_WALKED = [(path, kind, _build(path, kind, schema)) for path, kind, schema in _walk("", _SCHEMA)]
KIND_FIELDS: dict[str, dict[str, Field]] = {}
"""Kind of work → its fields, by path."""
for _path, _kind, _field in _WALKED:
    if _kind:
        KIND_FIELDS.setdefault(_kind, {})[_path] = _field
_FIELDS: dict[str, Field] = {**KIND_FIELDS["training"]}
for _path, _, _field in _WALKED:
    _FIELDS.setdefault(_path, _field)
FIELD_TYPES: dict[str, str] = {
    path: field_type(list(schema_forms(schema, _DEFINITIONS)), _DEFINITIONS)
    for path, _, schema in _walk("", _SCHEMA)
}
"""Type of value by path, for `planner.web.common.query_codec.read`."""
SINGLE = tuple(
    field
    for path, field in _FIELDS.items()
    if "*" not in path and FIELD_TYPES[path] != "nothing" and not path.endswith(".kind")
)
"""Fields that stand once in a request."""
_BY_LAST = {field.path.rpartition(".")[2]: field for field in reversed(SINGLE)}


def fields_below(path: str) -> list[Field]:
    """The single fields of a section, or of each row of a group: `finance`, `custom_offers.*`."""
    depth = path.count(".") + 1
    return [
        field
        for name, field in _FIELDS.items()
        if name.startswith(f"{path}.")
        and name.count(".") == depth
        and FIELD_TYPES[name] != "nothing"
        and "**" not in name
    ]


def usual_share(path: str) -> float | None:
    """Of a share the default that the core has, 0 where it has none; None of anything else, and
    of what changes or costs a year, which may be as little as half a per cent."""
    field = find_field(path)
    if field is None or field.scale != "pct":
        return None
    usual = all_defaults()[field.default].value if field.default else 0.0
    return None if not usual and path.endswith("_per_year") else usual


_PARTS = "constraints|data|existing|finance|on_prem|risk|workload"
_NAME = re.compile(
    rf"(?<![\w'\"“./])((?:{_PARTS})\.[a-z]\w*|[a-z]+(?:_[a-z0-9]+)+)"
    r"(?: \"(\w+)\")?(?![\w'\"”/]|\.\w)"
)
_MONTH = re.compile(r"(?<![\w.:/-])\d{4}-(?:0[1-9]|1[0-2])(?![\w/-]|:\S)")
"""A month as requests write it, which is no part of a day, a span or a name."""
_DAY = re.compile(r"(?<![\w.:/-])\d{4}-\d{2}-\d{2}(?![\w/-]|:\S)")


def _label_name(named: re.Match[str]) -> str:
    name, value = named.groups()
    field = _FIELDS.get(name) or _BY_LAST.get(name)
    if field is None:
        return named[0]
    if not value:
        return f"“{field.label}”"
    return f"“{field.label}” set to “{dict(field.options).get(value, value)}”"


def name_dates(text: str) -> str:
    return _MONTH.sub(lambda month: name_month(month[0]), _DAY.sub(_name_day, text))


def _name_day(written: re.Match[str]) -> str:
    try:
        return name_day(dt.date.fromisoformat(written[0]))
    except ValueError:
        return written[0]


_UNKNOWN, _MOST_SHOWN = "is not a known field", 60
_SLUG = re.compile(r"(?<![\w'\"“./:-])(?:amd|aws|google|intel|nvidia)-[a-z0-9-]*[a-z0-9]")
_BOUND = re.compile(r"(\S+) is not allowed; must be (more than|at least|less than|at most) (\S+)")


def find_field(path: str, kind: str = "") -> Field | None:
    """The field of a path, in the words of a kind of work where it is of one."""
    pattern = to_pattern(path)
    own = KIND_FIELDS.get(kind, {}).get(pattern)
    return own or _FIELDS.get(pattern) or _FIELDS.get(pattern.removesuffix(".*"))


def find_label(path: str) -> str:
    """The form's label of a field of the request; the field's name in words where it has none."""
    field = find_field(path)
    return field.label if field else path.replace(".", " › ").replace("_", " ")


def in_field_unit(path: str, message: str) -> str:
    """A refusal of the core as the box of its field is read: `140%` for a share of 1.4, and other
    fields by their labels.
    """
    if message.startswith(_UNKNOWN):
        typed = path if len(path) <= _MOST_SHOWN else f"{path[:_MOST_SHOWN]}…"
        named = {name: field.label for name, field in _BY_LAST.items()}
        named |= {field.label.lower(): field.label for field in SINGLE}
        last = path[-_MOST_SHOWN:].rpartition(".")[2].lower()
        near = get_close_matches(last, named, n=1)
        hint = f"did you mean “{named[near[0]]}”?" if near else "take it out of the address"
        return f"the address gives “{typed}”, which names no question; {hint}"
    field, refused = find_field(path), _BOUND.fullmatch(message)
    if field is None or refused is None or not field.scale:
        return _label_fields(message)
    value, words, limit = refused.groups()
    if number_problem(value) or number_problem(limit):
        return message
    unit = "%" if field.scale == "pct" else f" {field.unit}".rstrip()
    typed, bound = (
        f"{(read_decimal(text) / SCALES[field.scale]).normalize():f}{unit}"
        for text in (value, limit)
    )
    return f"{typed} is not allowed; must be {words} {bound}"


def with_labels(text: str) -> str:
    """A sentence of the core with the fields that it names as the form labels them, accelerators
    by their names, and days and months in words.
    """
    return name_dates(_label_fields(text))


def _label_fields(text: str) -> str:
    named = _NAME.sub(_label_name, text)
    return _SLUG.sub(lambda slug: accelerator_name(slug[0]), named)
