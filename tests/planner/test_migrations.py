"""A database of an older version keeps its rows when it is migrated."""

from __future__ import annotations

import hmac
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps.registry import Apps
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from tests.conftest import let_tests_empty_the_audit_log

BEFORE = [("planner", "0003_saved_with_rates_and_names")]
AFTER = [("planner", "0004_variants")]
NAMED = [("planner", "0005_name_the_rules")]
SIGNED = [("planner", "0006_webhook_secrets")]
LOGGED = [("planner", "0007_audit_log_of_the_server")]


def migrate(target: list[tuple[str, str]]) -> Apps:
    executor = MigrationExecutor(connection)
    executor.migrate(target)
    return MigrationExecutor(connection).loader.project_state(target).apps


@pytest.fixture
def old_apps(request: pytest.FixtureRequest, transactional_db: Any) -> Iterator[Apps]:
    """The models of an older version, `BEFORE` unless a test names a later one."""
    yield migrate(getattr(request, "param", BEFORE))
    migrate(MigrationExecutor(connection).loader.graph.leaf_nodes())
    let_tests_empty_the_audit_log()


def add_rows(apps: Apps) -> tuple[uuid.UUID, uuid.UUID]:
    """A project's what-if with a saved comparison of it, as the old models store them."""
    team = apps.get_model("planner", "Team").objects.create(name="Team", slug="team")
    project = apps.get_model("planner", "Project").objects.create(team=team, name="Project")
    scenario = apps.get_model("planner", "Scenario").objects.create(
        team=team, project=project, name="Europe", changes={"horizon_months": 24}
    )
    saved = apps.get_model("planner", "SavedComparison").objects.create(
        team=team,
        project=project,
        scenario=scenario,
        name="Saved",
        given={},
        request={},
        answer={"scenarios": []},
        answered_on="2026-01-01",
    )
    apps.get_model("planner", "Job").objects.create(team=team, kind="comparison")
    return scenario.pk, saved.pk


@pytest.mark.sweep
def test_what_ifs_of_an_old_database_become_variants_and_back(old_apps: Apps) -> None:
    variant_id, saved_id = add_rows(old_apps)
    apps = migrate(AFTER)
    variant = apps.get_model("planner", "Variant").objects.get()
    assert (variant.pk, variant.name, variant.changes) == (
        variant_id,
        "Europe",
        {"horizon_months": 24},
    )
    saved = apps.get_model("planner", "SavedComparison").objects.get()
    assert (saved.pk, saved.variant_id) == (saved_id, variant_id)
    assert list(variant.project.variants.all()) == [variant]
    assert apps.get_model("planner", "Job").objects.get().heartbeat_at is None
    apps = migrate(BEFORE)
    assert apps.get_model("planner", "SavedComparison").objects.get().scenario_id == variant_id


def add_requests(apps: Apps) -> None:
    """Requests of every kind that are kept: some before rules had editions, one after."""
    old: dict[str, Any] = {"horizon_months": 12}
    new: dict[str, Any] = {"horizon_months": 12, "rules": 2}
    team = apps.get_model("planner", "Team").objects.create(name="Team", slug="team")
    create = apps.get_model("planner", "Project").objects.create
    work = {"kind": "accelerator_hours"}
    project = create(team=team, name="Old", workload=work, assumptions=dict(old))
    create(team=team, name="New", workload=work, assumptions=dict(new))
    create(team=team, name="Empty", workload={}, assumptions={})
    for asked in (old, new):
        apps.get_model("planner", "SavedComparison").objects.create(
            team=team, project=project, name="Saved", given=dict(asked), request=dict(asked),
            answer={"scenarios": []}, answered_on="2026-01-01",
        )  # fmt: skip
    jobs = apps.get_model("planner", "Job").objects
    jobs.create(team=team, kind="comparison", arguments={"request": dict(old)})
    jobs.create(team=team, kind="bulk", arguments={"items": [{"request": dict(new)}, {"id": 7}]})
    jobs.create(team=team, kind="reprice", arguments={"saved": "x"})
    jobs.create(team=team, kind="done", state="succeeded", arguments={"request": dict(old)})


@pytest.mark.sweep
@pytest.mark.parametrize("old_apps", [AFTER], indirect=True)
def test_what_is_kept_names_the_first_edition_of_the_rules(old_apps: Apps) -> None:
    add_requests(old_apps)
    apps = migrate(NAMED)
    projects = apps.get_model("planner", "Project").objects.all()
    assert {project.name: project.assumptions.get("rules") for project in projects} == {
        "Old": 1, "New": 2, "Empty": None,
    }  # fmt: skip
    saved = apps.get_model("planner", "SavedComparison").objects.all()
    assert sorted((one.request["rules"], one.given["rules"]) for one in saved) == [(1, 1), (2, 2)]
    assert {job.kind: job.arguments for job in apps.get_model("planner", "Job").objects.all()} == {
        "comparison": {"request": {"horizon_months": 12, "rules": 1}},
        "bulk": {"items": [{"request": {"horizon_months": 12, "rules": 2}}, {"id": 7}]},
        "reprice": {"saved": "x"},
        "done": {"request": {"horizon_months": 12}},
    }


@pytest.mark.sweep
@pytest.mark.parametrize("old_apps", [NAMED], indirect=True)
def test_webhooks_keep_the_secret_that_receivers_know(old_apps: Apps, settings: Any) -> None:
    settings.SECRET_KEY = "of old"
    apps = old_apps
    team = apps.get_model("planner", "Team").objects.create(name="Team", slug="team")
    endpoint = apps.get_model("planner", "WebhookEndpoint").objects.create(
        pk=uuid.UUID(int=7), team=team, url="https://hooks.example.com/", secret_version=3
    )
    derived = hmac.new(b"of old", f"webhook:{endpoint.pk}:3".encode(), "sha256").hexdigest()
    kept = migrate(SIGNED).get_model("planner", "WebhookEndpoint").objects.get()
    assert kept.secret == f"whsec_{derived}"


@pytest.mark.parametrize("old_apps", [SIGNED], indirect=True)
def test_the_audit_log_is_still_append_only(old_apps: Apps) -> None:
    """SQLite makes the table anew, which takes its triggers away."""
    apps = migrate(LOGGED)
    entries = apps.get_model("planner", "AuditEntry")
    entries.objects.create(team=None, actor="a", action="x", object_type="t", object_id="1")
    for statement in ("UPDATE {} SET actor = 'nobody'", "DELETE FROM {}"):
        with connection.cursor() as cursor, pytest.raises(DatabaseError, match="append-only"):
            cursor.execute(statement.format(entries._meta.db_table))
