"""Comparisons keep their figures: `kept_answers.json` holds, for each request, the sum of every
field of its answer over all rows, each row by its place. To record it anew, run this file: what
changed is its diff."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from planner.comparison import compare
from planner.portfolio.portfolio import plan_portfolio
from tests.golden.answers import MARKET, REQUESTS, answered
from tests.planner.comparison.compared import TODAY
from tests.planner.costing.market_of import request_of
from tests.planner.portfolio.portfolios import relay

FILE = Path(__file__).with_name("kept_answers.json")
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
    "late": {"on_prem": SERVERS | {"late_delivery_probability": 0.4, "late_delivery_months": 3}},
    "resale": {"on_prem": SERVERS | {"residual_rate": 0.4}},
    "cash at the end of years": {
        "finance": {"cash_timing": "year_end", "payment_terms_days": 60, "tax_rate": 0.21},
        "on_prem": SERVERS,
        "horizon_months": 36,
    },
    "power and people": {
        "on_prem": SERVERS | {"pue": 1.5, "electricity_per_kwh": 0.2, "staff_fte_per_server": 0.1},
        "finance": {"cloud_support_rate": 0.05},
        "sensitivity": True,
    },
    "budgets": {"constraints": {"monthly_budget": 250_000, "total_budget": 4_000_000}},
    "capital": {"constraints": {"capex_budget": 600_000}, "on_prem": SERVERS, "cheaper_if": True},
    "peaks": {"workload": PEAK, "horizon_months": 12, "risk": RISK, "sensitivity": True},
    "growth": {"risk": RISK | {"demand_growth_sd": 0.4}, "horizon_months": 36},
    "data": {"data": {"storage_gib": 50_000, "egress_gib_per_month": 4000}, "on_prem": SERVERS},
}
CASES = {**REQUESTS, **{name: request_of(9000, **more) for name, more in CHANGES.items()}}
DATA = {"storage_gib": 50_000}
PORTFOLIOS = {
    "projects in turn": relay(),
    "projects in turn, paid late, their data at rest": relay(2, 24)
    | {"projects": [one | {"data": DATA} for one in relay(2, 24)["projects"]]}
    | {"finance": {"payment_terms_days": 60, "discount_rate_per_year": 0.1}, "on_prem": SERVERS},
}
pytestmark = pytest.mark.xdist_group("golden")
_FIGURE = re.compile(r"-?\d+(\.\d+)?")


def figures(name: str) -> dict[str, float]:
    """Field → Σ of its figures, each times its place in the lists that it stands in.

    Less than 1e-9 is the rounding of one processor and not of another.
    """
    sums: dict[str, float] = {}
    if name in PORTFOLIOS:
        answer: Any = plan_portfolio(PORTFOLIOS[name], MARKET, today=TODAY)
    elif name in REQUESTS:
        answer = answered(name)
    else:
        answer = compare(CASES[name], MARKET, today=TODAY)
    _add(answer.to_json(), "", 1.0, sums)
    return {name: float(f"{total:.8g}") for name, total in sorted(sums.items()) if round(total, 9)}


def _add(value: Any, name: str, weight: float, sums: dict[str, float]) -> None:
    if isinstance(value, dict):
        for key, part in value.items():
            _add(part, f"{name}.{key}" if name else key, weight, sums)
    elif isinstance(value, list):
        for place, part in enumerate(value, start=1):
            _add(part, name, weight * place, sums)
    elif isinstance(value, int | float) or (isinstance(value, str) and _FIGURE.fullmatch(value)):
        sums[name] = sums.get(name, 0.0) + weight * float(value)


@pytest.mark.parametrize("name", [*CASES, *PORTFOLIOS])
def test_answers_keep_their_figures(name: str) -> None:
    kept = json.loads(FILE.read_text(encoding="utf-8"))[name]
    assert figures(name) == pytest.approx(kept, rel=1e-6, abs=1e-6)


if __name__ == "__main__":
    again = {name: figures(name) for name in (*CASES, *PORTFOLIOS)}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(kept)}" for name, kept in again.items())
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
