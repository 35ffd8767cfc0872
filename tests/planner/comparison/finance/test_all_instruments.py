"""Requests with every instrument at once against a plain model, and every sum: 20 of them, 300
under FUZZ=1."""

from __future__ import annotations

import os
from typing import Any

import pytest

from planner.comparison import solve
from planner.comparison_steps.build_scenario import build_scenarios
from planner.contract.answer.scenario import ScenarioAnswer
from pricing.market.snapshot import Catalog
from tests.planner.comparison.finance.plain_model import PlainModel
from tests.planner.comparison.finance.random_requests import random_request
from tests.planner.costing.market_of import TODAY

CHUNK = 20
SEEDS = 300 if os.environ.get("FUZZ") == "1" else CHUNK
CENTS = 0.006
"""Rounding of one line."""


def scenarios(request: dict[str, Any]) -> tuple[Any, tuple[ScenarioAnswer, ...]]:
    results = solve(request, Catalog.of([]), TODAY)
    return results, build_scenarios(results)


def offers_by_key(results: Any, request: dict[str, Any]) -> dict[str, Any]:
    by_label = {offer["label"]: offer for offer in request["custom_offers"]}
    return {s.key: by_label[s.label] for s in results.inputs.sources if s.label in by_label}


@pytest.mark.fuzz
@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_equal_to_a_plain_model(first: int) -> None:
    seen: set[str] = set()
    for seed in range(first, first + CHUNK):
        request = random_request(seed)
        results, answers = scenarios(request)
        offers = offers_by_key(results, request)
        for answer in answers:
            if answer.feasible and answer.lines:
                _compare(request, answer, offers, seed)
                seen |= {line.category.value for line in answer.lines}
    assert {"compute", "commitment", "capex", "credit", "shortfall", "lease", "interest"} <= seen


def _compare(request: dict[str, Any], answer: ScenarioAnswer, offers: Any, seed: int) -> None:
    model, finance = PlainModel(request, answer, offers), answer.finance
    assert finance is not None
    total = float(answer.require_total())
    most = CENTS * len(answer.lines) + 0.5
    where = (seed, answer.key.value)
    by_category = model.by_category()
    for category, amount in answer.cost_by_category.items():
        assert float(amount) == pytest.approx(by_category[category], abs=most), (*where, category)
    assert total == pytest.approx(model.total, abs=most), where
    assert float(answer.require_present_cost()) == pytest.approx(model.present, abs=most), where
    cost, cash = model.cost_of_years(), model.cash_of_years()
    for year in finance.fiscal_years:
        assert float(year.cash) == pytest.approx(cash[year.fiscal_year], abs=most), (*where, year)
        if not request["finance"]["tax_rate"]:
            assert float(year.cost) == pytest.approx(cost[year.fiscal_year], abs=most), (
                *where,
                year,
            )
    _sums(answer)


def _sums(answer: ScenarioAnswer) -> None:
    finance = answer.finance
    assert finance is not None
    years, total = finance.fiscal_years, answer.total_cost
    assert sum(line.amount for line in answer.lines) == total
    assert sum(year.cash for year in years) == total
    assert sum(year.cost for year in years) == total
    assert sum(answer.accrued_per_month) == total
    if finance.has_leases:
        assert sum(year.leases.cost for year in years if year.leases) == total
