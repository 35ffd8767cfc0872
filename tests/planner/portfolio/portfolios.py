"""Requests for portfolios at the bundled prices, small and quick to plan."""

import datetime as dt
import json
from functools import cache
from typing import Any

import numpy as np

from planner.contract.answer.portfolio import PortfolioAnswer
from planner.portfolio.portfolio import plan_portfolio
from pricing.bundled.catalog import bundled_catalog

H100 = "nvidia-h100-80gb-sxm"
TODAY = dt.date(2026, 11, 20)


def burst(months: int, first: int, length: int, accelerators: int = 8, share: float = 0.9) -> Any:
    """Hours in a few months alone, all at once."""
    hours = np.zeros(months)
    hours[first : first + length] = accelerators * 730 * share
    peak = np.where(hours > 0, accelerators, 0)
    return {
        "kind": "accelerator_hours",
        "accelerator": H100,
        "hours_per_month": hours.round(2).tolist(),
        "peak_accelerators": peak.tolist(),
    }


def project(name: str, workload: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "workload": workload, **fields}


def relay(count: int = 4, months: int = 36, **fields: Any) -> dict[str, Any]:
    """Projects that take turns: what each would rent, all can own together."""
    length = (months - 4) // count
    projects = [
        project(f"project {i}", burst(months, 4 + i * length, length)) for i in range(count)
    ]
    delivery = {"on_prem": {"lead_time_months": 3}}
    return {"start": "2027-01", "horizon_months": months, "projects": projects} | delivery | fields


@cache
def _planned(asked: str) -> PortfolioAnswer:
    return plan_portfolio(json.loads(asked), bundled_catalog(), today=TODAY)


def planned(request: dict[str, Any], **fields: Any) -> PortfolioAnswer:
    """The answer at the bundled prices, worked out once for all tests of a process."""
    return _planned(json.dumps({**request, **fields}))
