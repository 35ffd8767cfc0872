"""What each field of the API means, in the OpenAPI document: `field_meanings.csv` says it for those
that their models do not. A field without a component means the same wherever it stands."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from drf_spectacular.hooks import postprocess_schema_enums

from planner.api.conventions import CONVENTIONS
from pricing.api.pages import CursorPages

TABLE = "field_meanings.csv"
PAGE_SIZE = {"minimum": 1, "maximum": CursorPages.max_page_size, "default": CursorPages.page_size}


def describe_fields(result: Any, generator: Any, **options: Any) -> Any:
    """The document with enums as components of their own, what holds for all operations, and a
    meaning for every field."""
    document = postprocess_schema_enums(result, generator, **options)  # type: ignore[no-untyped-call]
    document["info"]["description"] = CONVENTIONS
    meanings = read_meanings()
    for name, component in document["components"]["schemas"].items():
        for field, schema in component.get("properties", {}).items():
            meaning = meanings.get((name, field)) or meanings.get(("", field))
            if meaning and "description" not in schema:
                schema["description"] = meaning
            if {"type": "string", "maxLength": 0} in schema.get("oneOf", ()):
                # Empty text is of both kinds for whoever does not look at formats, as by default.
                schema["anyOf"] = schema.pop("oneOf")
    for operation in (o for path in document["paths"].values() for o in path.values()):
        for parameter in operation.get("parameters", ()):
            if parameter["name"] == CursorPages.page_size_query_param:
                parameter["schema"] |= PAGE_SIZE
    return document


@cache
def read_meanings() -> Mapping[tuple[str, str], str]:
    """Component and field → meaning; no component: wherever the field stands."""
    lines = files("planner.api").joinpath(TABLE).read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    return MappingProxyType({(row["component"], row["field"]): row["meaning"] for row in rows})
