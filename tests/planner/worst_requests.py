"""Requests that ask for as much work as the limits of the request models allow.

A request is written from a `Shape`, a few figures that say how large it is; the search for the
worst one changes those figures.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

OPTIONS = ("on_demand", "spot", "reserved", "savings_plan", "capacity_block", "dws_flex_start")
CLOUDS = ("aws", "azure", "gcp")
KINDS = ("H100", "A100-80GB", "T4", "L4", "V100", "A10G")
PROFILES = ("flat", "growing", "random", "sparse")


@dataclass(frozen=True)
class Shape:
    """How large each part of a request is."""

    horizon: int = 36
    profile: str = "growing"
    hours: float = 5_000.0
    peak_factor: float = 1.0
    per_job: int = 1
    offers: int = 0
    committed_share: float = 0.5
    largest_node: int = 8
    servers: int = 0
    max_units: bool = False
    owned: int = 0
    quotas: int = 0
    tightness: float = 1.0
    capex_budget: bool = False
    monthly_budget: bool = False
    spot_share: bool = False
    use_catalog: bool = True
    training: bool = False
    samples: int = 0
    sensitivity: bool = True
    interruptible: bool = False
    term_end: str = ""
    storage: bool = False
    seed: int = 0


CHOICES: dict[str, tuple[Any, ...]] = {
    "horizon": (12, 36, 60, 120),
    "profile": PROFILES,
    "hours": (500.0, 5_000.0, 50_000.0, 2_000_000.0),
    "peak_factor": (1.0, 1.7, 5.0),
    "per_job": (1, 3, 8),
    "offers": (0, 10, 40, 300, 1000),
    "committed_share": (0.0, 0.5, 1.0),
    "largest_node": (1, 8, 64, 1000),
    "servers": (0, 3, 20, 50),
    "max_units": (False, True),
    "owned": (0, 10, 200),
    "quotas": (0, 3, 15, 50),
    "tightness": (0.05, 0.5, 0.9, 1.0, 10.0),
    "capex_budget": (False, True),
    "monthly_budget": (False, True),
    "spot_share": (False, True),
    "use_catalog": (False, True),
    "training": (False, True),
    "samples": (0, 2_000, 20_000, 100_000),
    "sensitivity": (False, True),
    "interruptible": (False, True),
    "term_end": ("", "full", "within"),
    "storage": (False, True),
    "seed": tuple(range(20)),
}
"""Figures that the search tries."""
LARGEST = Shape(
    horizon=120, profile="random", hours=50_000.0, peak_factor=1.7, per_job=3,
    offers=1000, largest_node=64, servers=50, max_units=True, owned=200, quotas=50,
    tightness=0.9, capex_budget=True, monthly_budget=True, spot_share=True, samples=100_000,
    interruptible=True, storage=True,
)  # fmt: skip
"""Everything at its limit."""
WORST = Shape(
    horizon=120, profile="flat", hours=50_000.0, peak_factor=1.7, per_job=3,
    largest_node=64, servers=50, max_units=True, owned=200, tightness=0.9, capex_budget=True,
    spot_share=True, samples=100_000, interruptible=True,
    storage=True, seed=5,
)  # fmt: skip
"""What the search of `test_worst_requests` found to take longest."""
CUT_SHORT = dataclasses.replace(
    WORST, horizon=24, profile="growing", offers=10, servers=10, largest_node=8, max_units=False,
    owned=10, tightness=1.0, seed=0,
)  # fmt: skip
"""One that is answered, with every analysis cut short."""


def random_shape(random: np.random.Generator) -> Shape:
    picked = {name: _pick(random, values) for name, values in CHOICES.items()}
    return Shape(**picked)


def mutate(shape: Shape, random: np.random.Generator, changes: int = 3) -> Shape:
    """The shape with a few figures drawn anew."""
    names = random.choice(sorted(CHOICES), size=changes, replace=False)
    return dataclasses.replace(shape, **{str(n): _pick(random, CHOICES[str(n)]) for n in names})


def _pick(random: np.random.Generator, values: tuple[Any, ...]) -> Any:
    return values[int(random.integers(len(values)))]


def build_request(shape: Shape) -> dict[str, Any]:
    """The request of a shape."""
    random = np.random.Generator(np.random.PCG64(shape.seed))
    request: dict[str, Any] = {
        "start": "2027-01",
        "horizon_months": shape.horizon,
        "workload": _workload(shape, random),
        "constraints": _constraints(shape, random),
        "on_prem": _on_prem(shape, random),
        "custom_offers": [_offer(shape, random, i) for i in range(shape.offers)],
        "use_catalog": shape.use_catalog or not shape.offers,
        "sensitivity": shape.sensitivity,
    }
    if shape.term_end:
        request["term_end"] = shape.term_end
    if shape.storage:
        request["data"] = {"storage_gib": 5_000, "egress_gib_per_month": 900, "checkpoint_gib": 50}
    if shape.samples:
        request["risk"] = {
            "samples": shape.samples,
            "demand_growth_sd": 0.4,
            "price_sd": 0.3,
            "slip_months_sd": 6,
        }
    return request


def _workload(shape: Shape, random: np.random.Generator) -> dict[str, Any]:
    interruptible = {"interruptible": shape.interruptible}
    if shape.training:
        start = [f"{2027 + m // 12}-{m % 12 + 1:02d}" for m in range(0, shape.horizon, 4)]
        runs = [{"start": month, "count": int(random.integers(1, 4))} for month in start[:24]]
        size = {"parameters": 7e9, "tokens": 2e6 * shape.hours}
        return {"kind": "training", **size, "runs": runs, **interruptible}
    hours = _hours(shape, random)
    peak = int(np.ceil(shape.peak_factor * hours.max() / 730))
    if shape.per_job > 1:
        interruptible["accelerators_per_job"] = shape.per_job
    return {
        "kind": "accelerator_hours",
        "accelerator": "H100",
        "hours_per_month": hours.tolist(),
        **({"peak_accelerators": peak} if shape.peak_factor > 1 else {}),
        **interruptible,
    }


def _hours(shape: Shape, random: np.random.Generator) -> np.ndarray:
    months = np.arange(shape.horizon)
    factor = {
        "flat": np.ones(shape.horizon),
        "growing": 1 + months / 10.0,
        "random": random.uniform(0.2, 3.0, shape.horizon),
        "sparse": np.where(months % 5 == 0, 3.0, 0.0),
    }[shape.profile]
    return np.round(shape.hours * factor, 1)


def _constraints(shape: Shape, random: np.random.Generator) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    size = shape.hours / 730 * shape.tightness
    if shape.quotas:
        limits["quotas"] = [
            {
                "provider": CLOUDS[i % 3],
                "accelerator": KINDS[i // 3 % 2],
                "max_accelerators": round(float(size * random.uniform(0.2, 2.0)) + 8),
            }
            for i in range(shape.quotas)
        ]
    if shape.capex_budget:
        limits["capex_budget"] = round(40_000 * size + 500_000, 2)
    if shape.monthly_budget:
        limits["monthly_budget"] = round(6_000 * size + 20_000, 2)
    if shape.spot_share:
        limits["max_spot_share"] = 0.37
    if shape.training or shape.offers > 100:
        limits["accelerators"] = list(KINDS)
    return limits


def _on_prem(shape: Shape, random: np.random.Generator) -> dict[str, Any]:
    own: dict[str, Any] = {}
    if shape.servers:
        own["servers"] = [_server(shape, random, i) for i in range(shape.servers)]
    if shape.owned:
        names = [f"box {i}" for i in range(shape.servers)] or ["dgx-h100"]
        own["already_owned"] = [
            {
                "server": names[i % len(names)],
                "units": 1 + i % 3,
                "bought": f"{2024 + i % 3}-{i % 12 + 1:02d}",
            }
            for i in range(shape.owned)
        ]
    return own


def _server(shape: Shape, random: np.random.Generator, i: int) -> dict[str, Any]:
    count = int(random.integers(1, shape.largest_node + 1))
    one: dict[str, Any] = {
        "server": "custom",
        "label": f"box {i}",
        "unit_price": round(30_000 * count * float(random.uniform(0.8, 1.3)), 2),
        "accelerator": KINDS[i % 2],
        "accelerator_count": count,
        "power_kw": round(0.9 * count, 2),
        "idle_power_kw": round(0.2 * count, 2),
    }
    return one | ({"max_units": int(random.integers(1, 30))} if shape.max_units else {})


def _offer(shape: Shape, random: np.random.Generator, i: int) -> dict[str, Any]:
    count = int(random.integers(1, shape.largest_node + 1))
    committed = bool(random.random() < shape.committed_share)
    option = OPTIONS[2 + i % 2] if committed else OPTIONS[i % 2]
    rate = float(random.uniform(0.4, 0.8) if committed else random.uniform(0.5, 1.3))
    offer: dict[str, Any] = {
        "label": f"offer {i}",
        "accelerator": KINDS[i % 2],
        "accelerator_count": count,
        "purchase_option": option,
        "usd_per_hour": round(3.0 * count * rate, 4),
        "provider": CLOUDS[i % 3],
    }
    if committed:
        offer["term_months"] = int(random.integers(1, 61))
        offer["upfront_usd"] = round(float(random.uniform(0, 2_000)) * count, 2)
    return offer
