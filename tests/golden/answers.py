"""Nine fixed requests and their answers: every kind of work, of purchase and of limit."""

import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.market.snapshot import Catalog, Region
from tests.planner.costing.market_of import CATALOG, H100, TODAY, offer, request_of

MARKET = Catalog.of(
    [
        *(CATALOG.offers.offer(i) for i in range(len(CATALOG.offers))),
        offer("16.00", "reserved", term_months=12, payment_option="partial_upfront",
              upfront=Decimal(140_000)),
        offer("50.00", provider="gcp", region="us-central1", instance_type="a3-highgpu-8g"),
    ],
    regions={
        ("aws", "us-east-1"): Region(
            "north-america", country="US", g_co2e_per_kwh=379.0, carbon_source="EPA",
            name="US East (N. Virginia)",
        ),
        ("gcp", "us-central1"): Region("north-america", country="US"),
    },
)  # fmt: skip
NODE = {"accelerator": H100, "accelerator_count": 8}
BLOCK = NODE | {"purchase_option": "capacity_block", "usd_per_hour": 15, "label": "block"}


def whole(hours: Any = 4000, **fields: Any) -> dict[str, Any]:
    """A request that is also told what would be cheaper."""
    return request_of(hours, cheaper_if=True, **fields)


REQUESTS: dict[str, dict[str, Any]] = {
    "hours, commitments with upfront, tax, falling prices": whole(
        [4000.0] * 6 + [9000.0] * 12,
        horizon_months=18,
        finance={"tax_rate": 0.2, "cloud_price_trend_per_year": -0.2},
        data={"storage_gib": 10_000, "egress_gib_per_month": 100},
        price_adjustments=[{"provider": "aws", "multiplier": 0.9}],
        constraints={"max_spot_share": 0.2, "min_accelerators_per_node": 8},
        risk={"samples": 200, "seed": 5},
        on_prem={"servers": [{"server": "dgx-h100"}]},
    ),
    "servers bought in several months, sensitivity": whole(
        horizon_months=30,
        workload={
            "kind": "accelerator_hours",
            "accelerator": H100,
            "hours_per_month": [6000.0] * 8 + [12_000.0] * 8 + [24_000.0] * 14,
            "peak_accelerators": [9] * 8 + [17] * 8 + [33] * 14,
        },
        sensitivity=True,
        finance={"cloud_price_trend_per_year": 0.08, "depreciation": "macrs_5"},
        on_prem={
            "servers": [{"server": "hgx-h100-8", "unit_price": 190_000}],
            "lead_time_months": 3,
            "late_delivery_probability": 0.2,
        },
        constraints={"max_spot_share": 0},
    ),
    "training in euros": {
        "start": "2027-02",
        "horizon_months": 9,
        "currency": "EUR",
        "exchange_rates": {"EUR": 0.92},
        "workload": {
            "kind": "training",
            "parameters": 7e9,
            "tokens": 2e12,
            "runs": [{"start": "2027-03", "deadline": "2027-06"}],
        },
        "constraints": {"accelerators": ["H100"]},
        "sensitivity": False,
    },
    "samples with a range, risk": {
        "start": "2027-01",
        "horizon_months": 6,
        "workload": {
            "kind": "samples",
            "samples": 5e9,
            "epochs": 90,
            "samples_per_second": 2500,
            "accelerator": H100,
            "runs": [{"start": "2027-01"}, {"start": "2027-04", "deadline": "2027-05"}],
        },
        "sensitivity": False,
        "on_prem": {"lead_time_months": 3, "late_delivery_probability": 0.2},
        "risk": {"samples": 400, "seed": 7},
    },
    "capacity blocks": whole(
        6000,
        horizon_months=8,
        custom_offers=[BLOCK | {"available_from": "2027-03", "available_until": "2027-05"}],
        constraints={"purchase_options": ["on_demand", "capacity_block", "spot"]},
        on_prem={"servers": []},
    ),
    "most scenarios infeasible": whole(
        9000,
        horizon_months=6,
        term_end="full",
        constraints={
            "capex_budget": 1000,
            "max_spot_share": 0.3,
            "purchase_options": ["reserved"],
            "quotas": [{"provider": "aws", "accelerator": H100, "max_accelerators": 16}],
        },
    ),
    "nothing feasible": whole(
        1000, horizon_months=3, constraints={"min_accelerator_memory_gib": 4000}
    ),
    "risk, limits": whole(
        9000,
        horizon_months=12,
        finance={"cloud_price_trend_per_year": -0.1, "tax_rate": 0.25},
        constraints={"max_spot_share": 0.2, "capex_budget": 400_000},
        data={"storage_gib": 5000, "egress_gib_per_month": 300},
        on_prem={"servers": [{"server": "hgx-h100-8"}], "residual_rate": 0.5},
        risk={"samples": 300, "seed": 3},
    ),
    "owed after the horizon": whole(
        11_680,
        horizon_months=30,
        finance={"tax_rate": 0.2, "discount_rate_per_year": 0},
        data={"storage_gib": 2000, "egress_gib_per_month": 50},
        on_prem={"servers": []},
        term_end="full",
    ),
}

SERVERS = {"servers": [{"server": "dgx-h100"}, {"server": "hgx-h100-8", "unit_price": 190_000}]}
OWNED = SERVERS | {"already_owned": [{"server": "dgx-h100", "units": 1, "bought": "2025-06"}]}
CREDIT = {"label": "grant", "provider": "aws", "amount": 100_000, "expires": "2027-09"}
SPEND = {"label": "deal", "provider": "aws", "amount": 900_000, "first": "2027-01"}
DEAL = SPEND | {"last": "2028-12"}
CUT = {"provider": "aws", "multiplier": 0.9}
NODES = {"kind": "accelerator_hours", "accelerator": "H100"}
PEAK = NODES | {"hours_per_month": [3000, 9000, 18_000] * 4, "peak_accelerators": [8, 16, 32] * 4}
RISK = {"samples": 200, "seed": 3}
CHANGES: dict[str, dict[str, Any]] = {
    "spot in part": {"constraints": {"max_spot_share": 0.5}, "sensitivity": True},
    "within": {"term_end": "within", "horizon_months": 15},
    "credits": {"existing": {"credits": [CREDIT]}, "risk": RISK},
    "minimum spend": {
        "existing": {"minimum_spend": [DEAL]},
        "price_adjustments": [CUT],
        "cheaper_if": True,
    },
    "owned": {"on_prem": OWNED, "finance": {"tax_rate": 0.25}, "risk": RISK},
    "late, resale": {
        "on_prem": SERVERS
        | {"late_delivery_probability": 0.4, "late_delivery_months": 3, "residual_rate": 0.4}
    },
    "cash at the end of years": {
        "finance": {"cash_timing": "year_end", "payment_terms_days": 60, "tax_rate": 0.21},
        "on_prem": SERVERS,
        "horizon_months": 36,
    },
    "budgets": {"constraints": {"monthly_budget": 250_000, "total_budget": 4_000_000}},
    "capital": {"constraints": {"capex_budget": 600_000}, "on_prem": SERVERS, "cheaper_if": True},
    "peaks": {"workload": PEAK, "horizon_months": 12, "risk": RISK, "sensitivity": True},
    "growth": {"risk": RISK | {"demand_growth_sd": 0.4}, "horizon_months": 36},
}
RICH = json.loads(Path(__file__).with_name("rich_requests.json").read_text())
"""Requests that name nearly every field."""
CASES: dict[str, dict[str, Any]] = {
    **REQUESTS,
    **{name: request_of(9000, **more) for name, more in CHANGES.items()},
    **RICH["comparisons"],
}
"""What answers are kept of."""

FEASIBLE: dict[str, tuple[str, ...]] = {
    "hours, commitments with upfront, tax, falling prices": (
        "on_demand",
        "cloud",
        "on_prem",
        "hybrid",
    ),
    "servers bought in several months, sensitivity": ("on_demand", "cloud", "on_prem", "hybrid"),
    "training in euros": ("on_demand", "cloud", "on_prem", "hybrid"),
    "samples with a range, risk": ("on_demand", "cloud", "on_prem", "hybrid"),
    "capacity blocks": ("on_demand", "cloud", "hybrid"),
    "most scenarios infeasible": ("cloud", "hybrid"),
    "nothing feasible": (),
    "risk, limits": ("on_demand", "cloud", "hybrid"),
    "owed after the horizon": ("on_demand", "cloud", "hybrid"),
}
"""Scenarios of each request that have a plan."""


@cache
def answered(name: str) -> ComparisonAnswer:
    """The answer of one of the cases, worked out once."""
    return compare(CASES[name], MARKET, today=TODAY)
