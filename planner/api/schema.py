"""The OpenAPI 3.1 document: what every view says of itself, and what all of them share."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from django.conf import settings
from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.hooks import postprocess_schema_enums
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from pydantic import BaseModel

from planner.api.callers import MarketAccess
from planner.api.idempotency import HEADER
from planner.contract.answer.common import AnswerModel
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.portfolio import PortfolioRequest
from planner.contract.validation import to_json_schema
from pricing.api.pages import CursorPages
from pricing.api.rest import PROBLEM_JSON, ProblemSerializer, StrictSerializer

_KEY = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description="Makes a repeated request give the first one's answer; kept for 24 hours.",
)
_IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="ETag of the version you saw; 412 when it was changed since.",
)
_IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="ETag that you hold; 304 when it is still the current one.",
)
_PROBLEMS = {
    "400": "The request cannot be used; `errors` names each field.",
    "401": "Not signed in, or the token is unknown, expired or revoked.",
    "403": "Your role, or the token's scope, is not enough.",
    "404": "Not found, or you don't have access to it.",
    "406": "The answer cannot be given in a form that you accept.",
    "409": "Its state does not allow this, or the idempotency key was used for another request.",
    "411": "The body comes in chunks, without Content-Length.",
    "412": "It was changed since you read it.",
    "413": "The body is too large.",
    "415": "The body is of a kind that is not taken here.",
    "429": "Too many requests or jobs; Retry-After says when to come back.",
    "507": "The server's disk is full; nothing was stored.",
}
_ALWAYS = ("400", "401", "403", "404", "406", "429")


WHOLE_REQUESTS: tuple[type[BaseModel], ...] = (ComparisonRequest, PortfolioRequest)
"""Requests that are a body of their own, named as they are; parts of them end in `Input`."""


class PlannerSchema(AutoSchema):
    """Adds to each operation its problems, its conditional headers and its list's filters."""

    def get_tags(self) -> list[str]:
        parts = [p for p in self.path.removeprefix("/api/v1/").split("/") if p]
        named = [p for p in parts if not p.startswith("{")]
        in_team = len(parts) > 2 and parts[0] == "teams"
        return [named[1] if in_team else named[0]]

    def get_operation_id(self) -> str:
        path = self.path.removeprefix("/api/v1/")
        return make_operation_id(self.method, path, getattr(self.view, "action", "") == "list")

    def get_auth(self) -> list[dict[str, list[Any]]]:
        """What is open to anyone asks for no credentials, unless the operator closed it."""
        auths: list[dict[str, list[Any]]] = super().get_auth()
        is_open = MarketAccess in self.view.permission_classes and not settings.LOGIN_REQUIRED
        return [*auths, {}] if is_open else auths

    def get_request_serializer(self) -> Any:
        name = {"POST": "write_serializer", "PATCH": "change_serializer"}.get(self.method, "")
        is_crud = getattr(self.view, "action", "") in ("create", "partial_update")
        if is_crud and (serializer := getattr(self.view, name, None)):
            return serializer
        return super().get_request_serializer()

    def get_override_parameters(self) -> list[Any]:
        return [*super().get_override_parameters(), *self._parameters()]

    def _map_serializer(self, serializer: Any, *args: Any, **options: Any) -> Any:
        """Fields that are not known, and a change without one that it needs, are refused."""
        schema = super()._map_serializer(serializer, *args, **options)  # type: ignore[no-untyped-call]
        if isinstance(serializer, StrictSerializer) and "properties" in schema:
            schema["additionalProperties"] = False
            needed = [n for n, field in serializer.fields.items() if field.required]
            if needed:
                schema["required"] = sorted(needed)
        return schema

    def _parameters(self) -> Iterator[OpenApiParameter]:
        action = getattr(self.view, "action", "") or ""
        filters = getattr(self.view, "filters", {}) if action == "list" else {}
        for name, filter_ in filters.items():
            schema: dict[str, Any] = {"type": "string"}
            if filter_.allowed:
                schema["enum"] = list(filter_.allowed)
            if filter_.format:
                schema["format"] = filter_.format
            yield OpenApiParameter(name, schema)
        handler = getattr(self.view, action, None) or getattr(self.view, self.method.lower(), None)
        if getattr(handler, "is_idempotent", False):
            yield _KEY
        changes = ("partial_update", "destroy", "submit", "send_back", "approve")
        if self._has_version() and action in changes:
            yield _IF_MATCH
        if self._is_conditional():
            yield _IF_NONE_MATCH

    def _is_conditional(self) -> bool:
        """Whether it answers with an ETag, and 304 to one that is still current."""
        is_read = getattr(self.view, "action", "") == "retrieve"
        return (is_read and self._has_version()) or getattr(self.view, "is_conditional", False)

    def _has_version(self) -> bool:
        """Whether the thing can be changed, so that an ETag names its version."""
        return hasattr(getattr(self.view, "model", None), "version")

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if self._is_conditional():
            bodies.setdefault("304", {"description": "Not modified."})
        codes: tuple[str, ...] = (*_ALWAYS, "409", "411", "412", "413", "415", "507")
        if self.method == "GET":
            conflicting = getattr(self.view, "conflicting_reads", ())
            may_conflict = getattr(self.view, "action", "") in conflicting
            codes = (*_ALWAYS, "409") if may_conflict else _ALWAYS
        for code in codes:
            response = OpenApiResponse(ProblemSerializer, description=_PROBLEMS[code])
            body = self._get_response_for_code(response, code, [PROBLEM_JSON])  # type: ignore[no-untyped-call]
            bodies.setdefault(code, body)
        return bodies


class RequestModelSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The pure core's pydantic models as they are read, defaults left out allowed."""

    target_class = "planner.contract.validation.RequestModel"
    match_subclasses = True
    priority = 1

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        return _register_parts(self.target, auto_schema, "validation", suffix="Input")


class AnswerModelSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """The contract's answers as they are given: every field with its type, unit and meaning."""

    target_class = "planner.contract.answer.common.AnswerModel"
    match_subclasses = True
    priority = 1

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        return _register_parts(self.target, auto_schema, "serialization")


class ModelFieldSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """A field that holds a part of an answer: a reference to its component."""

    target_class = "planner.api.serializers.teams.ModelField"

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> Any:
        name = self.target.model.__name__
        schema = _register_parts(self.target.model, auto_schema, "serialization")
        _register(auto_schema, name, schema)
        reference = {"$ref": f"#/components/schemas/{name}"}
        return {"type": "array", "items": reference} if self.target.many else reference


class ObjectFieldSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """A field that takes an object: a reference to its model's component, where it has one."""

    target_class = "planner.api.serializers.teams.ObjectField"

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> Any:
        return _object_schema(self.target.model, auto_schema)


class ObjectsFieldSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """A field that takes a list of objects."""

    target_class = "planner.api.serializers.teams.ObjectsField"

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> Any:
        return {"type": "array", "items": _object_schema(self.target.model, auto_schema)}


def _object_schema(model: type[BaseModel] | None, auto_schema: Any) -> dict[str, Any]:
    if model is None:
        return {"type": "object", "additionalProperties": {}}
    name = model.__name__ if model in WHOLE_REQUESTS else f"{model.__name__}Input"
    _register(auto_schema, name, _register_parts(model, auto_schema, "validation", suffix="Input"))
    return {"$ref": f"#/components/schemas/{name}"}


def _register_parts(
    model: type[BaseModel],
    auto_schema: Any,
    mode: Literal["validation", "serialization"],
    *,
    suffix: str = "",
) -> Any:
    """The schema of a pydantic model; those of its parts become components of their own."""
    schema, parts = _read_parts(model, mode, suffix)
    for name, part in parts.items():
        _register(auto_schema, name, part)
    return deepcopy(schema)


@cache
def _read_parts(
    model: type[BaseModel], mode: Literal["validation", "serialization"], suffix: str
) -> tuple[Any, dict[str, Any]]:
    """A model's schema and those of its parts by name; each operation that has it asks anew."""
    template = "#/components/schemas/{model}" + suffix
    schema = model.model_json_schema(ref_template=template, mode=mode)
    convert = to_json_schema if mode == "validation" else _answer_schema
    parts = schema.pop("$defs", {})
    named = {
        name + suffix: convert(part) | {"title": name + suffix} for name, part in parts.items()
    }
    return convert(schema), named


def _subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for one in model.__subclasses__():
        yield one
        yield from _subclasses(one)


def _register(auto_schema: Any, name: str, schema: Any) -> None:
    """A component has one identity, whether the answer or a part of it is met first. What is
    registered is a copy: the generator writes into it."""
    component = ResolvedComponent(  # type: ignore[no-untyped-call]
        name=name, type=ResolvedComponent.SCHEMA, object=_known_models().get(name, name)
    )
    if component not in auto_schema.registry:
        component.schema = deepcopy(schema)
        auto_schema.registry.register(component)


@cache
def _known_models() -> dict[str, type[BaseModel]]:
    known: list[type[BaseModel]] = [*WHOLE_REQUESTS, *_subclasses(AnswerModel)]
    return {model.__name__: model for model in known}


def _answer_schema(part: Any) -> Any:
    """An answer gives every field, those with a default too."""
    if isinstance(part, dict) and "properties" in part:
        return part | {"required": list(part["properties"])}
    return part


_VERBS = {"GET": "get", "POST": "create", "PATCH": "update", "DELETE": "delete"}


def make_operation_id(method: str, path: str, is_list: bool) -> str:
    """The name of what `method` does at `path`, below `/api/v1/`.

    >>> make_operation_id("GET", "projects/", True), make_operation_id("GET", "projects/{id}/", 0)
    ('list_projects', 'get_projects')
    >>> make_operation_id("POST", "quarantined-batches/{id}/release/", False)
    'create_quarantined_batches_release'
    """
    nouns = [part.replace("-", "_") for part in path.strip("/").split("/") if part[0] != "{"]
    return "_".join(("list" if is_list else _VERBS[method], *nouns))


CONVENTIONS = f"""What deep-learning accelerators should cost: rented, owned or mixed.

- **Callers** send `Authorization: Bearer gcp_…`, a token of a team, or have a session. Prices, \
estimates and comparisons need neither unless the operator closed them.
- **Amounts** are decimal text, such as `"1524336.00"`, in the `currency` beside them, or in US \
dollars where the name has `usd` in it; planning values of accelerators and estimates are numbers. \
What nobody knows is null, never 0. Requests take amounts as numbers or text.
- **Other values**: months such as `2027-01`, days such as `2027-01-31`, times in UTC; shares and \
rates as fractions (0.05 is 5 %).
- **Refusals** are problem details (RFC 9457). `errors` names each field by its path, such as \
`workload.hours_per_month` or `items.0.key`; the path is empty for the body as a whole. Unknown \
fields and query parameters are refused.
- **Pages**: `next` is the address of the next one, null on the last. A page has \
{CursorPages.page_size} rows, or `page_size`, which is at most {CursorPages.max_page_size}. Lists \
without these parameters come whole.
- **Versions**: what can be changed has an `ETag`. With it in `If-Match` an edit of something that \
was changed since fails (412); with it in `If-None-Match` what did not change is not sent again \
(304).
- **Repeats**: a creation with an `Idempotency-Key` is done once, however often it is sent within \
24 hours.
- **Jobs**: 202 names a job in `Location`. Ask for it again after `Retry-After` until its `state` \
is `succeeded`, `failed` or `cancelled`; `result` is what the operation would have answered at \
once.
- **Limits**: 429 says in `Retry-After` when to come back.
"""


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
