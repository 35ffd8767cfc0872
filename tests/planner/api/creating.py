"""A creation under an idempotency key."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from tests.planner.workspace import WORKLOAD

PROJECTS = "/api/v1/projects/"


def create(client: APIClient, key: str, name: str = "A") -> Any:
    body = {"name": name, "workload": WORKLOAD}
    return client.post(PROJECTS, body, format="json", headers={"Idempotency-Key": key})
