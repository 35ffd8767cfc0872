"""A plan of more accelerators than any cluster has says so first."""

from __future__ import annotations

import pytest

from planner.sizing.performance.beyond_published import LARGEST_CLUSTER
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

RENT = {"horizon_months": 12, "on_prem": {"servers": []}}


@pytest.mark.parametrize("rules", [1, 5])
def test_a_plan_of_more_accelerators_than_any_cluster_says_so_first(rules: int) -> None:
    found = compared(catalog(offer("50")), 1e10, rules=rules, **RENT)
    assert found.warnings[0].startswith("13,698,63")
    assert "more than the largest known training clusters have" in found.warnings[0]


def test_a_plan_of_as_many_says_nothing() -> None:
    found = compared(catalog(offer("50")), LARGEST_CLUSTER * 730, **RENT)
    assert not [words for words in found.warnings if "largest known" in words]


def test_many_machines_are_told_in_figures() -> None:
    found = compared(catalog(offer("50")), 1e10, **RENT)
    assert found.answer.verdict is not None
    assert "ent 1,712,329 × p5.48xlarge" in found.answer.verdict.headline
