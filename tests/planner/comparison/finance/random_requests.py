"""Requests with every instrument at once, from a seed."""

import random
from typing import Any

from tests.planner.costing.market_of import H100


def random_request(seed: int) -> dict[str, Any]:
    draw = random.Random(seed)

    def rate(*values: Any) -> Any:
        return draw.choice(values)

    months = draw.randint(12, 22)
    method = draw.choice(["purchase", "loan", "hire_purchase", "lease"])
    financing: dict[str, Any] = {"method": method}
    if method != "purchase":
        financing |= {
            "months": draw.randint(6, 24), "interest_rate_per_year": rate(0.0, 0.06, 0.14),
            "deposit_rate": rate(0.0, 0.1), "balloon_rate": rate(0.0, 0.3),
            "payments": draw.choice(["in_advance", "in_arrears"]),
        }  # fmt: skip
    return {
        "start": "2027-01",
        "horizon_months": months,
        "use_catalog": False,
        **{"sensitivity": False, "cheaper_if": False, "decide_every_months": 0},
        "term_end": draw.choice(["full", "within"]),
        "workload": {
            "kind": "accelerator_hours", "accelerator": H100,
            "hours_per_month": [draw.choice([5840, 9000, 11680, 17520]) for _ in range(months)],
        },
        "custom_offers": [
            _offer("Eight at AWS", "aws", draw.uniform(30, 60)),
            _offer("Eight at Google", "gcp", draw.uniform(30, 60)),
            _offer("A year at AWS", "aws", draw.uniform(8, 25), "reserved", 12,
                   draw.choice([0, 40_000])),
        ],
        "on_prem": {
            "servers": [{
                "server": "custom", "label": "Box", "accelerator": H100, "accelerator_count": 8,
                "unit_price": round(draw.uniform(120_000, 420_000), 2), "power_kw": 10,
                "typical_power_kw": rate(7, 10), "idle_power_kw": 2, "rack_units": 8,
                **_own_terms(draw, financing),
            }],
            "already_owned": draw.choice([[], [], [{"server": "Box", "units": draw.randint(1, 2),
                                                    "bought": rate("2025-09", "2026-10")}]]),
            "financing": rate(financing, {"method": "purchase"}),
            "electricity_per_kwh": 0.1, "pue": 1.3, "colocation_per_kw_month": rate(0, 150),
            "support_rate_per_year": rate(0.0, 0.08), "network_storage_rate": rate(0.0, 0.12),
            "install_cost_rate": rate(0.0, 0.02), "spare_rate": rate(0.0, 0.05),
            "staff_fte_per_server": rate(0.0, 0.1), "staff_cost_per_year": 150_000,
            "insurance_rate_per_year": rate(0.0, 0.01), "useful_life_months": draw.choice([24, 48]),
            "residual_rate": 0.7, "resale_cost_rate": 0.1,
            "lead_time_months": draw.randint(0, 3), "utilisation_ceiling": 1,
        },
        "existing": _existing(draw),
        "constraints": _limits(draw),
        "data": _data(draw),
        "finance": {
            "discount_rate_per_year": rate(0.0, 0.1), "tax_rate": rate(0.0, 0.0, 0.25),
            "upfront_deduction_spread": rate(0.0, 0.5, 1.0, 1.0),
            "depreciation": rate("straight_line", "straight_line", "macrs_5", "none"),
            "cloud_support_rate": rate(0.0, 0.07),
            "cloud_staff_fte_per_accelerator": rate(0, 0.001),
            "cloud_price_trend_per_year": rate(0.0, -0.1),
            "electricity_trend_per_year": rate(0.0, 0.05),
            "staff_cost_trend_per_year": rate(0.0, 0.04),
            "colocation_trend_per_year": rate(0.0, 0.06), "support_trend_per_year": rate(0.0, 0.03),
            "server_price_trend_per_year": rate(0.0, -0.08),
            "cash_timing": draw.choice(["month_start", "month_middle", "month_end", "year_end"]),
            "payment_terms_days": draw.choice([0, 0, 30, 75]),
            "fiscal_year_start_month": draw.choice([1, 1, 4, 10]),
        },
        "other_costs": [
            {"label": "Move", "amount": 25_000, "month": draw.randint(0, 5)},
            {"label": "Link", "per_month": 1_200, "month": draw.randint(0, 5)},
            {"label": "Licence", "per_accelerator_hour": rate(0.0, 0.25),
             "month": draw.randint(0, 3)},
            {"label": "Consultant", "amount": 9_000, "month": draw.randint(0, 11),
             "scenarios": draw.choice([["on_prem", "hybrid"], ["on_demand"], ["cloud"]])},
        ],
    }  # fmt: skip


def _offer(
    label: str, provider: str, price: float, option: str = "on_demand", term: int = 0,
    upfront: float = 0,
) -> dict[str, Any]:  # fmt: skip
    plain: dict[str, Any] = {
        "label": label, "provider": provider, "accelerator": H100, "accelerator_count": 8,
        "purchase_option": option, "usd_per_hour": round(price, 4), "upfront_usd": upfront,
    }  # fmt: skip
    return plain | ({"term_months": term} if term else {})


def _own_terms(draw: random.Random, financing: dict[str, Any]) -> dict[str, Any]:
    """What the server has of its own, half of the time."""
    every: dict[str, Any] = {
        "lead_time_months": draw.randint(0, 4), "useful_life_months": draw.choice([24, 36]),
        "price_trend_per_year": draw.choice([-0.1, 0.05]), "financing": financing,
    }  # fmt: skip
    return {name: value for name, value in every.items() if draw.random() < 0.5}


def _data(draw: random.Random) -> dict[str, Any]:
    """Kept wherever the work is, or at a home."""
    data: dict[str, Any] = {
        "storage_gib": draw.choice([0, 0, 30_000]),
        "egress_gib_per_month": draw.choice([0, 0, 4_000]),
        "on_prem_storage_per_tib_month": draw.choice([0, 15, 40]),
    }
    if data["storage_gib"] and draw.random() < 0.5:
        data["home"] = draw.choice(
            [{"provider": "aws", "region": "custom"}, {"provider": "on_prem"}]
        )
        data |= draw.choice([{}, {"transfer_gib_per_month": 2_000}])
    return data


def _limits(draw: random.Random) -> dict[str, Any]:
    """Budgets, a quota and limits of supply, each in one request of seven, some of which nothing
    keeps to."""
    every: dict[str, Any] = {
        "total_budget": draw.choice([700_000, 2_000_000]),
        "monthly_budget": draw.choice([120_000, 450_000]),
        "capex_budget": draw.choice([0, 500_000]),
        "capex_by_fiscal_year": [{"fiscal_year": 2027, "amount": draw.choice([0, 450_000])}],
        "max_term_months": draw.choice([6, 12]),
        "max_provider_share": draw.choice([0.5, 0.8]),
        "min_providers": 2,
        "power_kw": draw.choice([10, 25]),
        "rack_units": draw.choice([8, 17]),
        "quotas": [{"provider": "gcp", "accelerator": H100, "max_accelerators": 8}],
    }
    return {name: limit for name, limit in every.items() if draw.random() < 0.15}


def _existing(draw: random.Random) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    if draw.random() < 0.6:
        chosen["commitments"] = [{
            "label": "Signed", "provider": "aws", "accelerator": H100, "accelerator_count": 8,
            "price_per_month": 14_000, "ends": draw.choice(["2027-05", "2029-02"]),
        }]  # fmt: skip
    if draw.random() < 0.4:
        ends = draw.choice(["2027-04", "2029-04"])
        chosen["leased_servers"] = [{"server": "Box", "rent_per_month": 7_500, "ends": ends}]
    if draw.random() < 0.5:
        chosen["credits"] = [{
            "label": "Credit", "amount": draw.choice([30_000, 200_000]),
            "provider": draw.choice(["aws", "gcp"]), "expires": draw.choice(["2027-03", "2028-12"]),
        }]  # fmt: skip
    if draw.random() < 0.5:
        chosen["minimum_spend"] = [{
            "label": "EDP", "provider": "aws", "amount": draw.choice([60_000, 400_000]),
            "first": draw.choice(["2027-01", "2027-01", "2027-04"]),
            "last": draw.choice(["2027-12", "2028-12"]), "spent": draw.choice([0, 20_000]),
        }]  # fmt: skip
    return chosen
