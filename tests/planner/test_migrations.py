"""A database of an older version keeps its rows when it is migrated."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps.registry import Apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

BEFORE = [("planner", "0003_saved_with_rates_and_names")]
AFTER = [("planner", "0004_variants")]


def migrate(target: list[tuple[str, str]]) -> Apps:
    executor = MigrationExecutor(connection)
    executor.migrate(target)
    return MigrationExecutor(connection).loader.project_state(target).apps


@pytest.fixture
def old_apps(transactional_db: Any) -> Iterator[Apps]:
    yield migrate(BEFORE)
    migrate(MigrationExecutor(connection).loader.graph.leaf_nodes())


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


def test_what_ifs_of_an_old_database_become_variants(old_apps: Apps) -> None:
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


def test_the_migration_to_variants_can_be_undone(old_apps: Apps) -> None:
    variant_id, _ = add_rows(old_apps)
    migrate(AFTER)
    apps = migrate(BEFORE)
    assert apps.get_model("planner", "SavedComparison").objects.get().scenario_id == variant_id
