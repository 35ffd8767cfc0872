"""The tools: what each takes, by the contract's own schemas, and what it answers. No MCP here.

An answer is short text, the verdict first, and the same figures as data; a whole table is given
by `explain` when it is asked for. A refusal names the field and what is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from planner.comparison import compare
from planner.contract.amounts import format_money
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.labels import NO_RANGE_HERE, SCENARIO_TITLES
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.validation import DECIMAL_TEXT_SCHEMA, to_json_schema
from planner.costing.advice.verdict import describe_alternative
from planner.costing.optimizer.work import WorkMeter
from planner.exports import TABLES
from planner.sizing.estimate import EstimateRequest, estimate
from pricing.common.bounded import check_tree
from pricing.common.invalid_input import InvalidInput
from pricing.market.offer_filters import ORDERINGS, search_offers
from pricing.market.offer_rows import offer_json
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
    part = _without_null(part)
    if isinstance(default := part.get("default"), dict):
        stated = {name: value for name, value in default.items() if value is not None}
        part = {**part, "default": stated}
    return {
        name: _without_repeats(value)
        for name, value in part.items()
        if (name != "title" or not isinstance(value, str))
        and not (name == "additionalProperties" and value is False)
    }


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
    names = {name: arguments.get(name, ()) for name in _NAMES}
    limits = {name: value for name, value in arguments.items() if name not in {*_NAMES, "limit"}}
    rows, count = search_offers(catalog, names, limit=limit, **{"sold_now": True, **limits})
    return answer_offers(catalog, rows, count)


def _check_fields(arguments: Arguments, allowed: tuple[str, ...]) -> None:
    for name in arguments:
        if name not in allowed:
            raise InvalidInput(name, f"unknown field; allowed are {', '.join(allowed)}")


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


MOST_ROWS = 200
"""Rows of a table in one answer; how many are left out is said."""
MOST_WARNINGS = 5
MOST_CANDIDATES = 5


@dataclass(frozen=True)
class Answer:
    """What a tool gives: `text` for reading, `data` for computing."""

    text: str
    data: dict[str, Any]
    is_error: bool = False

    @classmethod
    def refused(cls, refusal: InvalidInput) -> Answer:
        """Each field with what is wrong and what is allowed."""
        lines = [str(one) for one in refusal.all()]
        text = "\n".join(["Refused; change these fields and call again:", *lines])
        return cls(text, {"errors": refusal.to_errors()}, is_error=True)


def answer_comparison(answer: ComparisonAnswer) -> Answer:
    """The verdict, the total of each scenario, what would be cheaper, and warnings."""
    lines = [*answer.advice, ""]
    for scenario in answer.scenarios:
        title = SCENARIO_TITLES[scenario.key]
        if not scenario.feasible:
            lines.append(f"{title}: not feasible. {' '.join(scenario.why_not)}".strip())
            continue
        total = format_money(scenario.require_total(), answer.currency)
        mark = " (advised)" if scenario.key == answer.recommendation.scenario else ""
        reason = "" if scenario.allowed else f" (not advised: {scenario.why_not_allowed})"
        lines.append(f"{title}: {total}{mark}{reason}")
    lines += [describe_alternative(one, answer.currency) for one in answer.cheaper_if]
    lines += [f"Note: {text}" for text in answer.warnings[:MOST_WARNINGS]]
    if len(answer.warnings) > MOST_WARNINGS:
        lines.append(f"and {len(answer.warnings) - MOST_WARNINGS} more notes")
    prices = ", ".join(f"{c.provider} of {c.as_of}" for c in answer.catalog)
    lines.append(f"Prices: {prices}. `explain` gives a table of this answer.")
    whole = answer.to_json()
    data = {name: whole[name] for name in ("currency", "start", "horizon_months", "verdict")}
    data |= {name: whole[name] for name in ("recommendation", "cheaper_if", "warnings")}
    data["scenarios"] = [
        {name: one[name] for name in _SCENARIO_FIELDS} for one in whole["scenarios"]
    ]
    return Answer("\n".join(lines), data)


_SCENARIO_FIELDS = (
    *("key", "feasible", "allowed", "why_not", "why_not_allowed", "total_cost", "owed_after"),
    *("net_present_cost", "levelised_cost_per_accelerator_hour", "gap"),
)


def answer_estimate(answer: EstimateAnswer) -> Answer:
    """Hours with their range, memory, duration, and the best accelerators."""
    hours = answer.accelerator_hours
    how_often = "in 8 of 10 cases" if hours.holds else f"by published runs, which {NO_RANGE_HERE}"
    lines = [
        f"{hours.p50:,.0f} accelerator-hours ({hours.p10:,.0f} to {hours.p90:,.0f} {how_often}) "
        f"on {answer.accelerators:,} × {answer.accelerator}."
    ]
    if answer.wall_clock_hours is not None:
        lines.append(f"One run takes {answer.wall_clock_hours:,.1f} hours.")
    if answer.memory_per_accelerator_gib is not None:
        lines.append(
            f"{answer.memory_per_accelerator_gib:,.1f} GiB on each accelerator; at least "
            f"{answer.min_accelerators:,} are needed."
        )
    if answer.tier:
        lines.append(f"The work is {answer.tier.replace('_', ' ')}: {answer.tier_cards}.")
    fitting = [one for one in answer.candidates if one.fits][:MOST_CANDIDATES]
    for one in fitting:
        lines.append(
            f"{one.rank}. {one.accelerators:,} × {one.accelerator}: "
            f"{one.accelerator_hours:,.0f} accelerator-hours a run"
        )
    lines += answer.other_chips
    lines += [f"Warning: {text}" for text in answer.warnings]
    lines.append(f"Method: {answer.method}")
    whole = answer.to_json()
    return Answer("\n".join(lines), whole | {"candidates": whole["candidates"][: len(fitting)]})


def answer_offers(catalog: Catalog, rows: Sequence[int], count: int) -> Answer:
    """Offers in order of price, a line each."""
    revisions = {info.provider: info.revision for info in catalog.revisions}
    offers = [offer_json(catalog, row, revisions) for row in rows]
    for offer in offers:
        offer["as_of"] = offer["as_of"] and offer["as_of"].isoformat()
    lines = [f"{len(offers):,} of {count:,} offers, the cheapest first:"]
    lines += [
        f"{o['usd_per_accelerator_hour']} USD per accelerator-hour: {o['instance_type']} "
        f"({o['accelerator_count']:g} × {o['accelerator']}) {o['purchase_option']} in "
        f"{o['provider']} {o['zone'] or o['region']}, as of {o['as_of'] or 'an unknown day'}"
        for o in offers
    ]
    return Answer("\n".join(lines), {"count": count, "results": offers})


def answer_table(answer: ComparisonAnswer, table: str, scenario: object) -> Answer:
    """One table as CSV; of one with a row for each scenario's parts only those of `scenario`."""
    # pandas takes longer to import than a comparison takes to compute.
    from planner.exports.frames import FRAMES, format_csv

    frame = FRAMES[table](answer)
    chosen = answer.recommendation.scenario if scenario is None else scenario
    allowed = [key.value for key in ScenarioKey]
    if chosen is not None and chosen not in allowed:
        raise InvalidInput("scenario", f"{chosen!r} is unknown; allowed are {', '.join(allowed)}")
    if table in ("lines", "capacity", "purchases") and chosen is not None:
        frame = frame[frame["scenario"] == chosen]
    shown = frame.head(MOST_ROWS)
    more = f"\nand {len(frame) - len(shown):,} more rows" if len(frame) > len(shown) else ""
    data = {"table": table, "rows": len(frame), "shown": len(shown)}
    return Answer(f"{format_csv(shown)}{more}".strip(), data)
