"""Requests with every instrument at once against a plain model, and every sum: 6 of them, 1,000
under FUZZ=1."""

import os
from typing import Any

import pytest

from planner.comparison import solve
from planner.comparison.answer import build_scenarios
from planner.contract.answer.scenario import ScenarioAnswer
from pricing.market.snapshot import Catalog
from tests.planner.comparison.finance.plain_model import PlainModel
from tests.planner.comparison.finance.random_requests import random_request
from tests.planner.costing.market_of import TODAY

CHUNK = 20
SHORT = (2, 7, 8, 9, 12, 15)
"""Together they have every kind of cost."""
LONG = [tuple(range(first, first + CHUNK)) for first in range(0, 1000, CHUNK)]
SEEDS = LONG if os.environ.get("FUZZ") == "1" else [SHORT]
KINDS = ("operating", "depreciation", "lease", "interest", "resale", "tax")
CENTS = 0.006
"""Rounding of one line."""


def scenarios(request: dict[str, Any]) -> tuple[Any, tuple[ScenarioAnswer, ...]]:
    results = solve(request, Catalog.of([]), TODAY)
    return results, build_scenarios(results)


def offers_by_key(results: Any, request: dict[str, Any]) -> dict[str, Any]:
    by_label = {offer["label"]: offer for offer in request["custom_offers"]}
    return {s.key: by_label[s.label] for s in results.inputs.sources if s.label in by_label}


@pytest.mark.fuzz
@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"from {seeds[0]} on")
def test_equal_to_a_plain_model(seeds: tuple[int, ...]) -> None:
    seen: set[str] = set()
    for seed in seeds:
        request = random_request(seed)
        results, answers = scenarios(request)
        offers = offers_by_key(results, request)
        for answer in answers:
            if answer.feasible and answer.lines:
                _compare(request, answer, offers, seed)
                seen |= {line.category.value for line in answer.lines}
    contracts = {"commitment", "credit", "shortfall", "lease", "interest"}
    if {*SHORT} <= {*seeds}:
        assert contracts | {"compute", "capex", "storage", "egress"} <= seen


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
    cost, cash, leases = model.cost_of_years(), model.cash_of_years(), model.lease_books()
    for year in finance.fiscal_years:
        name = year.fiscal_year
        assert float(year.cash) == pytest.approx(cash[name], abs=most), (*where, year)
        for kind in KINDS:
            figure = float(getattr(year, kind))
            assert figure == pytest.approx(cost[name, kind], abs=most), (*where, kind, year)
        if year.leases is not None:
            figures = [year.leases.depreciation, year.leases.interest]
            plain = [leases[name, "depreciation"], leases[name, "interest"]]
            assert [float(x) for x in figures] == pytest.approx(plain, abs=most), (*where, year)
            on_balance = sum(plain) - cost[name, "lease"]
            assert float(year.leases.cost - year.cost) == pytest.approx(on_balance, abs=most)
    _sums(answer)
    _limits(request, answer, model)


def _limits(request: dict[str, Any], answer: ScenarioAnswer, model: PlainModel) -> None:
    """Budgets hold for all that is paid, after credits and taxes and before resale, counted from
    the plain model's flows."""
    limits, flows = request["constraints"], model.flows
    capital = [flow for flow in flows if flow.group == "depreciation"]
    if "capex_budget" in limits:
        assert sum(flow.amount for flow in capital) <= limits["capex_budget"] + 1
    for row in limits.get("capex_by_fiscal_year", ()):
        of_year = [f.amount for f in capital if model.year(f.month) == row["fiscal_year"]]
        assert sum(of_year) <= row["amount"] + 1
    due = model.due_per_month()
    assert sum(due.values()) <= limits.get("total_budget", 1e12) + 1
    assert max(due.values()) <= limits.get("monthly_budget", 1e12) + 1
    _supply(limits, answer)
    for row in answer.capacity:
        if "quotas" in limits and row.source.startswith("gcp:"):
            assert row.accelerators <= 8 + 1e-6


def _supply(limits: dict[str, Any], answer: ScenarioAnswer) -> None:
    """Limits on providers, terms and room, month by month."""
    for month in {row.month for row in answer.capacity}:
        rows = [row for row in answer.capacity if row.month == month]
        own = [row for row in rows if row.source.partition(":")[0] in ("server", "owned", "leased")]
        boxes = sum(row.accelerators for row in own) / 8
        assert 10 * boxes <= limits.get("power_kw", 1e9) + 1e-6
        assert 8 * boxes <= limits.get("rack_units", 1e9) + 1e-6
        used = sum(row.hours_used for row in rows)
        google = sum(row.hours_used for row in rows if row.source.startswith("gcp:"))
        assert google <= limits.get("max_provider_share", 1.0) * used * (1 + 1e-6)
        if "min_providers" in limits:
            sides = {"own" if row in own else row.source.split(":")[0] for row in rows}
            assert len(sides - {""}) >= limits["min_providers"], (month, rows)
    if limits.get("max_term_months", 12) < 12:
        assert not any(line.category == "upfront" for line in answer.lines)


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
