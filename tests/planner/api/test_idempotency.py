"""A creation that is sent twice under one key happens once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils.module_loading import import_string
from rest_framework.test import APIClient

from planner.api import media
from planner.models import IdempotencyRecord, Project, Role, SavedComparison, SavedPortfolio
from tests.planner.api.creating import create
from tests.planner.workspace import REQUEST, Workspace

pytestmark = pytest.mark.django_db


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
        patch.setattr(media, "_store", kill)
        with pytest.raises(Killed):
            create(client, "k1")
    assert not Project.objects.exists()
    assert create(client, "k1").status_code == 201


def test_a_refused_request_leaves_its_key_free(client: APIClient) -> None:
    assert create(client, "k1", "").status_code == 400
    assert create(client, "k1").status_code == 201


SLOW_SAVES: dict[str, tuple[str, Any]] = {
    "saved-comparisons": (
        "planner.services.projects.projects.compare_for_team",
        lambda project: {"project": str(project.pk), "name": "S"},
    ),
    "saved-portfolios": (
        "planner.services.portfolio.portfolios.plan_for_team",
        lambda project: {"team": project.team.slug, "name": "S"},
    ),
}


@dataclass
class SlowSave:
    """A save that computes; `meanwhile` happens while it does."""

    client: APIClient
    kind: str
    body: dict[str, Any]
    meanwhile: Callable[[], object] = lambda: None
    computed: int = 0

    def send(self, **changes: Any) -> Any:
        path, headers = f"/api/v1/{self.kind}/", {"Idempotency-Key": "s1"}
        return self.client.post(path, {**self.body, **changes}, format="json", headers=headers)

    @property
    def rows(self) -> int:
        kept = SavedComparison if self.kind == "saved-comparisons" else SavedPortfolio
        return kept.objects.filter(name="S").count()  # type: ignore[attr-defined, no-any-return]


@pytest.fixture(params=SLOW_SAVES)
def slow_save(
    request: pytest.FixtureRequest, client: APIClient, work: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> SlowSave:  # fmt: skip
    place, body_of = SLOW_SAVES[request.param]
    save = SlowSave(client, request.param, body_of(work.project()))
    compute = import_string(place)

    def compute_slowly(*values: Any, **options: Any) -> Any:
        save.computed += 1
        save.meanwhile()
        return compute(*values, **options)

    monkeypatch.setattr(place, compute_slowly)
    return save


@pytest.mark.django_db(transaction=True)
def test_the_database_is_free_while_a_save_with_a_key_computes(slow_save: SlowSave) -> None:
    in_transaction: list[bool] = []
    slow_save.meanwhile = lambda: in_transaction.append(connection.in_atomic_block)
    assert slow_save.send().status_code == 201
    assert in_transaction == [False]


@pytest.mark.parametrize("accept", ["application/json", "application/json; indent=2"])
def test_a_replay_has_the_bytes_of_the_first_answer(client: APIClient, accept: str) -> None:
    """What a database makes of JSON, which may sort it, plays no part."""
    path, headers = "/api/v1/comparisons/", {"Idempotency-Key": "k3", "Accept": accept}
    first, again = (client.post(path, REQUEST, format="json", headers=headers) for _ in range(2))
    assert first.status_code == 200
    assert first.content == again.content
    assert isinstance(IdempotencyRecord.objects.get().body, str)
