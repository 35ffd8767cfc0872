"""The tools: what each takes, by the contract's own schemas, and what it answers. No MCP here.

An answer is short text, the verdict first, and the same figures as data; a whole table is given
by `explain` when it is asked for. A refusal names the field and what is allowed.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import Any

from pydantic import BaseModel

from gpu_cost_planner.offer_search import search_offers
from planner.comparison import compare
from planner.contract.amounts import format_money
from planner.contract.answer.common import AnswerModel, ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.answer.tables import leave_out
from planner.contract.labels import NO_RANGE_HERE, SCENARIO_TITLES
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.portfolio import PortfolioRequest
from planner.contract.request.question import EXAMPLE, FORM, read_question
from planner.contract.typed_numbers import check_tree
from planner.contract.validation import models_in, to_json_schema
from planner.costing.advice.verdict import describe_alternative
from planner.costing.optimizer.work import WorkMeter
from planner.exports import TABLES
from planner.sizing.estimate import EstimateRequest, estimate
from planner.usage.question import UsageAnswer, UsageQuestion, answer_usage, split_list
from pricing.common.invalid_input import InvalidInput
from pricing.common.problems import list_errors
from pricing.market.offer_filters import ORDERINGS
from pricing.market.offer_rows import offer_json
from pricing.market.offers import PurchaseOption
from pricing.market.snapshot import Catalog

WORK_UNITS = 12_000_000
"""What one comparison may take, as for a person who has signed in: some seconds."""
MAX_OFFERS = 50
"""Most offers of one answer."""
Arguments = Mapping[str, Any]
Schema = dict[str, Any]
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
            lines = ["Refused; change these fields and call again:", *map(str, refusal.all())]
            errors = {"errors": list_errors(refusal, arguments)}
            return Answer("\n".join(lines), errors, is_error=True)


def _object(properties: Schema, *required: str) -> Schema:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def _shallow(model: type[BaseModel], *required: str, **more: Schema) -> Schema:
    """The fields of a request by type and meaning, without what is inside them: `fields` says
    that, so that a list of tools is short."""
    fields = model.model_json_schema()["properties"]
    brief: Schema = {}
    for name, field in fields.items():
        options = [one for one in field.get("anyOf", ()) if one != {"type": "null"}]
        kind = (options[0] if options else field).get("type", "object")
        meaning = re.split(r"[.;:](?:\s|$)", field["description"])[0]
        brief[name] = {"type": kind, "description": " ".join(meaning.split())}
    return _object(more | brief, *required)


_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}


def _offers_schema() -> Schema:
    options = {"type": "string", "enum": [option.value for option in PurchaseOption]}
    properties: Schema = dict.fromkeys(_NAMES, _TEXTS)
    properties["purchase_option"] = _TEXTS | {"items": options}
    properties |= {name: {"type": "number"} for name in _LIMITS}
    properties["sold_now"] = {"type": "boolean", "default": True}
    properties["ordering"] = {"type": "string", "enum": list(ORDERINGS)}
    properties["limit"] = {"type": "integer", "minimum": 1, "maximum": MAX_OFFERS, "default": 10}
    return _object(properties)


def _compare(arguments: Arguments, catalog: Catalog) -> ComparisonAnswer:
    question = arguments.get("question")
    if question is None:
        return compare(arguments, catalog, work=WorkMeter(WORK_UNITS))
    if len(arguments) > 1:
        raise InvalidInput("question", "stands for the whole request; leave the other fields out")
    if not isinstance(question, str):
        raise InvalidInput("question", f"{question!r} is not text; write {FORM}")
    return compare(read_question(question), catalog, work=WorkMeter(WORK_UNITS))


def _call_explain(arguments: Arguments, catalog: Catalog) -> Answer:
    _check_fields(arguments, ("question", "request", "table", "scenario"))
    table = arguments.get("table")
    if table not in TABLES:
        raise InvalidInput("table", f"{table!r} is unknown; allowed are {', '.join(TABLES)}")
    request = arguments.get("request")
    if "question" in arguments:
        request = {"question": arguments["question"]}
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


def _call_portfolio(arguments: Arguments, catalog: Catalog) -> Answer:
    """The plan's headline, and what each project pays."""
    from planner.portfolio.portfolio import plan_portfolio
    from planner.portfolio.words import list_orders

    answer = plan_portfolio(arguments, catalog, work=WorkMeter(WORK_UNITS))
    lines = [answer.headline, *list_orders(answer), *answer.why_not, ""]
    lines += [f"{one.name}: {one.explanation}" for one in answer.projects]
    lines += [f"Note: {text}" for text in answer.warnings[:MOST_WARNINGS]]
    return Answer("\n".join(lines), _dump(answer))


def _call_usage(arguments: Arguments, _catalog: Catalog) -> Answer:
    _check_fields(arguments, _USAGE)
    texts = {name: arguments.get(name, "") for name in _USAGE}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise InvalidInput(name, f"{text!r} is not text")
    if not texts["content"]:
        raise InvalidInput("content", "is missing; give the text of the file")
    question = UsageQuestion(
        by=split_list(texts["by"]) or UsageQuestion.by,
        accelerator=texts["accelerator"] or None,
        max_bytes=MOST_BYTES,
    )
    file = (texts["file_name"], BytesIO(texts["content"].encode()))
    return answer_use(answer_usage([file], question, dt.datetime.now(dt.UTC).date()))


def _call_fields(arguments: Arguments, _catalog: Catalog) -> Answer:
    _check_fields(arguments, ("request", "section"))
    name, section = arguments.get("request"), arguments.get("section")
    if not isinstance(name, str) or name not in _REQUESTS:
        raise InvalidInput("request", f"{name!r} is unknown; allowed are {', '.join(_REQUESTS)}")
    model = _REQUESTS[name]
    if section is not None and section not in model.model_fields:
        known = ", ".join(model.model_fields)
        raise InvalidInput("section", f"{section!r} is unknown; allowed are {known}")
    parts = [model] if section is None else [*models_in(model.model_fields[section].annotation)]
    data = {part.__name__: to_json_schema(part.model_json_schema()) for part in parts}
    lines = [
        f"{part.__name__}.{name}: {' '.join((field.description or '').split())}"
        for part in parts
        for name, field in part.model_fields.items()
    ]
    return Answer("\n".join(lines), data)


def _check_fields(arguments: Arguments, allowed: tuple[str, ...]) -> None:
    for name in arguments:
        if name not in allowed:
            raise InvalidInput(name, f"unknown field; allowed are {', '.join(allowed)}")


MOST_BYTES = 20_000_000
"""Of a file of usage, unpacked."""
_USAGE = ("content", "file_name", "by", "accelerator")
_REQUESTS: Mapping[str, type[BaseModel]] = {
    "compare": ComparisonRequest,
    "estimate": EstimateRequest,
    "portfolio": PortfolioRequest,
}
TOOLS: tuple[AssistantTool, ...] = (
    AssistantTool(
        "compare",
        "Compare renting, committing, owning and mixing",
        "What to do and what to expect: the verdict with its range, what is owed later, each "
        f"way to buy. {{question: {EXAMPLE}}} is the same as "
        "{horizon_months: 12, workload: {kind: accelerator_hours, accelerator: H100, "
        "hours_per_month: 5840, peak_accelerators: 8}, constraints: {geographies: [europe]}}.",
        lambda: _shallow(
            ComparisonRequest,
            question={"type": "string", "description": f"Instead of fields: {FORM}"},
        ),
        lambda arguments, catalog: answer_comparison(_compare(arguments, catalog)),
    ),
    AssistantTool(
        "estimate",
        "Estimate hours and memory of a training",
        "Accelerator-hours with their range, memory, duration and layout, such as of {workload: "
        "{kind: training, parameters: 7e9, tokens: 1e11}}. No price is read.",
        lambda: _shallow(EstimateRequest, "workload"),
        lambda arguments, _catalog: answer_estimate(estimate(arguments).answer),
    ),
    AssistantTool(
        "portfolio",
        "Plan all projects together",
        "What a team should own, commit to and rent for all its projects, and what each pays: "
        "{projects: [{name: Speech, workload: {...}}]}, workloads as of `compare`.",
        lambda: _shallow(PortfolioRequest, "projects"),
        _call_portfolio,
    ),
    AssistantTool(
        "usage",
        "Read a bill or a log of a cluster",
        "Hours, costs and the demand to come, from the text of one file: FOCUS, CUR, exports of "
        "Azure and Google Cloud, sacct, nvidia-smi, Prometheus, or a table of one's own.",
        lambda: _object({name: {"type": "string"} for name in _USAGE}, "content"),
        _call_usage,
    ),
    AssistantTool(
        "explain",
        "Give one table of a comparison",
        "One table of the answer that `compare` gives, as CSV.",
        lambda: _object(
            {
                "question": {"type": "string", "description": "As it was given to `compare`."},
                "request": {"type": "object", "description": "Or the fields that were given."},
                "table": {"type": "string", "enum": list(TABLES)},
                "scenario": {"type": "string", "description": "Absent: the advised one."},
            },
            "table",
        ),
        _call_explain,
    ),
    AssistantTool(
        "offers",
        "List prices",
        "Prices of cloud machines, the cheapest first, each with its day and source.",
        _offers_schema,
        _call_offers,
    ),
    AssistantTool(
        "fields",
        "Describe the fields of a request",
        "Every field of a section of a request with its type, bounds and meaning.",
        lambda: _object(
            {
                "request": {"type": "string", "enum": list(_REQUESTS)},
                "section": {"type": "string", "description": "Absent: the top level."},
            },
            "request",
        ),
        _call_fields,
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
        lines.append(f"{title}: {total} as stated{mark}{reason}")
    lines += [describe_alternative(one, answer.currency) for one in answer.cheaper_if]
    lines += [f"Note: {text}" for text in answer.warnings[:MOST_WARNINGS]]
    if len(answer.warnings) > MOST_WARNINGS:
        lines.append(f"and {len(answer.warnings) - MOST_WARNINGS} more notes")
    prices = ", ".join(f"{c.provider} of {c.as_of}" for c in answer.catalog)
    lines.append(f"Prices: {prices}. `explain` gives a table of this answer.")
    return Answer("\n".join(lines), _dump(answer))


def _dump(answer: AnswerModel) -> dict[str, Any]:
    return answer.model_dump(mode="json", exclude=leave_out(type(answer), ()))


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
    rows = [one.model_dump(mode="json") for one in fitting]
    return Answer("\n".join(lines), _dump(answer) | {"candidates": rows})


def answer_use(answer: UsageAnswer) -> Answer:
    """Use by month, totals, and the request that the demand makes."""
    data = {name: value for name, value in answer.as_dict().items() if name in _OF_USE}
    lines = [
        f"{row.get('month', 'all')}: {row['accelerator_hours']:,.0f} accelerator-hours"
        for row in data["months"]
    ]
    lines += [f"Warning: {text}" for text in data["warnings"]]
    lines.append(answer.no_demand_because or "`compare` takes `request` as it is.")
    return Answer("\n".join(lines), data | {"request": answer.request()})


_OF_USE = ("files", "rows", "months", "totals", "demand", "no_demand_because", "warnings")


def answer_offers(catalog: Catalog, rows: Sequence[int], count: int) -> Answer:
    revisions = {info.provider: info.revision for info in catalog.revisions}
    offers: list[dict[str, Any]] = [
        {
            name: value.isoformat() if isinstance(value, dt.date) else value
            for name, value in offer_json(catalog, row, revisions).items()
        }
        for row in rows
    ]
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
