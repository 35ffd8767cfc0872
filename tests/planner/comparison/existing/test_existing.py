"""Commitments, leases, credits and minimum spends: owed, used first, and counted by hand."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings

from planner.comparison import compare, solve
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import RENT_ALONE, TODAY

PAGE = (Path(settings.BASE_DIR) / "docs" / "guides" / "what-is-there.md").read_text()
EXAMPLE = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
SIGNED = {
    "label": "Reservation", "provider": "aws", "accelerator": "H100", "accelerator_count": 8,
    "price_per_month": 20_000, "ends": "2028-03",
}  # fmt: skip
SERVER = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8,
          "unit_price": 300_000, "running_cost_per_hour": 2, "max_units": 0}  # fmt: skip
LEASE = {"server": "Box", "rent_per_month": 9_000, "ends": "2027-06"}
CREDIT = {"label": "Startup", "amount": 100_000, "provider": "aws", "expires": "2027-06"}
MINIMUM = {"label": "EDP", "provider": "aws", "amount": 300_000, "first": "2027-01",
           "last": "2027-12"}  # fmt: skip


PLAIN = {"sensitivity": False, "cheaper_if": False}


def request(**fields: Any) -> dict[str, Any]:
    return json.loads(json.dumps(EXAMPLE)) | PLAIN | {"finance": RENT_ALONE} | fields


def asked(existing: dict[str, Any], **fields: Any) -> ComparisonAnswer:
    return compare(request(existing=existing, **fields), Catalog.of([]), today=TODAY)


def test_the_worked_example() -> None:
    plan = compare(EXAMPLE | PLAIN, Catalog.of([]), today=TODAY).by_key[ScenarioKey.ON_DEMAND]
    without = asked({}).by_key[ScenarioKey.ON_DEMAND]
    assert f"{without.total_cost:,.0f} USD" in PAGE
    assert f"{plan.total_cost:,.0f} USD in all" in PAGE
    assert not [line for line in plan.lines if line.category == "shortfall"]


def test_a_commitment_is_owed_to_its_end_and_used_first() -> None:
    plain, signed = (
        asked(one).by_key[ScenarioKey.ON_DEMAND] for one in ({}, {"commitments": [SIGNED]})
    )
    assert signed.cost_by_category["commitment"] == 15 * 20_000
    assert signed.owed_after == 3 * 20_000
    assert signed.cost_by_category["compute"] == plain.cost_by_category["compute"] / 2
    used = [row for row in signed.capacity if ":signed:" in row.source]
    assert all(row.hours_used == row.hours_available == 5840 for row in used)
    within = asked({"commitments": [SIGNED]}, term_end="within").by_key[ScenarioKey.ON_DEMAND]
    assert within.cost_by_category["commitment"] == 12 * 20_000


def test_what_a_signed_commitment_costs_after_a_short_plan_is_said() -> None:
    """Plans of less than a year count none of it: owed it is all the same."""
    short = asked({"commitments": [SIGNED]}, term_end="within").verdict
    assert short is not None
    assert "60,000 USD more is owed after December 2027 and not counted" in short.sentence
    whole = asked({"commitments": [SIGNED]}).verdict
    assert whole is not None
    assert (short.owed_after, whole.owed_after) == (0, 60_000)


def test_a_commitment_to_other_hardware_is_owed_all_the_same() -> None:
    other = SIGNED | {"accelerator": "T4", "label": "Old"}
    limits = {"accelerators": ["H100"]}
    plan = asked({"commitments": [other]}, constraints=limits).by_key[ScenarioKey.ON_DEMAND]
    assert plan.cost_by_category["commitment"] == 15 * 20_000
    assert plan.cost_by_category["compute"] == 700_800


def test_a_lease_is_owed_operated_and_given_back() -> None:
    own = {"servers": [SERVER]}
    plan = asked({"leased_servers": [LEASE]}, on_prem=own).by_key[ScenarioKey.ON_DEMAND]
    assert plan.cost_by_category["lease"] == 6 * 9_000
    served = [row.month for row in plan.capacity if row.source.startswith("leased:")]
    assert served == list(range(6))
    assert plan.cost_by_category["power"] == 6 * 730 * 2
    assert plan.finance is not None
    assert sum(year.cost for year in plan.finance.fiscal_years) == plan.total_cost


def by_hand(existing: dict[str, Any], months: int, rate: float = 0.0) -> float:
    """The least total of any number of machines at either provider in each month, one of which
    moves to AWS for as long as what it pays of still lasts: tried out."""
    best = np.inf
    pools = [*existing.get("credits", ()), *existing.get("minimum_spend", ())]
    at_aws = [one["amount"] for one in pools if one["provider"] == "aws"]
    for split, part, spent in itertools.product(
        itertools.product(range(3), repeat=months), range(months), {*at_aws, sum(at_aws)}
    ):
        hours = [730.0 * n for n in split]
        hours[part] += min(max(spent / 50 - sum(hours), 0.0), 1460 - hours[part])
        aws = [50 * each for each in hours]
        gcp = [40 * (1460 - each) for each in hours]
        total = sum(aws) + sum(gcp)
        left = list(aws)
        for credit in existing.get("credits", ()):
            until = int(credit["expires"][5:]) if credit["expires"].startswith("2027") else months
            amount = credit["amount"]
            bills = left if credit["provider"] == "aws" else gcp
            for month in range(min(until, months)):
                used = min(bills[month], amount)
                bills[month] -= used
                amount -= used
                total -= used
        for least in existing.get("minimum_spend", ()):
            counted = sum(left[: int(least["last"][5:])])
            total += max(0, least["amount"] - counted)
        best = min(best, total)
    return best


@pytest.mark.parametrize(
    "existing",
    [
        {"credits": [CREDIT]},
        {"credits": [CREDIT | {"expires": "2027-02"}]},
        {"credits": [CREDIT | {"amount": 20_000}]},
        {"minimum_spend": [MINIMUM | {"last": "2027-06", "amount": 150_000}]},
        {"minimum_spend": [MINIMUM | {"last": "2027-06", "amount": 30_000}]},
        {"credits": [CREDIT | {"amount": 50_000}],
         "minimum_spend": [MINIMUM | {"last": "2027-06", "amount": 120_000}]},
        {"credits": [CREDIT, CREDIT | {"label": "Google", "provider": "gcp", "amount": 90_000}]},
    ],
)  # fmt: skip
def test_near_the_least_of_all_plans_and_never_below_its_bound(existing: dict[str, Any]) -> None:
    rent = RENT_ALONE | {"discount_rate_per_year": 0}
    answer = asked(existing, horizon_months=6, finance=rent)
    plan = answer.by_key[ScenarioKey.ON_DEMAND]
    least = by_hand(existing, 6)
    assert float(plan.total_cost or 0) >= least - 0.01
    assert float(plan.bound or 0) <= least + 0.01
    assert float(plan.total_cost or 0) <= least + 0.01
    assert plan.gap is not None
    assert least >= float(plan.total_cost or 0) * (1 - plan.gap) - 0.01


def test_what_the_search_counts_is_what_the_lines_come_to() -> None:
    existing = {"credits": [CREDIT], "minimum_spend": [MINIMUM], "commitments": [SIGNED]}
    for finance in (
        {},
        {"tax_rate": 0.25},
        {"cash_timing": "month_end"},
        {"cloud_support_rate": 0.1},
    ):
        found = solve(
            request(existing=existing, finance=RENT_ALONE | finance), Catalog.of([]), TODAY
        )
        for scenario in found.scenarios.values():
            if scenario.feasible:
                present = float(scenario.net_present_cost)
                assert present == pytest.approx(scenario.cost, abs=1.0), finance
                assert scenario.bound <= scenario.cost + 0.01


def test_a_credit_pays_nothing_that_is_due_in_advance() -> None:
    """A year at 30 USD an hour is 262,800 USD, which the credit pays; 200,000 USD at once are not
    paid by it."""
    term = {"provider": "aws", "accelerator": "H100", "accelerator_count": 8,
            "purchase_option": "reserved", "term_months": 12}  # fmt: skip
    offers = [
        term | {"label": "At once", "usd_per_hour": 0, "upfront_usd": 200_000},
        term | {"label": "Monthly", "usd_per_hour": 30},
    ]
    work = EXAMPLE["workload"] | {"hours_per_month": 5840}
    credit = CREDIT | {"amount": 262_800, "expires": "2027-12"}
    for one, total in ((credit, 0), (credit | {"amount": 50_000}, 200_000)):
        every = [*EXAMPLE["custom_offers"], *offers]
        found = asked({"credits": [one]}, custom_offers=every, workload=work)
        assert found.by_key[ScenarioKey.CLOUD].total_cost == total


def test_the_risk_has_credits_and_shortfalls() -> None:
    existing = {"credits": [CREDIT], "minimum_spend": [MINIMUM]}
    plan = asked(existing)
    assert plan.risk is not None
    assert plan.risk.on_demand is not None
    total = float(plan.by_key[ScenarioKey.ON_DEMAND].net_present_cost or 0)
    assert float(plan.risk.on_demand.mean) == pytest.approx(total, rel=0.1)


@pytest.mark.parametrize(
    ("existing", "field"),
    [
        ({"credits": [CREDIT, CREDIT]}, "existing.credits.1.label"),
        ({"minimum_spend": [MINIMUM | {"last": "2026-12"}]}, "existing.minimum_spend.0.last"),
        ({"minimum_spend": [MINIMUM | {"spent": 1e6}]}, "existing.minimum_spend.0.spent"),
        ({"credits": [CREDIT | {"amount": 0}]}, "existing.credits.0.amount"),
        ({"commitments": [SIGNED | {"accelerator": "H"}]}, "existing.commitments.0.accelerator"),
        ({"leased_servers": [LEASE | {"server": "none"}]}, "existing.leased_servers.0.server"),
    ],
)
def test_what_is_refused(existing: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        asked(existing)
    assert caught.value.field == field
