"""Machines and accelerators that bills and logs name. PURE."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from pricing.market import accelerators, machine_types
from pricing.market.machine_types import PROVIDERS, attached_machine_types

_ACCELERATED = {
    "aws": re.compile(r"(p|g|trn|inf|dl)\d[\w-]*\.", re.IGNORECASE),
    "azure": re.compile(r"(standard_|basic_)?n[cdgv]", re.IGNORECASE),
    "gcp": re.compile(r"(a[234]|g[24]|ct\d)\w*-", re.IGNORECASE),
    "oci": re.compile(r"(bm|vm)\.gpu", re.IGNORECASE),
}
"""How names of machines with accelerators begin."""


class Machine(NamedTuple):
    """A machine that a bill names."""

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
    attached = _attached().get(plain.lower()) if provider == "gcp" else None
    if attached is not None:
        return Machine(name, *attached)
    begins = _ACCELERATED.get(provider)
    return Machine(name, "", None if begins and begins.match(plain) else 0.0)


@lru_cache(maxsize=20_000)
def find_machine_anywhere(provider: str, name: str) -> Machine:
    """The machine of this name, at any provider where that is not one whose machines are known:
    one that no table holds is then not known, and not one without accelerators.

    >>> [find_machine_anywhere("", name).accelerators for name in ("p5.48xlarge", "m5.large")]
    [8.0, None]
    """
    if provider in _ACCELERATED:
        return find_machine(provider, name)
    of_all = (find_machine(one, name) for one in PROVIDERS)
    return next((one for one in of_all if one.accelerators), Machine(name, "", None))


@lru_cache(maxsize=1)
def _attached() -> dict[str, tuple[str, float]]:
    return {
        row.instance_type.lower(): (row.accelerator, float(row.accelerator_count or 0))
        for row in attached_machine_types()
    }


@lru_cache(maxsize=1)
def azure_sizes_by_meter() -> dict[str, str]:
    """Size of Azure by the name of its meter: `ND96isr H100 v5` → `Standard_ND96isr_H100_v5`."""
    rows = machine_types.all_machine_types("azure").values()
    return {
        row.instance_type.removeprefix("Standard_").replace("_", " ").lower(): row.instance_type
        for row in rows
    }


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
    """Whether a name is that of a slice, whose hours are not those of whole accelerators.

    >>> is_slice("a100_1g.5gb"), is_slice("nvidia-a100-40gb-sxm")
    (True, False)
    """
    return bool(MIG_DEVICE.search(accelerator))
