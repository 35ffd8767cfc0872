"""Machines and accelerators that bills and logs name. PURE."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from pricing.market import accelerators, machine_types
from pricing.market.clouds import find_cloud
from pricing.market.machine_types import PROVIDERS, attached_machine_types
from pricing.market.offers import PurchaseOption

ONE_OF = "1 × "
"""Begins the name of an accelerator that is billed apart from its machine."""


class Machine(NamedTuple):
    name: str
    accelerator: str
    """Slug; empty where no table names it."""
    accelerators: float | None
    """Accelerators in it; 0 for a machine without; None where nobody knows."""


@lru_cache(maxsize=20_000)
def find_machine(provider: str, name: str) -> Machine:
    """The machine of this name: as tabled, else by how its name begins.

    >>> find_machine("aws", "p5.48xlarge").accelerators
    8.0
    >>> [find_machine("aws", name).accelerators for name in ("m5.large", "p99.48xlarge")]
    [0.0, None]
    """
    plain = name.strip().removeprefix("ml.")
    row = machine_types.find(provider, plain)
    if row is not None:
        count = row.accelerator_count
        return Machine(name, row.accelerator, None if count is None else float(count))
    for row in attached_machine_types() if provider == "gcp" else ():
        if row.instance_type.lower() == plain.lower():
            return Machine(name, row.accelerator, float(row.accelerator_count or 0))
    begins = find_cloud(provider).machine_names
    may_have = begins and re.match(begins, plain, re.IGNORECASE)
    return Machine(name, "", None if may_have else 0.0)


@lru_cache(maxsize=20_000)
def find_machine_anywhere(provider: str, name: str) -> Machine:
    """The machine of this name, at any provider where that is not one whose machines are known:
    one that no table holds is then not known, and not one without accelerators.

    >>> [find_machine_anywhere("", name).accelerators for name in ("p5.48xlarge", "m5.large")]
    [8.0, None]
    """
    if find_cloud(provider).machine_names:
        return find_machine(provider, name)
    of_all = (find_machine(one, name) for one in PROVIDERS)
    return next((one for one in of_all if one.accelerators), None) or describe_machine(name)


_COUNTED = re.compile(
    r"(?:^|[^a-z\d])(?P<count>\d{1,2})\s?x[\s_-]*(?:gpu[\s_-]*)?(?P<said>[a-z].*)"
)
_COUNT_LAST = re.compile(r"(?P<said>.*[a-z].*?)[\s_-]*(?:x\s?|:)(?P<count>\d{1,2})$")


@lru_cache(maxsize=20_000)
def describe_machine(text: str) -> Machine:
    """The machine whose name says what is in it, such as those of clouds that are not tabled.

    >>> describe_machine("gpu_8x_h100_sxm5")[1:], describe_machine("8x L40S (48 GB)")[1:]
    (('nvidia-h100-80gb-sxm', 8.0), ('nvidia-l40s', 8.0))
    """
    for match in (_COUNTED.search(text.lower()), _COUNT_LAST.fullmatch(text.lower())):
        if match is None:
            continue
        words = re.findall(r"[a-z0-9.]+", re.sub(r"(\d) ?gb\b", r"\1gb", match["said"]))
        for end in range(min(len(words), 6), 0, -1):
            if known := accelerators.find(" ".join(words[:end])):
                return Machine(text, known.slug, float(match["count"]))
        if open_name := next(filter(accelerators.candidates, words), ""):
            return Machine(text, open_name, float(match["count"]))
    return Machine(text, "", None)


@lru_cache(maxsize=1)
def azure_sizes_by_meter() -> dict[str, str]:
    """Size of Azure by the name of its meter: `ND96isr H100 v5` → `Standard_ND96isr_H100_v5`."""
    rows = machine_types.all_machine_types("azure").values()
    return {
        row.instance_type.removeprefix("Standard_").replace("_", " ").lower(): row.instance_type
        for row in rows
    }


def plain_meter(meter: str) -> str:
    """Name of a meter of Azure without what says how it is sold.

    >>> plain_meter("ND96isr H100 v5 Spot")
    'ND96isr H100 v5'
    """
    return re.sub(r"\s+(spot|low priority)$", "", meter.strip(), flags=re.IGNORECASE)


_DECORATION = re.compile(
    r"\b(gpus?|running|attached|to|n1|in|tesla|the|memory|accelerators?)\b", re.IGNORECASE
)


@lru_cache(maxsize=20_000)
def name_accelerator(text: str) -> str:
    """Slug of an accelerator by any usual name; the text in lower case where it means several.

    >>> name_accelerator("NVIDIA H100 80GB HBM3"), name_accelerator("a100")
    ('nvidia-h100-80gb-sxm', 'a100')
    """
    plain = text.strip()
    known = accelerators.find(plain) or accelerators.find(_DECORATION.sub(" ", plain).strip())
    return known.slug if known else plain.lower()


MIG_DEVICE = re.compile(r"[_.-]?\d+g[._]?\d+gb|(?<![a-z])mig(?![a-z])", re.IGNORECASE)
"""Part of a name by which a slice of an accelerator is told, such as `a100_1g.5gb`."""


@lru_cache(maxsize=20_000)
def is_slice(accelerator: str) -> bool:
    """Whether a name is that of a slice, whose hours are not those of whole accelerators."""
    return bool(MIG_DEVICE.search(accelerator))


# Accelerators that are sold apart from their machines --------------------------------------

_GOOGLE = re.compile(
    r"(?P<model>(?:nvidia|amd)\b.*?)\s+(?:gpu|accelerator)s?\b.*|"
    r"(?P<tpu>(?:cloud\s+)?tpu[\s-]?v\d\w*).*",
    re.IGNORECASE,
)
_MARKS = (
    ("spot", PurchaseOption.SPOT),
    ("preemptible", PurchaseOption.SPOT),
    ("dws calendar", PurchaseOption.DWS_CALENDAR_MODE),
    ("dws", PurchaseOption.DWS_FLEX_START),
    ("reserved", PurchaseOption.RESERVED),
)
_FEE = re.compile(r"commitment\s+v?\d|^commitment\b", re.IGNORECASE)
_ORACLE = re.compile(
    r"\bgpu\b\s*(?:standard)?\s*[-–:]?\s*(?P<model>[\w .]+(?:- v2)?)?", re.IGNORECASE
)


class AcceleratorSku(NamedTuple):
    accelerator: str
    option: str
    is_fee: bool
    """The price of a commitment, whose quantity is no use."""


@lru_cache(maxsize=20_000)
def google_sku(description: str) -> AcceleratorSku | None:
    """The accelerator that a SKU of Google Cloud sells; None for any other SKU.

    >>> google_sku("Spot Preemptible Nvidia Tesla T4 GPU running in Americas")
    AcceleratorSku(accelerator='nvidia-t4', option='spot', is_fee=False)
    >>> google_sku("A3 Instance Core running in Americas") is None
    True
    """
    match = _GOOGLE.search(description)
    if match is None or "workstation" in description.lower():
        return None
    is_fee = bool(_FEE.search(description))
    model = match["model"] or match["tpu"] or ""
    options = (option for mark, option in _MARKS if mark in description.lower())
    option = PurchaseOption.COMMITTED_USE if is_fee else next(options, PurchaseOption.ON_DEMAND)
    name = name_accelerator(model)
    return AcceleratorSku(_NAMES_OF_CLOUDS.get(name, name), option.value, is_fee)


_NAMES_OF_CLOUDS = {
    "nvidia tesla a100": "nvidia-a100-40gb-sxm",
    "nvidia tesla v100": "nvidia-v100-16gb-sxm",
    "a100 - v2": "nvidia-a100-80gb-sxm",
}
"""Google Cloud calls the larger A100 "Nvidia A100 80GB" and has V100 of 16 GB alone; Oracle's v2 is
the larger A100 (price lists, 2026)."""


@lru_cache(maxsize=20_000)
def oracle_sku(description: str) -> AcceleratorSku | None:
    """The accelerator that a SKU of Oracle sells by the GPU-hour; None for any other SKU.

    >>> oracle_sku("GPU - H100").accelerator, oracle_sku("Standard - E4 - Memory")
    ('nvidia-h100-80gb-sxm', None)
    """
    match = _ORACLE.search(description)
    if match is None or "memory" in description.lower():
        return None
    model = name_accelerator(match["model"] or "")
    option = "spot" if "preemptible" in description.lower() else "on_demand"
    return AcceleratorSku(_NAMES_OF_CLOUDS.get(model, model), option, False)


_UNIT = re.compile(
    r"(?:(?P<block>\d{1,6})\s+)?(?P<gpu>gpu(?:\s+per|-)?\s*)?"
    r"(?:(?P<second>seconds?|s)|(?P<minute>minutes?)|hours?|hrs|h)"
)


@lru_cache(maxsize=10_000)
def hours_per_unit(unit: str, accelerators: float | None = 1.0) -> float | None:
    """Hours of a machine in one unit of a bill, of whose accelerators GPU hours are shares; None
    for a unit that is no time.

    >>> hours_per_unit("seconds") * 7200, hours_per_unit("100 Hours"), hours_per_unit("GB")
    (2.0, 100.0, None)
    >>> hours_per_unit("GPU Hours", 8.0)
    0.125
    """
    match = _UNIT.fullmatch(unit.strip().lower().replace("_", " "))
    if match is None:
        return None
    shares = (accelerators or 1.0) if match["gpu"] else 1.0
    unit_s = 1.0 if match["second"] else 60.0 if match["minute"] else 3600.0
    return int(match["block"] or 1) * unit_s / 3600 / shares
