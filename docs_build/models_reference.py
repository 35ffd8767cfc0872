"""Reference tables of pydantic models: every field with its type, default and meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from docs_build.markdown_table import format_table

Mode = Literal["validation", "serialization"]
Schema = Mapping[str, Any]
BOUNDS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
}
SIZES = ("minItems", "at least"), ("maxItems", "at most")


@dataclass(frozen=True)
class FieldRow:
    """One field of one model, as the reference shows it."""

    model: str
    name: str
    type: str
    default: str
    meaning: str


def read_fields(models: Sequence[type[BaseModel]], mode: Mode) -> dict[str, list[FieldRow]]:
    """Model name → its fields, the models themselves first, then all that they contain."""
    fields: dict[str, list[FieldRow]] = {}
    for schema in _schemas(models, mode):
        title = schema["title"]
        fields.setdefault(title, list(_rows(schema)))
    return fields


def render_models(models: Sequence[type[BaseModel]], mode: Mode) -> str:
    """A section for each model, in the order in which they are reached."""
    sections = {schema["title"]: schema for schema in _schemas(models, mode)}
    return "\n\n".join(
        f"## {title}\n\n{' '.join(schema.get('description', '').split())}\n\n{_body(schema)}"
        for title, schema in sections.items()
    )


def _body(schema: Schema) -> str:
    if "enum" in schema:
        return f"One of {describe_type(schema)}."
    cells = ((f"`{r.name}`", r.type, r.default, r.meaning) for r in _rows(schema))
    return format_table(("field", "type", "default", "meaning"), cells)


def _schemas(models: Sequence[type[BaseModel]], mode: Mode) -> Iterator[Schema]:
    for model in models:
        schema = model.model_json_schema(mode=mode)
        yield schema
        yield from schema.get("$defs", {}).values()


def _rows(schema: Schema) -> Iterator[FieldRow]:
    required = schema.get("required", ())
    for name, value in schema.get("properties", {}).items():
        default = "required" if name in required else _default(value)
        meaning = value.get("description", "")
        yield FieldRow(schema["title"], name, describe_type(value), default, meaning)


def _default(value: Schema) -> str:
    default = value.get("default")
    if default is None or default == "" or isinstance(default, dict | list):
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def describe_type(value: Schema) -> str:
    """A JSON schema in words."""
    if "$ref" in value:
        reference = value["$ref"]
        name = reference.rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    for union in ("anyOf", "oneOf"):
        if union in value:
            return " or ".join(describe_type(option) for option in value[union])
    if "enum" in value:
        return ", ".join(f"`{option}`" for option in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    return " ".join([_plain_type(value), *_bounds(value)])


def _plain_type(value: Schema) -> str:
    kind = value.get("type", "any value")
    if kind == "array":
        items = value.get("items") or (value.get("prefixItems") or [{}])[0]
        return f"list of {describe_type(items)}"
    if kind == "object" and isinstance(value.get("additionalProperties"), Mapping):
        return f"object of {describe_type(value['additionalProperties'])}"
    if value.get("format") == "date":
        return "month or date"
    return "whole number" if kind == "integer" else str(kind)


def _bounds(value: Schema) -> Iterator[str]:
    for name, words in BOUNDS.items():
        if name in value:
            yield words.format(f"{value[name]:,.10g}")
    if value.get("type") != "array":
        return
    for name, words in SIZES:
        # pydantic calls the size of a list behind a validator a length
        size = value.get(name, value.get(name.replace("Items", "Length")))
        if size and size > 1:
            yield f"({words} {size:,})"
