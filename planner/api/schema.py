"""The OpenAPI 3.1 document: what every view says of itself, and what all of them share."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from pydantic import BaseModel

from planner.api.base import INCLUDE, AnswerView
from planner.api.bodies import BODIES
from planner.api.callers import MarketAccess
from planner.api.media import HEADER
from planner.api.shapes import COMPUTED, ProblemSerializer
from planner.contract.answer.common import AnswerModel
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.tables import parts_with_tables
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import CustomOffer, PriceAdjustment
from planner.contract.request.on_prem import Server
from planner.contract.request.portfolio import PortfolioRequest
from planner.contract.validation import RequestModel, to_json_schema
from planner.sizing.estimate import EstimateRequest
from pricing.api.pages import CursorPages
from pricing.common.problems import PROBLEM_JSON
from pricing.common.tables import read_rows

_KEY, _IF_MATCH, _IF_NONE_MATCH = (
    OpenApiParameter(name, str, OpenApiParameter.HEADER, description=text)
    for name, text in (
        (HEADER, "Makes a repeated request give the first one's answer; kept for 24 hours."),
        ("If-Match", "ETag of the version you saw; 412 when it was changed since."),
        ("If-None-Match", "ETag that you hold; 304 when it is still the current one."),
    )
)
_PROBLEMS = {
    "4XX": "Refused: `code` says why, `errors` names each field.",
    "5XX": "The server could not answer; nothing was stored.",
}
SCHEMAS = "#/components/schemas/"
_INPUT = f"{SCHEMAS}{{model}}Input"
WHOLE_REQUESTS: tuple[type[BaseModel], ...] = (ComparisonRequest, PortfolioRequest, EstimateRequest)
"""Requests that are a body of their own, named as they are; parts of them end in `Input`."""
PARTS_OF_REQUESTS: tuple[type[BaseModel], ...] = (Server, CustomOffer, PriceAdjustment)
ANSWERS: tuple[type[AnswerModel], ...] = (ComparisonAnswer, PortfolioAnswer, EstimateAnswer)


class PlannerSchema(AutoSchema):
    """Adds to each operation its problems, its conditional headers and its list's filters."""

    @property
    def _parts(self) -> list[str]:
        """Of the address, below `/api/v1/`."""
        return [part for part in self.path.removeprefix("/api/v1/").split("/") if part]

    @property
    def _action(self) -> str:
        return getattr(self.view, "action", None) or ""

    def get_tags(self) -> list[str]:
        in_team = len(self._parts) > 2 and self._parts[0] == "teams"
        named = [part for part in self._parts if part[0] != "{"]
        return [named[1] if in_team else next(iter(named), "resources")]

    def get_operation_id(self) -> str:
        nouns = [part.replace("-", "_") for part in self._parts if part[0] != "{"]
        return "_".join(("list" if self._action == "list" else _VERBS[self.method], *nouns))

    def get_auth(self) -> list[dict[str, list[Any]]]:
        """What is open to anyone asks for no credentials, unless the operator closed it."""
        auths: list[dict[str, list[Any]]] = super().get_auth()
        is_open = MarketAccess in self.view.permission_classes and not settings.LOGIN_REQUIRED
        return [*auths, {}] if is_open else auths

    def get_request_serializer(self) -> Any:
        view: Any = self.view
        if self._action == "partial_update":
            return view.changes
        if self._action == "create" and hasattr(view, "new"):
            return view.new
        return super().get_request_serializer()

    def get_override_parameters(self) -> list[Any]:
        parameters: list[Any] = super().get_override_parameters()
        filters = getattr(self.view, "filters", {}) if self._action == "list" else {}
        for name, filter_ in filters.items():
            schema: dict[str, Any] = {"type": "string"}
            if filter_.allowed:
                schema["enum"] = list(filter_.allowed)
            if filter_.is_id:
                schema["format"] = "uuid"
            parameters.append(OpenApiParameter(name, schema))
        handler = getattr(self.view, self._action or self.method.lower(), None)
        gives_answer = isinstance(self.view, AnswerView) and self.view.gives_answer()
        changes = ("partial_update", "destroy", "submit", "send_back", "approve")
        more = {
            _KEY: getattr(handler, "is_idempotent", False),
            INCLUDE: gives_answer,
            _IF_MATCH: self._has_version() and self._action in changes,
            _IF_NONE_MATCH: self._is_conditional(),
        }
        return [*parameters, *(parameter for parameter, holds in more.items() if holds)]

    def _is_conditional(self) -> bool:
        """Whether it answers with an ETag, and 304 to one that is still current."""
        is_read = self._action == "retrieve"
        return (is_read and self._has_version()) or getattr(self.view, "is_conditional", False)

    def _has_version(self) -> bool:
        """Whether the thing can be changed, so that an ETag names its version."""
        return hasattr(getattr(self.view, "model", None), "version")

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if self._is_conditional():
            bodies.setdefault("304", {"description": "Not modified."})
        for code, meaning in _PROBLEMS.items():
            response = OpenApiResponse(ProblemSerializer, description=meaning)
            body = self._get_response_for_code(response, code, [PROBLEM_JSON])  # type: ignore[no-untyped-call]
            bodies.setdefault(code, body)
        return bodies


class ContractModelSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """A request or an answer of the contract: its component is filled in at the end."""

    target_class = "pydantic.BaseModel"
    match_subclasses = True
    priority = 1

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        return {"type": "object", "additionalProperties": {}}


class PartFieldSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """A field that holds a part of a record: a reference to its component, or rows whose columns
    the description names."""

    target_class = "planner.api.base.PartField"

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> Any:
        model, many = self.target.model, self.target.many
        if many and issubclass(model, AnswerModel):
            rows = {"type": "array", "items": _reference(ROW)}
            return rows | {"description": _columns(model.model_fields)}
        is_part = issubclass(model, RequestModel) and model not in WHOLE_REQUESTS
        schema = _reference(f"{model.__name__}Input" if is_part else model.__name__)
        return {"type": "array", "items": schema} if many else schema


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"{SCHEMAS}{name}"}


def _contract_components() -> dict[str, Any]:
    known: dict[str, Any] = {ROW: _ROW}
    own = {
        body: to_json_schema(_resolve(body.model_json_schema(ref_template=_INPUT)))
        for body in BODIES
    }
    whole = {
        root: to_json_schema(root.model_json_schema(ref_template=_INPUT))
        for root in (*WHOLE_REQUESTS, *PARTS_OF_REQUESTS)
    }
    sections = {f"{part.__name__}Input" for part in PARTS_OF_REQUESTS}
    for request in WHOLE_REQUESTS:
        sections.update(_referenced(whole[request]["properties"]))
    for root, schema in (own | whole).items():
        parts = {f"{name}Input": part for name, part in schema.pop("$defs", {}).items()}
        for name, part in parts.items():
            known[name] = _section_schema(part, parts, sections) | {"title": name}
        name = f"{root.__name__}Input" if root in PARTS_OF_REQUESTS else root.__name__
        known[name] = schema | {"title": name}
    for answer in (*ANSWERS, *COMPUTED):
        schema = answer.model_json_schema(ref_template=f"{SCHEMAS}{{model}}", mode="serialization")
        parts = schema.pop("$defs", {})
        for name, part in {**parts, answer.__name__: schema}.items():
            known[name] = _answer_schema(_resolve(part), parts)
    return known


def _resolve(part: Any) -> Any:
    """A schema of ours with references where models are named, and without defaults, which
    clients would send with each change."""
    if isinstance(part, list):
        return [_resolve(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    named = part.get("judged_as")
    if named:
        is_part = named in {one.__name__ for one in PARTS_OF_REQUESTS}
        return _reference(f"{named}Input" if is_part else named)
    return {name: _resolve(value) for name, value in part.items() if name != "default"}


def _fill_in(document: dict[str, Any]) -> None:
    """The components of the contract that something refers to."""
    schemas, known = document["components"]["schemas"], _contract_components()
    ahead = _referenced([document["paths"], schemas])
    for name in ahead:
        model = name.removeprefix("Patched")
        if model in known and schemas.get(name) is not known[model]:
            schemas[name] = known[model]
            ahead.extend(_referenced(known[model]))
    document["components"]["schemas"] = dict(sorted(schemas.items()))


ROW, COLUMNS = "Row", "Fields: "
_ROW = {
    "title": ROW,
    "description": "A row of a table, a part of an answer that `include` names, or an object "
    "inside a section of a request; its fields are named where it stands, and described in the "
    "reference.",
    "type": "object",
    "additionalProperties": {},
}


def _section_schema(part: Any, parts: Mapping[str, Any], sections: set[str]) -> Any:
    """The schema of a section of a request; an object inside it is a row, unless it is a section
    too."""
    fields = {
        name: value if sections.intersection(_referenced(value)) else _as_rows(value, parts)
        for name, value in part.get("properties", {}).items()
    }
    return part | ({"properties": fields} if fields else {})


def _answer_schema(part: Any, parts: Mapping[str, Any]) -> Any:
    """The schema of a part of an answer; every field is given, and tables of rows where they are
    included."""
    if "properties" not in part:
        return part
    tables = _tables().get(part["title"], ())
    fields = {
        name: _as_rows(value, parts) if name in tables else value
        for name, value in part["properties"].items()
    }
    required = [name for name in fields if name not in tables]
    return part | {"properties": fields, "required": required}


def _referenced(schema: Any) -> list[str]:
    return re.findall(rf"{SCHEMAS}(\w+)", json.dumps(schema))


def _as_rows(schema: Any, parts: Mapping[str, Any]) -> Any:
    for name in _referenced(schema):
        if "properties" in parts.get(name, {}):
            columns = _columns(parts[name]["properties"])
            meaning = schema.get("description", "")
            described = schema | {"description": f"{meaning} {columns}".strip()}
            text = json.dumps(described).replace(f'{SCHEMAS}{name}"', f'{SCHEMAS}{ROW}"')
            return json.loads(text)
    return schema


def _columns(names: Iterable[str]) -> str:
    return f"{COLUMNS}{', '.join(f'`{name}`' for name in names)}."


@cache
def _tables() -> Mapping[str, tuple[str, ...]]:
    models = [
        *ANSWERS,
        *COMPUTED,
        *(part for answer in ANSWERS for part in parts_with_tables(answer).values()),
    ]
    return {model.__name__: model.tables for model in models}


_VERBS = {"GET": "get", "POST": "create", "PATCH": "update", "DELETE": "delete"}


_FOLDER = Path(__file__).parent
CONVENTIONS, TABLE, EXAMPLES = "conventions.md", "field_meanings.csv", "examples.json"
PAGE_SIZE = {"minimum": 1, "maximum": CursorPages.max_page_size, "default": CursorPages.page_size}


def describe_fields(result: Any, generator: Any, **options: Any) -> Any:
    """The document with what holds for all operations, and a meaning for every field; a page of a
    list stands where it is answered."""
    document = json.loads(json.dumps(result, default=str))
    document["info"]["description"] = (_FOLDER / CONVENTIONS).read_text("utf-8")
    _fill_in(document)
    meanings, schemas = read_meanings(), document["components"]["schemas"]
    for name, component in schemas.items():
        for field, schema in component.get("properties", {}).items():
            meaning = meanings.get((name, field)) or meanings.get(("", field))
            columns = schema.get("description", "")
            if meaning and (not columns or columns.startswith(COLUMNS)):
                schema["description"] = f"{meaning} {columns}".strip()
    for operation in (o for path in document["paths"].values() for o in path.values()):
        for parameter in operation.get("parameters", ()):
            if parameter["name"] == CursorPages.page_size_query_param:
                parameter["schema"] |= PAGE_SIZE
        example = read_examples().get(operation["operationId"])
        body = operation.get("requestBody") or operation["responses"].get("200", {})
        if example is not None:
            body["content"]["application/json"]["example"] = example
    _put_in_place(document)
    return document


def _put_in_place(document: dict[str, Any]) -> None:
    """Pages of lists and bodies that a single operation has stand where they are used; requests
    and answers of the contract keep their name."""
    schemas = document["components"]["schemas"]
    names = Counter(_referenced(document))
    whole = {model.__name__ for model in (*WHOLE_REQUESTS, *ANSWERS)}
    for operation in (o for path in document["paths"].values() for o in path.values()):
        bodies = (operation.get("requestBody", {}), *operation["responses"].values())
        for content in (one for body in bodies for one in body.get("content", {}).values()):
            name = content.get("schema", {}).get("$ref", "").removeprefix(SCHEMAS)
            if names[name] == 1 and name not in whole:
                content["schema"] = schemas.pop(name) | {"title": name}


@cache
def read_examples() -> Mapping[str, Any]:
    """Operation → its example; `tests/planner/api/test_examples.py` makes them by calling it."""
    examples: Mapping[str, Any] = json.loads((_FOLDER / EXAMPLES).read_bytes())
    return examples


@cache
def read_meanings() -> Mapping[tuple[str, str], str]:
    """Component and field → meaning; no component: wherever the field stands."""
    return {(row["component"], row["field"]): row["meaning"] for row in read_rows(_FOLDER / TABLE)}
