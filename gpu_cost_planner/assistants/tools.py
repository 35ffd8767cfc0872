"""The tools: what each takes, by the contract's own schemas, and what it answers. No MCP here.

An answer is short text, the verdict first, and the same figures as data; a whole table is given
by `explain` when it is asked for. A refusal names the field and what is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gpu_cost_planner.assistants.answers import (
    Answer,
    answer_comparison,
    answer_estimate,
    answer_offers,
    answer_table,
)
from planner.comparison import compare
from planner.contract.json_schema import to_json_schema
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.validation import DECIMAL_TEXT_SCHEMA
from planner.costing.optimizer.work import WorkMeter
from planner.exports.table_names import TABLES
from planner.sizing.estimate import EstimateRequest, estimate
from pricing.common.bounded import check_tree
from pricing.common.invalid_input import InvalidInput
from pricing.market.offer_filters import ORDERINGS, search_offers
from pricing.market.offers import PurchaseOption
from pricing.market.snapshot import Catalog

WORK_UNITS = 12_000_000
"""What one comparison may take, as for a person who has signed in: some seconds."""
MAX_OFFERS = 50
"""Most offers of one answer."""
Arguments = Mapping[str, Any]
Schema = dict[str, Any]
_DECIMAL = "DecimalText"
"""Name of the one schema of a number written as text."""
_NAMES = ("accelerator", "provider", "region", "geography", "purchase_option", "instance_type")
_LIMITS = ("min_accelerators", "accelerator_count", "min_accelerator_memory_gib")


@dataclass(frozen=True)
class AssistantTool:
    """One tool; it reads and computes, and changes nothing."""

    name: str
    title: str
    description: str
    build_schema: Callable[[], Schema]
    answer: Callable[[Arguments, Catalog], Answer]
    """Raises `InvalidInput` naming what to change."""

    @cached_property
    def schema(self) -> Schema:
        """JSON Schema of its arguments."""
        return self.build_schema()

    def call(self, arguments: Arguments, catalog: Catalog) -> Answer:
        """The answer, or the refusal as an answer that says what to change."""
        try:
            check_tree(arguments)
            return self.answer(arguments, catalog)
        except InvalidInput as refusal:
            return Answer.refused(refusal)


def _request_schema(model: type[ComparisonRequest] | type[EstimateRequest]) -> Schema:
    schema: Schema = _without_repeats(to_json_schema(model.model_json_schema()))
    kinds = {**schema.get("$defs", {}), _DECIMAL: DECIMAL_TEXT_SCHEMA}
    return {**schema, "$defs": kinds, "additionalProperties": False}


def _without_repeats(part: Any) -> Any:
    """The schema without what would be read each time and says nothing: pydantic's titles, which
    repeat the names, null for what may be left out, how a number is written as text, and that no
    object takes other fields, which the whole says once."""
    if isinstance(part, list):
        return [_without_repeats(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    if part == DECIMAL_TEXT_SCHEMA:
        return {"$ref": f"#/$defs/{_DECIMAL}"}
    return {
        name: _without_repeats(_stated(value) if name == "default" else value)
        for name, value in _without_null(part).items()
        if (name != "title" or not isinstance(value, str))
        and not (name == "additionalProperties" and value is False)
    }


def _stated(default: Any) -> Any:
    """A default without the fields that it leaves out."""
    if not isinstance(default, dict):
        return default
    return {name: value for name, value in default.items() if value is not None}


def _without_null(part: Schema) -> Schema:
    """A field that may be left out as what it is where it is there."""
    kinds = part.get("anyOf")
    if not isinstance(kinds, list) or "default" not in part or part["default"] is not None:
        return part
    own = [kind for kind in kinds if kind != {"type": "null"}]
    left = {name: value for name, value in part.items() if name not in ("anyOf", "default")}
    return {**own[0], **left} if len(own) == 1 else {"anyOf": own, **left}


def _explain_schema() -> Schema:
    return {
        "type": "object",
        "properties": {
            "request": {
                "type": "object",
                "description": "The request as it was given to `compare`.",
            },
            "table": {"type": "string", "enum": list(TABLES), "description": "Which table."},
            "scenario": {
                "type": "string",
                "description": "Only rows of this scenario; absent: the advised one.",
            },
        },
        "required": ["request", "table"],
        "additionalProperties": False,
    }


def _offers_schema() -> Schema:
    names = {"type": "array", "items": {"type": "string"}, "maxItems": 50}
    options = {"type": "string", "enum": [option.value for option in PurchaseOption]}
    properties: Schema = {name: names | {"description": f"Only these: {name}."} for name in _NAMES}
    properties["purchase_option"] = properties["purchase_option"] | {"items": options}
    for name in _LIMITS:
        properties[name] = {"type": "number", "minimum": 0, "description": "Limit of a machine."}
    properties["sold_now"] = {
        "type": "boolean",
        "default": True,
        "description": "False: last known prices of what is sold no more.",
    }
    properties["ordering"] = {"type": "string", "enum": list(ORDERINGS), "default": ORDERINGS[0]}
    properties["limit"] = {"type": "integer", "minimum": 1, "maximum": MAX_OFFERS, "default": 10}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _compare(request: Mapping[str, Any], catalog: Catalog) -> Any:
    return compare(request, catalog, work=WorkMeter(WORK_UNITS))


def _call_explain(arguments: Arguments, catalog: Catalog) -> Answer:
    _check_fields(arguments, ("request", "table", "scenario"))
    table = arguments.get("table")
    if table not in TABLES:
        raise InvalidInput("table", f"{table!r} is unknown; allowed are {', '.join(TABLES)}")
    request = arguments.get("request")
    if not isinstance(request, Mapping):
        raise InvalidInput("request", "is missing; give the request that was compared")
    return answer_table(_compare(request, catalog), table, arguments.get("scenario"))


def _call_offers(arguments: Arguments, catalog: Catalog) -> Answer:
    _check_fields(arguments, (*_NAMES, *_LIMITS, "sold_now", "ordering", "limit"))
    limit = arguments.get("limit", 10)
    if type(limit) is not int or not 1 <= limit <= MAX_OFFERS:
        raise InvalidInput("limit", f"{limit!r} is not allowed; allowed are 1 to {MAX_OFFERS}")
    names = {name: _read_names(arguments, name) for name in _NAMES}
    limits = {name: _read_number(arguments, name) for name in _LIMITS}
    sold_now = arguments.get("sold_now", True)
    if not isinstance(sold_now, bool):
        raise InvalidInput("sold_now", f"{sold_now!r} is not true or false")
    ordering = arguments.get("ordering", ORDERINGS[0])
    rows, count = search_offers(
        catalog, names, limit=limit, ordering=ordering, sold_now=sold_now, **limits
    )
    return answer_offers(catalog, rows, count)


def _check_fields(arguments: Arguments, allowed: tuple[str, ...]) -> None:
    for name in arguments:
        if name not in allowed:
            raise InvalidInput(name, f"unknown field; allowed are {', '.join(allowed)}")


def _read_names(arguments: Arguments, field: str) -> tuple[str, ...]:
    value = arguments.get(field, ())
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(field, f"{value!r} is no list of names")
    return tuple(names)


def _read_number(arguments: Arguments, field: str) -> float | None:
    value = arguments.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(field, f"{value!r} is not a number")
    return float(value)


TOOLS: tuple[AssistantTool, ...] = (
    AssistantTool(
        "compare",
        "Compare renting, committing, owning and mixing",
        "What deep-learning accelerators should cost, and what to do: the verdict with its range, "
        "what is owed later, the total of each way to buy, and what would be cheaper. Example, 8 "
        "H100 for a year in Europe: {horizon_months: 12, workload: {kind: accelerator_hours, "
        "accelerator: H100, hours_per_month: 5840, peak_accelerators: 8}, constraints: "
        "{geographies: [europe]}}; a month is 730 h.",
        lambda: _request_schema(ComparisonRequest),
        lambda arguments, catalog: answer_comparison(_compare(arguments, catalog)),
    ),
    AssistantTool(
        "estimate",
        "Estimate the hours and memory of a training",
        "Accelerator-hours with their range, memory, duration and layout of a workload on one "
        "accelerator, and the best others beside it. No price is read.",
        lambda: _request_schema(EstimateRequest),
        lambda arguments, _catalog: answer_estimate(estimate(arguments).answer),
    ),
    AssistantTool(
        "explain",
        "Give one table of a comparison",
        "One table of the answer that `compare` gives for the same request: cost lines, "
        "assumptions with their sources, what moves the total, break-even and others.",
        _explain_schema,
        _call_explain,
    ),
    AssistantTool(
        "offers",
        "List prices",
        "Prices of cloud machines, the cheapest first, each with its day and source.",
        _offers_schema,
        _call_offers,
    ),
)
