"""A creation under an idempotency key."""

from typing import Any

from rest_framework.test import APIClient

from tests.planner.workspace import WORKLOAD

PROJECTS = "/api/v1/projects/"


def create(client: APIClient, key: str, name: str = "A") -> Any:
    body = {"name": name, "workload": WORKLOAD}
    return client.post(PROJECTS, body, format="json", headers={"Idempotency-Key": key})


COMPARE = "/api/v1/comparisons/"


def errors(response: Any) -> dict[str, str]:
    """Field → message of a refusal, which is problem+json."""
    assert response["Content-Type"] == "application/problem+json"
    return {e["field"]: e["message"] for e in response.json()["errors"]}
