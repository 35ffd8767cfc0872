"""Comparisons saved before answers were typed open, show, export and replay as they did."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from planner.contract.answer.comparison import VERSION
from planner.contract.answer.versions import read_answer, upgrade
from planner.exports import FORMATS, export
from planner.exports.saved_context import context_of
from planner.models import Role, SavedComparison
from planner.services.projects.saved_comparisons import replay
from tests.planner.workspace import Workspace
from tests.properties import one_in

ROWS: list[dict[str, Any]] = json.loads(
    gzip.decompress((Path(__file__).parent / "saved_version_1.json.gz").read_bytes())
)
OWN_PRICES = [row for row in ROWS if not row["summary"]["uses_catalog"]]
BY_NAME = {row["name"]: row for row in ROWS}


def named(row: dict[str, Any]) -> str:
    return str(row["name"])


@pytest.fixture
def work() -> Workspace:
    return Workspace("alpha")


def saved(work: Workspace, row: dict[str, Any]) -> SavedComparison:
    """The row as it stands once the migration has named the edition of its rules."""
    named = {"request": {**row["request"], "rules": 1}, "given": {**row["given"], "rules": 1}}
    one = SavedComparison.objects.create(team=work.team, project=work.project(), **row | named)
    one.refresh_from_db()
    return one


@pytest.mark.django_db
@pytest.mark.parametrize("row", one_in(3, ROWS), ids=named)
def test_it_opens_and_exports(work: Workspace, row: dict[str, Any]) -> None:
    one = saved(work, row)
    client = Client()
    client.force_login(work.users[Role.VIEWER])
    page = client.get(reverse("comparison", args=[one.pk]))
    assert page.status_code == 200
    for form in FORMATS:
        if form != "focus" or one.read_answer().feasible:
            assert export(one.read_answer(), context_of(one), form)


@pytest.mark.django_db
@pytest.mark.parametrize("row", OWN_PRICES, ids=named)
def test_it_replays_to_the_cent(work: Workspace, row: dict[str, Any]) -> None:
    result = replay(saved(work, row | {"revisions": {}}))
    assert result.identical, result.differences


@pytest.mark.one_in(4)
@pytest.mark.parametrize("row", ROWS, ids=named)
def test_every_total_stays_what_it_was(row: dict[str, Any]) -> None:
    answer = read_answer(row["answer"])
    assert answer.version == VERSION
    for old, new in zip(row["answer"]["scenarios"], answer.scenarios, strict=True):
        assert new.key == old["key"]
        if old["feasible"]:
            assert f"{new.require_total():f}" == old["total_cost"]
            assert [line.model_dump(mode="json") for line in new.lines] == old["lines"]


def test_what_was_called_otherwise_has_its_new_name() -> None:
    old = BY_NAME["Case c238-robust"]["answer"]
    plan = read_answer(old).robust_plan
    assert plan is not None
    assert f"{plan.cvar_90:f}" == old["robust"]["worst_tenth"]
    assert plan.units_started == old["robust"]["begun"]
    assert plan.cvar_weight == old["robust"]["tail_weight"]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("row", ROWS, ids=named)
def test_purchases_are_those_of_the_plan(row: dict[str, Any]) -> None:
    """The old answer told them of one plan; the upgrade finds the same ones in its lines."""
    answer = read_answer(row["answer"])
    for scenario in answer.feasible:
        due = sum((p.due_at_start or Decimal(0) for p in scenario.purchases), Decimal(0))
        booked = [line for line in scenario.lines if line.category in ("capex", "upfront")]
        assert due == sum((line.amount for line in booked), Decimal(0))
    if answer.explanation and row["answer"].get("explanation"):
        told = [
            (p["month"], p["source"], p["units"]) for p in row["answer"]["explanation"]["purchases"]
        ]
        hybrid = next(s for s in answer.scenarios if s.key == "hybrid")
        found = [
            (p.month, p.source, p.units) for p in hybrid.purchases if p.kind != "capacity_block"
        ]
        assert found == told


def test_today_s_form_is_left_as_it_is() -> None:
    today = read_answer(ROWS[0]["answer"]).to_json()
    assert upgrade(today) is today
