"""Every operation has an example, which is what it takes or gave; EXAMPLES=1 writes them anew."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from jsonschema import Draft202012Validator

from planner.api import schema
from planner.api.views.documents import document
from tests.planner.api.routes import OPERATIONS, Operation
from tests.planner.api.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("document")]
FILE = Path(schema.__file__).with_name(schema.EXAMPLES)


def described(operation: Operation, world: World) -> dict[str, Any]:
    """What the document says of it; nothing of what it leaves out."""
    path = operation.address(world)
    for template in sorted(document()["paths"], key=lambda one: one.count("{")):
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            return document()["paths"][template].get(operation.method, {})
    return {}


def content_of(operation: dict[str, Any]) -> dict[str, Any]:
    """The JSON that it takes, or that it gives where it takes nothing."""
    body = operation.get("requestBody") or operation.get("responses", {}).get("200", {})
    return body.get("content", {}).get("application/json", {})


def shorten(value: Any, name: str = "") -> Any:
    """One row of each list is enough, and of a secret how it begins."""
    if name == "secret" and value:
        return f"{value[:4]}…"
    if isinstance(value, list):
        return [shorten(row) for row in value[:1]]
    if isinstance(value, dict):
        return {name: shorten(part, name) for name, part in value.items()}
    return value


_MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)"
_ID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def settle(text: str) -> str:
    """The examples with one moment, and ids by their order, so that a new record says what changed.

    >>> settle("4f0c1d2e-1111-4222-8333-444455556666 at 2026-11-25T05:34:35.941441Z")
    '00000000-0000-4000-8000-000000000001 at 2026-11-02T09:00:00Z'
    """
    ids: dict[str, str] = {}
    moments = re.sub(_MOMENT, "2026-11-02T09:00:00Z", re.sub(r"\bgcp_\w{4}\b", "gcp_4xQ7", text))
    return re.sub(
        _ID,
        lambda one: ids.setdefault(one[0], f"00000000-0000-4000-8000-{len(ids) + 1:012d}"),
        moments,
    )


def call(operation: Operation, world: World) -> Any:
    principal = "token-refresh" if operation.needs == "refresh" else "owner"
    form = {"form": "json"} if "form" in (operation.where or {}) else {}
    with transaction.atomic():
        response = operation.call(world, principal, **form)
        response.render() if hasattr(response, "render") else None
        transaction.set_rollback(True)
    assert response.status_code == operation.ok, (str(operation), response.content[:300])
    return response


@pytest.mark.skipif(os.environ.get("EXAMPLES") != "1", reason="writes the examples")
def test_examples_are_written(world: World, settings: Any) -> None:
    settings.TASKS_INLINE = False
    examples = {}
    for operation in OPERATIONS:
        told = described(operation, world)
        if operation.ok >= 400 or not content_of(told):
            continue
        answer = call(operation, world)
        takes = "requestBody" in told and operation.body is not None
        value = shorten(operation.body(world) if takes else answer.json())  # type: ignore[misc]
        examples[told["operationId"]] = value
    client = world.clients["owner"]
    offer_id = client.get("/api/v1/offers/").json()["results"][0]["id"]
    history = client.get("/api/v1/price-history/", {"offer_id": offer_id})
    examples["get_price_history"] = shorten(history.json())
    text = json.dumps(examples, indent=1, default=str, ensure_ascii=False)
    FILE.write_text(settle(text) + "\n")


def test_every_operation_with_json_has_an_example_of_its_schema() -> None:
    components = {"components": document()["components"]}
    for path, operations in document()["paths"].items():
        for method, operation in operations.items():
            content = content_of(operation)
            if content:
                assert "example" in content, (method, path)
                validator = Draft202012Validator({**content["schema"], **components})
                assert not [e.message for e in validator.iter_errors(content["example"])], path
