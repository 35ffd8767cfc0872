"""SKUs of accelerators apart from their machines, as Google Cloud and Oracle sell them. PURE."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from planner.usage.machines import name_accelerator
from pricing.market.offers import PurchaseOption

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
_ORACLE = re.compile(r"\bgpu\b\s*(?:standard)?\s*[-–:]?\s*(?P<model>[\w .]+)?", re.IGNORECASE)


class AcceleratorSku(NamedTuple):
    """What a SKU's description says."""

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
    return AcceleratorSku(name_accelerator(model), _option(description, is_fee), is_fee)


def _option(description: str, is_fee: bool) -> str:
    if is_fee:
        return PurchaseOption.COMMITTED_USE.value
    plain = description.lower()
    options = (option for mark, option in _MARKS if mark in plain)
    return next(options, PurchaseOption.ON_DEMAND).value


@lru_cache(maxsize=20_000)
def oracle_sku(description: str) -> AcceleratorSku | None:
    """The accelerator that a SKU of Oracle sells by the GPU-hour; None for any other SKU.

    >>> oracle_sku("GPU - H100").accelerator, oracle_sku("Standard - E4 - Memory")
    ('nvidia-h100-80gb-sxm', None)
    """
    match = _ORACLE.search(description)
    if match is None or "memory" in description.lower():
        return None
    model = (match["model"] or "").strip()
    option = "spot" if "preemptible" in description.lower() else "on_demand"
    return AcceleratorSku(name_accelerator(model) if model else "", option, False)


_HOURS_PER_UNIT = {
    "seconds": 1 / 3600,
    "second": 1 / 3600,
    "s": 1 / 3600,
    "minutes": 1 / 60,
    "minute": 1 / 60,
    "hours": 1.0,
    "hour": 1.0,
    "hrs": 1.0,
    "h": 1.0,
    "gpu hours": 1.0,
    "gpu hour": 1.0,
    "gpu-hours": 1.0,
    "gpu per hour": 1.0,
}
_BLOCK = re.compile(r"(\d{1,6})\s+(.+)")


@lru_cache(maxsize=10_000)
def hours_per_unit(unit: str) -> float | None:
    """Hours in one unit of a bill; None for a unit that is no time.

    >>> hours_per_unit("seconds") * 7200, hours_per_unit("100 Hours"), hours_per_unit("GB")
    (2.0, 100.0, None)
    """
    plain = unit.strip().lower()
    block = _BLOCK.fullmatch(plain)
    if block:
        hours = _HOURS_PER_UNIT.get(block[2])
        return None if hours is None else int(block[1]) * hours
    return _HOURS_PER_UNIT.get(plain)
