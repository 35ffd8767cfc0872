"""The kind of value of every field of a comparison request, read off the request's own schema.

So the address of a page can hold whatever the API takes, whether or not the form has a box.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract.request.comparison import ComparisonRequest

Schema = Mapping[str, Any]


def request_field_types() -> dict[str, str]:
    """Path of each field → number, numbers, flag, choices, nothing or text; `*` is a position
    in a list, `**` whatever stands below a name.

    >>> types = request_field_types()
    >>> types["risk.residual_sd"], types["term_end"], types["on_prem.servers.*.unit_price"]
    ('number', 'text', 'number')
    """
    schema = ComparisonRequest.model_json_schema()
    return dict(_below("", schema, schema.get("$defs", {})))


def _below(path: str, schema: Schema, definitions: Schema) -> Iterator[tuple[str, str]]:
    forms = list(_forms(schema, definitions))
    for one in forms:
        for name, below in one.get("properties", {}).items():
            yield from _below(f"{path}.{name}" if path else name, below, definitions)
        if "patternProperties" in one or isinstance(one.get("additionalProperties"), Mapping):
            yield f"{path}.**", "number"
        if one.get("type") == "array":
            yield from _below(f"{path}.*", one.get("items", {}), definitions)
    if path:
        yield path, _field_type(forms, definitions)


def _forms(schema: Schema, definitions: Schema) -> Iterator[Schema]:
    """Everything that a value may be, references followed, null left out."""
    if "$ref" in schema:
        yield from _forms(definitions[schema["$ref"].rpartition("/")[2]], definitions)
        return
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        for choice in choices:
            yield from _forms(choice, definitions)
    elif schema.get("type") != "null":
        yield schema


def _field_type(forms: list[Schema], definitions: Schema) -> str:
    types = {str(one.get("type")) for one in forms}
    lists = [one for one in forms if one.get("type") == "array"]
    if lists:
        return _list_type(lists[0], definitions)
    if types & {"number", "integer"}:
        return "number"
    if "boolean" in types:
        return "flag"
    return "nothing" if types == {"object"} else "text"


def _list_type(one: Schema, definitions: Schema) -> str:
    below = {str(form.get("type")) for form in _forms(one.get("items", {}), definitions)}
    if below & {"number", "integer"}:
        return "numbers"
    return "nothing" if "object" in below else "choices"
