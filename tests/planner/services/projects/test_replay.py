"""A number once approved is computed again years later, whatever came in the meantime."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from django.core.cache import cache

from planner.contract.answer.comparison import VERSION
from planner.costing.assumptions import defaults
from planner.services.projects.replay_versions import find_fields_left_out
from planner.services.projects.reprice import catalog_on_date, reprice
from planner.services.projects.saved_comparisons import replay
from planner.services.teams import teams
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.models import ExchangeRate
from tests.planner.workspace import REQUEST, SEEN, WHOLE, Workspace, market

pytestmark = pytest.mark.django_db
OWNING = {**REQUEST, **WHOLE, "on_prem": {"servers": [{"server": "dgx-h100"}]}}


@pytest.fixture
def work() -> Workspace:
    ExchangeRate.objects.create(
        currency="EUR", date=SEEN - dt.timedelta(days=60), units_per_usd=Decimal("0.8684")
    )
    market()
    return Workspace("alpha")


@pytest.fixture
def other_defaults(monkeypatch: pytest.MonkeyPatch) -> Any:
    def changed(**values: float) -> None:
        """As a later release of the program would have them."""
        table = dict(defaults.all_defaults())
        for field, value in values.items():
            table[field] = replace(table[field], value=value, source="a later source")
        later = MappingProxyType(table)
        monkeypatch.setattr(defaults, "all_defaults", lambda rules=2: later)

    return changed


def test_a_rate_that_arrives_late_changes_nothing(work: Workspace) -> None:
    kept = work.saved(request={**REQUEST, **WHOLE, "currency": "EUR"})
    assert kept.answer["exchange_rate"]["units_per_usd"] == "0.8684"
    ExchangeRate.objects.create(
        currency="EUR", date=SEEN - dt.timedelta(days=1), units_per_usd=Decimal("0.9")
    )
    assert replay(kept).identical


def test_what_the_program_assumes_otherwise_today_changes_nothing_and_is_told(
    work: Workspace, other_defaults: Any
) -> None:
    kept = work.saved(request=OWNING)
    other_defaults(pue=1.9, colocation_per_kw_month=999.0)
    told = replay(kept)
    assert told.identical, told.differences
    changed = {row.field: (row.kept, row.now) for row in told.changed_defaults}
    assert changed["on_prem.pue"] == (1.56, 1.9)
    assert set(changed) == {"on_prem.pue", "on_prem.colocation_per_kw_month"}


def test_nothing_is_told_where_no_default_changed(work: Workspace) -> None:
    assert replay(work.saved(request=OWNING)).changed_defaults == []


def test_a_new_default_is_an_assumption_and_not_a_price(
    work: Workspace, other_defaults: Any
) -> None:
    kept = work.saved(request=OWNING)
    other_defaults(pue=1.9)
    row = next(
        row for row in reprice(kept, catalogs.current()).difference if row.scenario == "on_prem"
    )
    causes = row.total_cost.causes
    assert Decimal(causes["prices"]) == 0
    assert Decimal(causes["assumptions"]) > 0


def test_what_the_team_added_is_told_in_the_order_it_was_kept(work: Workspace) -> None:
    """A database may keep a mapping in another order than it was written."""
    defaults = {"finance": {"tax_rate": 0.2, "discount_rate_per_year": 0.07}}
    settings = {"defaults": defaults, "price_adjustments": [{"multiplier": 0.9}]}
    work.team = teams.change_settings(work.access(), work.team, settings)
    kept = work.saved()
    kept.inherited = dict(reversed(kept.inherited.items()))
    kept.save()
    kept.refresh_from_db()
    assert len(kept.inherited) == 3
    assert replay(kept).identical


def test_last_digits_and_what_answers_say_more_are_no_differences(work: Workspace) -> None:
    kept = work.saved(request=OWNING)
    kept.answer["demand"]["hours_per_month"][0] *= 1 + 1e-13
    del kept.answer["warnings"]
    assert replay(kept).identical
    kept.answer["demand"]["hours_per_month"][0] *= 1 + 1e-6
    kept.answer["asked_long_ago"] = True
    told = [row.field for row in replay(kept).differences]
    assert told == ["demand.hours_per_month.0", "asked_long_ago"]


def test_a_job_above_the_peak_saved_before_it_was_refused_replays(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused of new questions."""
    contradiction = {"peak_accelerators": 8, "accelerators_per_job": 16}
    asked = {**REQUEST, "workload": {**REQUEST["workload"], **contradiction}}
    with pytest.raises(InvalidInput, match="more than the peak of 8"):
        work.saved(request=asked)
    with monkeypatch.context() as before:
        before.setattr("planner.comparison.refuse_job_above_peak", lambda workload: None)
        kept = work.saved(request=asked)
    assert replay(kept).identical


@pytest.mark.parametrize("follows", [True, False])
def test_a_job_above_the_peak_saved_before_is_repriced_with_its_peak_raised(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, follows: bool
) -> None:
    contradiction = {"peak_accelerators": 8, "accelerators_per_job": 16}
    asked = {**REQUEST, "workload": {**REQUEST["workload"], **contradiction}}
    with monkeypatch.context() as before:
        before.setattr("planner.comparison.refuse_job_above_peak", lambda workload: None)
        saved = work.saved(request=asked)
    saved.project.workload, saved.follows_project = asked["workload"], follows
    cache.clear()

    repriced = reprice(saved, catalog_on_date(None))

    assert repriced.request["workload"]["peak_accelerators"] in (16, [16])
    changes = {one.field: one for one in repriced.request_changes}
    assert changes["workload"].before["peak_accelerators"] in (8, [8])
    assert changes["workload"].after["peak_accelerators"] in (16, [16])
    assert repriced.answer.recommended is not None


@pytest.mark.parametrize("version", [7, 8])
def test_an_answer_from_before_budgets_of_fiscal_years_were_listed_replays(
    work: Workspace, version: int
) -> None:
    """Its figures are held against today's, what it did not say of capital budgets is not."""
    limits = {"capex_by_fiscal_year": [{"fiscal_year": 2027, "amount": 1000}], "capex_budget": 500}
    saved = work.saved(request={**OWNING, "constraints": limits})
    answer = saved.answer
    assert len(answer["verdict"]["budget"]) == 2
    verdict = {**answer["verdict"], "budget": answer["verdict"]["budget"][:1], "reasons": []}
    relaxed = [
        {**one, "relaxations": [{**limit, "change": "as before"} for limit in one["relaxations"]]}
        for one in answer["scenarios"]
    ]
    saved.answer = {
        **answer, "version": version, "verdict": verdict, "cheaper_if": [], "scenarios": relaxed,
    }  # fmt: skip
    again = replay(saved)
    assert again.identical, again.differences
    saved.answer = {**saved.answer, "verdict": {**verdict, "total": "1.00"}}
    assert [one.field for one in replay(saved).differences] == ["verdict.total"]


def test_what_an_answer_of_before_named_otherwise_is_no_difference() -> None:
    """Months without work and the effect of default staff made plans of November 2026 differ."""
    for version in range(1, VERSION):
        left_out = find_fields_left_out(version)
        assert "idle_months" in left_out or "purchases" in left_out, version
        assert version == 9 or "default_effects" in left_out, version
    assert "idle_months" not in find_fields_left_out(VERSION)
