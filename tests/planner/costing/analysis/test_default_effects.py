"""Whom each default favours, where the plans' costs are given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis import sensitivity as default_effects
from planner.costing.analysis.sensitivity import (
    NEUTRAL,
    DefaultEffect,
    measure_default_effects,
)
from planner.costing.assumptions.assumptions import Assumption, Assumptions

OWN, RENT, DEAR = ScenarioKey.ON_PREM, ScenarioKey.COMMITTED, ScenarioKey.ON_DEMAND
VALUES = {
    "pue": 1.3, "tax_rate": 0.25, "electricity_per_kwh": 0.2, "samples": 100.0,
    "staff_accelerators_per_fte": 50.0, "cloud_staff_fte_per_accelerator": 0.01,
    "insurance_rate_per_year": 0.0, "install_cost_rate": 0.02,
}  # fmt: skip
ROWS = tuple(
    Assumption(f"on_prem.{name}", value, "unit", name == "install_cost_rate", "")
    for name, value in VALUES.items()
)
OWN_COST = {"pue": 400.0, "tax_rate": 30.0, "electricity_per_kwh": 0.004}
"""What a unit of each default adds to owning."""


class Inputs(SimpleNamespace):
    def select_sources(self, keys: set[str]) -> Inputs:
        self.selected.append(keys)
        return self

    def with_assumption(self, name: str, value: float) -> Inputs:
        assumed = Assumptions({**self.assumptions.values, name: value}, self.assumptions.rows)
        return Inputs(**{**vars(self), "assumptions": assumed})


def plan(key: ScenarioKey, cost: float, source: str, feasible: bool = True) -> Any:
    return SimpleNamespace(
        key=key, feasible=feasible, net_present_cost=cost,
        units_started={source: 1} if source == "server" else {}, used_hours={source: 1},
    )  # fmt: skip


PLANS = {
    OWN: plan(OWN, 500, "server"),
    RENT: plan(RENT, 300, "reserved"),
    DEAR: plan(DEAR, 400, "od"),
}


def effects(
    monkeypatch: pytest.MonkeyPatch,
    plans: Any = PLANS,
    allowed: Any = None,
    fallback: str = "od",
    option: str = "owned",
) -> tuple[list[DefaultEffect], list[set[str]]]:
    def costs(pair: Any, inputs: Any) -> tuple[float, float]:
        """Renting costs 30 for each accelerator that one person looks after."""
        assert pair[0].key == OWN
        values = inputs.assumptions.values
        own = sum(values[name] * rate for name, rate in OWN_COST.items())
        return own, 3 * values["staff_accelerators_per_fte"]

    monkeypatch.setattr(default_effects, "cost_plans", costs)
    sources = {
        key: SimpleNamespace(key=key, purchase_option=of, is_owned=key == "server", accelerators=8)
        for key, of in (("server", option), ("reserved", "reserved"), ("od", "on_demand"))
    }
    inputs: Any = Inputs(
        by_key=sources, assumptions=Assumptions(VALUES, ROWS), selected=[],
        fallback=SimpleNamespace(key=fallback) if fallback else None,
        sources=tuple(sources.values()), calendar=SimpleNamespace(length=12),
    )  # fmt: skip
    found = measure_default_effects(inputs, plans, plans if allowed is None else allowed)
    return found, inputs.selected


def test_each_default_is_put_to_where_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """1.3 less 1 of 400, 0.25 of 30; people look after 50 as they do after 100 rented ones, and
    what is given, at nothing already or worth under half a cent is left out."""
    rows, selected = effects(monkeypatch)
    assert [(row.field, row.value, row.neutral) for row in rows] == [
        ("on_prem.staff_fte_per_server", 8 / 50, 8 / 100), ("on_prem.pue", 1.3, 1),
        ("on_prem.tax_rate", 0.25, 0),
    ]  # fmt: skip
    assert [row.effect for row in rows] == pytest.approx([150, 120, 7.5])
    assert [row.unit for row in rows] == ["full-time equivalents per server", "unit", "unit"]
    assert selected == [{"server", "reserved", "od"}]


def test_half_a_cent_is_shown_from_there_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OWN_COST, "electricity_per_kwh", 0.024)
    assert "on_prem.electricity_per_kwh" not in {r.field for r in effects(monkeypatch)[0]}
    monkeypatch.setitem(OWN_COST, "electricity_per_kwh", 0.026)
    row = effects(monkeypatch)[0][-1]
    assert (row.field, row.effect) == ("on_prem.electricity_per_kwh", pytest.approx(0.0052))


def test_only_sources_of_both_plans_and_the_fallback_are_costed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert effects(monkeypatch, fallback="")[1] == [{"server", "reserved"}]
    only_dear = {DEAR: PLANS[DEAR]}
    assert effects(monkeypatch, allowed=only_dear, fallback="")[1] == [{"server", "od"}]


@pytest.mark.parametrize(
    "fields",
    [
        {"plans": {RENT: PLANS[RENT]}},
        {"plans": {**PLANS, OWN: plan(OWN, 500, "server", feasible=False)}},
        {"allowed": {OWN: PLANS[OWN]}},
        {"allowed": {RENT: plan(RENT, 300, "reserved", feasible=False)}},
        {"option": "on_demand"},
    ],
)
def test_without_a_fair_pair_there_is_nothing_to_tell(
    monkeypatch: pytest.MonkeyPatch, fields: Any
) -> None:
    assert effects(monkeypatch, **fields)[0] == []


@pytest.mark.parametrize(("effect", "gains"), [(-0.5, "own"), (0.0, "rent"), (0.5, "rent")])
def test_a_default_that_makes_owning_cheaper_favours_it(effect: float, gains: str) -> None:
    assert DefaultEffect("f", "", 1, 0, effect).gains == gains


def test_people_are_left_out_where_rented_ones_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VALUES, "cloud_staff_fte_per_accelerator", 0.0)
    rows, _ = effects(monkeypatch)
    assert [row.field for row in rows] == ["on_prem.pue", "on_prem.tax_rate"]


def test_rates_do_nothing_at_0_and_factors_at_1() -> None:
    assert {name for name, value in NEUTRAL.items() if value == 1.0} == {
        "pue", "utilisation_ceiling",
    }  # fmt: skip
    assert {*NEUTRAL.values()} == {0.0, 1.0}
    assert default_effects.RENTED == (
        ScenarioKey.ON_DEMAND, ScenarioKey.SPOT, ScenarioKey.COMMITTED, ScenarioKey.CLOUD_MIX,
    )  # fmt: skip
