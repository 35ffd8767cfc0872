"""A thousand requests of before there were rules, each from its number alone.

`figures_of_edition_1.json.gz` holds what the program of before the rules (commit 4ca3255^)
answered to them: of each scenario its total, present value and sum of each category.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

H100, A100, L4 = "nvidia-h100-80gb-sxm", "nvidia-a100-80gb-sxm", "nvidia-l4"
COUNT = 1000
FIGURES = Path(__file__).parent / "figures_of_edition_1.json.gz"
_USD_PER_HOUR = {H100: 6.0, A100: 3.0, L4: 0.7}

Json = dict[str, Any]


def read_figures() -> list[Json]:
    """What was answered to each request, in the order of their numbers."""
    found: list[Json] = json.loads(gzip.decompress(FIGURES.read_bytes()))
    return found


def figures(answer: Json) -> Json:
    """The figures of an answer that a reader would hold it to."""
    return {
        one["key"]: [one["total_cost"], one["net_present_cost"], one["cost_by_category"]]
        for one in answer["scenarios"]
        if one["feasible"]
    }


def request_of(number: int) -> Json:
    """Hours, a training or samples at prices of its own, with the odd limit, server and rate."""
    random = np.random.default_rng(number)
    months = int(random.integers(1, 25))
    slug = str(random.choice([H100, A100, L4]))
    return {
        "name": f"case {number}",
        "start": "2027-01",
        "horizon_months": months,
        "use_catalog": False,
        "sensitivity": False,
        "workload": _workload(random, slug, months),
        "custom_offers": _offers(random, slug),
        "on_prem": _owning(random, slug),
        "finance": {
            "discount_rate_per_year": float(random.choice([0, 0.05, 0.12])),
            "cloud_price_trend_per_year": float(random.choice([0, -0.2, 0.1])),
            "tax_rate": float(random.choice([0, 0, 0.25])),
        },
        "constraints": _limits(random),
        "term_end": str(random.choice(["prorate", "prorate", "full"])),
    }


def _workload(random: np.random.Generator, slug: str, months: int) -> Json:
    kind = random.choice(["hours", "hours", "hours", "training", "samples"])
    if kind == "training":
        parameters = float(random.choice([1e9, 3e9, 7e9]))
        tokens = float(random.choice([1e9, 2e10]))
        return {
            "kind": "training", "parameters": parameters, "tokens": tokens, "accelerator": slug,
            "optimizer": str(random.choice(["adamw", "lora"])),
        }  # fmt: skip
    if kind == "samples":
        return {
            "kind": "samples", "samples": 1e8, "epochs": int(random.integers(1, 30)),
            "samples_per_second": 900, "accelerator": slug,
        }  # fmt: skip
    hours = np.round(random.uniform(10, 12_000) * random.uniform(0.5, 1.5, months), 1)
    workload: Json = {
        "kind": "accelerator_hours", "accelerator": slug, "hours_per_month": hours.tolist(),
    }  # fmt: skip
    if random.random() < 0.4:
        workload["peak_accelerators"] = int(np.ceil(hours.max() / 730 * random.uniform(1, 2)))
    return workload


def _offers(random: np.random.Generator, slug: str) -> list[Json]:
    price = _USD_PER_HOUR[slug] * float(random.uniform(0.6, 1.5))
    sizes = [int(n) for n in random.choice([1, 2, 4, 8], int(random.integers(1, 3)), replace=False)]
    found = [_offer(slug, n, "on_demand", n * price) for n in sizes]
    if random.random() < 0.5:
        found.append(_offer(slug, sizes[0], "spot", sizes[0] * price * 0.4))
    for term in random.choice([3, 12, 36], int(random.integers(0, 3)), replace=False).tolist():
        offer = _offer(slug, sizes[-1], "reserved", sizes[-1] * price * random.uniform(0.4, 0.9))
        offer |= {"term_months": term, "label": f"{term} months"}
        if random.random() < 0.4:
            offer["upfront_usd"] = round(offer["usd_per_hour"] * 365 * term, 2)
            offer["usd_per_hour"] = round(offer["usd_per_hour"] / 2, 4)
        found.append(offer)
    return found


def _offer(slug: str, count: int, option: str, price: float) -> Json:
    return {
        "label": f"{count} {option}", "accelerator": slug, "accelerator_count": count,
        "purchase_option": option, "usd_per_hour": round(price, 4),
    }  # fmt: skip


def _owning(random: np.random.Generator, slug: str) -> Json:
    server = {
        "server": "custom", "label": "box", "accelerator": slug, "accelerator_count": 8,
        "unit_price": int(random.integers(20_000, 300_000)), "power_kw": 6,
    }  # fmt: skip
    found: Json = {"servers": [server] if random.random() < 0.6 else []}
    if random.random() < 0.5:
        found |= {"lead_time_months": int(random.integers(0, 4)), "useful_life_months": 48}
    return found


def _limits(random: np.random.Generator) -> Json:
    choices: list[Json] = [
        {}, {}, {}, {"max_spot_share": 0.4}, {"capex_budget": 400_000},
        {"monthly_budget": 60_000},
    ]  # fmt: skip
    return choices[int(random.integers(len(choices)))]
