"""The OpenAPI document holds: what it promises is what is answered, whatever is sent."""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, seed, settings
from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

from planner.api.schema import read_meanings
from planner.api.views.documents import document
from tests.planner.api.world import World
from tests.properties import one_in

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.xdist_group("document"),  # One process makes the document once.
]
LONG = os.environ.get("FUZZ") == "1"
CASES = 1000 if LONG else 1
"""The first of them on things that are there."""


def list_endpoints() -> list[tuple[str, str]]:
    """(method, path) of each, without the document, which takes a second to make."""
    generator = SchemaGenerator()
    generator._initialise_endpoints()
    return sorted(
        (method.lower(), path)
        for path, _, method, view in generator._get_paths_and_endpoints()
        if not view.schema.is_excluded()
    )


ENDPOINTS = list_endpoints()


@pytest.fixture(scope="module")
def operations() -> dict[tuple[str, str], Any]:
    """What the document says of each endpoint."""
    from schemathesis import openapi

    schema = openapi.from_dict(json.loads(json.dumps(document(), default=str)))
    every = [found.ok() for found in schema.get_all_operations()]
    return {(one.method, one.path): one for one in every}


def checks() -> list[Any]:
    """What an answer is held against. Imported for this file alone: it takes a while."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks as of_openapi

    return [
        not_a_server_error,
        of_openapi.status_code_conformance,
        of_openapi.content_type_conformance,
        of_openapi.response_headers_conformance,
        of_openapi.response_schema_conformance,
    ]


@pytest.mark.sweep
def test_the_document_is_valid_and_free_of_warnings(tmp_path) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", tmp_path / "schema.yaml")


def test_it_is_openapi_3_1_in_yaml_and_json() -> None:
    yaml = APIClient().get("/api/v1/schema/")
    assert yaml.content.startswith(b"openapi: 3.1.0")
    as_json = APIClient().get(
        "/api/v1/schema/", headers={"Accept": "application/vnd.oai.openapi+json"}
    )
    assert as_json.json()["openapi"] == "3.1.0"


def test_every_operation_says_what_it_is_and_how_it_fails() -> None:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            assert operation.get("operationId"), (path, method)
            for code in ("4XX", "5XX"):
                content = operation["responses"][code]["content"]
                assert list(content) == ["application/problem+json"], (path, method, code)


def test_what_may_be_missing_is_not_required_and_null_is_a_type() -> None:
    told = document()
    answer = told["paths"]["/api/v1/projects/"]["get"]["responses"]["200"]
    last_page = {**answer["content"]["application/json"]["schema"], **told}
    assert Draft202012Validator(last_page).is_valid({"next": None, "previous": None, "results": []})
    assert '"nullable"' not in json.dumps(told, default=str), "a word of OpenAPI 3.0"


def owners_token(world: World) -> str:
    return world.alpha.token("read", "write", "approve", service=False)


NAMES = {"team": "alpha", "slug": "alpha", "project": "project", "webhook": "webhook"}
KEYS = {
    "projects": "project",
    "saved-comparisons": "draft",
    "saved-portfolios": "portfolio",
    "jobs": "job",
    "alerts": "alert",
    "servers": "quote",
    "audit-log": "audit",
    "webhooks": "webhook",
    "actuals": "upload",
}


def real_address(world: World, path: str, drawn: dict[str, Any], keep: bool) -> dict[str, Any]:
    """Names things that are there, so that more than 404 is tried."""
    if keep:
        return drawn
    before = path.split("{id}")[0].strip("/").split("/")[-1]
    real = {"id": world.ids.get(KEYS.get(before, ""))}
    real |= {name: world.ids.get(key, key) for name, key in NAMES.items()}
    return {name: str(real.get(name) or value) for name, value in drawn.items()}


def test_the_document_is_of_every_endpoint(operations: dict[tuple[str, str], Any]) -> None:
    assert sorted(operations) == ENDPOINTS


@pytest.mark.fuzz
@pytest.mark.parametrize("endpoint", one_in(24, ENDPOINTS), ids=" ".join)
def test_no_answer_is_outside_the_document(
    endpoint: tuple[str, str],
    operations: dict[tuple[str, str], Any],
    world: World,
    settings_for_fuzz,
) -> None:
    """1,000 cases per operation in the long form; half of them on things that are there. One of
    each 24th operation in the short form, one of each in `make sweep`."""
    from schemathesis import GenerationMode

    operation, token = operations[endpoint], owners_token(world)
    turn = iter(range(10**9))

    @seed(4711)
    @given(
        case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    )
    @settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    def every_case(case: Any) -> None:
        case.path_parameters = real_address(
            world, operation.path, dict(case.path_parameters), keep=next(turn) % 2 == 1
        )
        headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
        with transaction.atomic():
            response = case.call(app=get_wsgi_application(), headers=headers)
            transaction.set_rollback(True)
        case.validate_response(response, checks=checks())

    every_case()


@pytest.fixture
def settings_for_fuzz(settings):
    """What Django's own test client does: the connection of the test's transaction stays open."""
    kept = (request_started, request_finished)
    for signal in kept:
        signal.disconnect(close_old_connections)
    settings.TASKS_INLINE = False
    settings.API_MAX_BODY_BYTES = 200_000
    settings.ALLOWED_HOSTS = ["localhost"]
    yield
    for signal in kept:
        signal.connect(close_old_connections)


def test_the_document_stays_small() -> None:
    """276 components, 604 kB and 78,113 lines of a Python client before it was made small."""
    assert len(document()["components"]["schemas"]) <= 100
    assert len(json.dumps(document())) < 450_000


def inline_shapes(part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Bodies and pages that stand where they are used, by title."""
    if isinstance(part, dict):
        if "properties" in part and "title" in part:
            yield part["title"], part
        for value in part.values():
            yield from inline_shapes(value)


def test_every_field_says_what_it_means_and_every_meaning_has_a_field() -> None:
    """719 of them, the figures of bills, variances and completions among them, said nothing."""
    unsaid, used = [], set()
    told = document()
    shapes = [*told["components"]["schemas"].items(), *inline_shapes(told["paths"])]
    for name, component in shapes:
        for field, schema in component.get("properties", {}).items():
            if not schema.get("description", "").strip():
                unsaid.append(f"{name}.{field}")
            used.update({(name, field), ("", field)})
    assert not unsaid
    assert not set(read_meanings()) - used


def test_a_client_that_checks_its_requests_refuses_what_the_server_refuses() -> None:
    told = document()
    sizes = [
        parameter["schema"]
        for path in told["paths"].values()
        for parameter in path.get("get", {}).get("parameters", ())
        if parameter["name"] == "page_size"
    ]
    assert sizes
    assert all((s["minimum"], s["maximum"], s["default"]) == (1, 500, 50) for s in sizes)
    for method, path, body, valid in (
        ("patch", "{team}/servers/{id}/", {"label": "x"}, True),
        ("post", "{team}/webhooks/", {"url": "x", "events": []}, False),
    ):
        takes = told["paths"][f"/api/v1/teams/{path}"][method]["requestBody"]
        schema = {**takes["content"]["application/json"]["schema"], **told}
        assert Draft202012Validator(schema).is_valid(body) is valid, (path, body)
