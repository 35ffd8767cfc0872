"""Requests of many kinds, for whatever has to answer alike through every way in."""

import random
from typing import Any

ACCELERATORS = ("H100", "A100-80GB", "nvidia-l4", "T4", "nvidia-h200", "amd-mi300x")
SERVERS = ("dgx-h100", "dgx-a100", "hgx-h100")


def generated(seed: int) -> dict[str, Any]:
    """A request that depends on `seed` alone; small enough to be answered in a moment."""
    rng = random.Random(seed)
    request: dict[str, Any] = {
        "start": "2027-01",
        "horizon_months": rng.randint(1, 36),
        "workload": _workload(rng),
        "finance": {"discount_rate_per_year": round(rng.random() * 0.2, 4)},
    }
    if rng.random() < 0.3:
        request["currency"] = rng.choice(["EUR", "CNY", "USD"])
    if rng.random() < 0.3:
        request["constraints"] = {"geographies": [rng.choice(["europe", "north-america", "eu"])]}
    if rng.random() < 0.3:
        request["price_adjustments"] = [{"multiplier": round(0.5 + rng.random() / 2, 3)}]
    if rng.random() < 0.3:
        request["on_prem"] = {"lead_time_months": rng.randint(0, 4)}
    if rng.random() < 0.2:
        request["term_end"] = rng.choice(["full", "within"])
    if rng.random() < 0.15:
        request["rules"] = 1
    return request


def _workload(rng: random.Random) -> dict[str, Any]:
    kind = rng.choice(["hours", "hours", "training", "samples"])
    if kind == "hours":
        hours = rng.choice([rng.randint(50, 20_000), round(rng.random() * 9000, 2)])
        work = {"kind": "accelerator_hours", "accelerator": rng.choice(ACCELERATORS)}
        return {**work, "hours_per_month": hours, "interruptible": rng.random() < 0.5}
    if kind == "training":
        work = {"kind": "training", "parameters": rng.choice([1.3e9, 7e9, 13e9])}
        return {**work, "tokens": rng.choice([1e9, 2e10]), "accelerator": "H100-80GB-SXM"}
    work = {"kind": "samples", "samples": 1_281_167, "epochs": rng.choice([30, 90])}
    return {**work, "benchmark": "resnet50-lambda"}
