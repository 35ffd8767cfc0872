"""The request models as JSON Schema: for the API's document and for assistants. PURE."""

from __future__ import annotations

from typing import Any

_MONTH = {"type": "string", "pattern": r"^\d{4}-(0[1-9]|1[0-2])$"}
_LENGTHS = {"minLength": "minItems", "maxLength": "maxItems"}
"""pydantic gives a converted array's bounds in the words for text."""
_BOUNDS = {
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
    return {_BOUNDS.get(name, name): to_json_schema(value) for name, value in part.items()}


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
