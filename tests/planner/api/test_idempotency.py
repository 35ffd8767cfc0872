"""A creation that is sent twice under one key happens once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from planner.api import idempotency
from planner.models import ApiToken, IdempotencyRecord, Project, Role
from tests.planner.api.creating import create, errors
from tests.planner.workspace import Workspace, market

pytestmark = pytest.mark.django_db


@pytest.fixture
def work() -> Workspace:
    market()
    return Workspace("alpha")


@pytest.fixture
def client(work: Workspace) -> APIClient:
    client = APIClient()
    client.force_login(work.users[Role.OWNER])
    return client


def test_a_repeated_key_and_body_give_the_first_answer(client: APIClient) -> None:
    first, again = create(client, "k1"), create(client, "k1")
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert (first["Location"], first["ETag"]) == (again["Location"], again["ETag"])
    assert Project.objects.count() == 1


def test_another_body_under_the_same_key_is_a_conflict(client: APIClient) -> None:
    create(client, "k1")
    assert create(client, "k1", "B").status_code == 409
    assert Project.objects.count() == 1


def test_a_key_whose_first_request_is_not_answered_yet_is_a_conflict(client: APIClient) -> None:
    create(client, "k1")
    IdempotencyRecord.objects.update(status=None)
    assert "still being answered" in create(client, "k1").json()["detail"]


def test_a_first_request_that_fails_in_this_moment_leaves_the_key_free(
    client: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its record stood in the way and is gone before it can be looked at."""
    store = IdempotencyRecord.objects.create

    def refused_by_a_record_that_goes(**values: Any) -> None:
        first = store(**values)
        try:
            with transaction.atomic():
                store(**values)
        finally:
            first.delete()

    monkeypatch.setattr(IdempotencyRecord.objects, "create", refused_by_a_record_that_goes)
    answer = create(client, "k1")
    assert (answer.status_code, "send it again" in answer.json()["detail"]) == (409, True)
    monkeypatch.undo()
    assert create(client, "k1").status_code == 201


def test_what_is_written_and_the_answer_that_is_kept_go_together(
    client: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed between the two leaves neither."""

    class Killed(BaseException):
        pass

    def kill(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(idempotency, "_store", kill)
        with pytest.raises(Killed):
            create(client, "k1")
    assert not Project.objects.exists()
    assert create(client, "k1").status_code == 201


def test_a_request_that_lost_its_key_to_a_later_one_writes_nothing(
    client: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = idempotency._store

    def lose_key(record: IdempotencyRecord, *rest: Any) -> None:
        IdempotencyRecord.objects.filter(pk=record.pk).delete()
        store(record, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(idempotency, "_store", lose_key)
        assert create(client, "k1").status_code == 409
    assert not Project.objects.exists()


def test_a_refused_request_leaves_its_key_free(client: APIClient) -> None:
    assert create(client, "k1", "").status_code == 400
    assert create(client, "k1").status_code == 201


def test_keys_are_each_caller_s_own(client: APIClient, work: Workspace) -> None:
    other = APIClient()
    other.force_login(work.users[Role.EDITOR])
    create(client, "k1")
    assert create(other, "k1", "B").status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 201, "sm\u00f8rg"])
def test_a_key_that_cannot_be_one_is_refused(client: APIClient, key: str) -> None:
    assert "Idempotency-Key" in errors(create(client, key))


def test_a_secret_is_in_the_first_answer_alone_and_never_at_rest(client: APIClient) -> None:
    def token() -> Any:
        return client.post(
            "/api/v1/teams/alpha/tokens/",
            {"name": "t", "scopes": ["read"]},
            format="json",
            headers={"Idempotency-Key": "k2"},
        ).json()

    first, again = token(), token()
    assert first["secret"].startswith("gcp_")
    assert again == {**first, "secret": None}
    kept = json.dumps([*IdempotencyRecord.objects.values("body"), *ApiToken.objects.values()],
                      default=str)  # fmt: skip
    assert first["secret"] not in kept
