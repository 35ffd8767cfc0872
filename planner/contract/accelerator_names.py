"""What a name of an accelerator leaves open, and the software that it stands for. PURE."""

from __future__ import annotations

from collections.abc import Mapping

from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import (
    Accelerator,
    candidates,
    family,
    find,
    get,
    resolve,
    slugs_by_spelling,
)

SOFTWARE_BY_VENDOR: Mapping[str, str] = {
    "NVIDIA": "cuda",
    "AMD": "rocm",
    "Google": "xla",
    "AWS": "neuron",
}
"""Software stack that code for a vendor's accelerators is written for; 2026."""


def other_meanings(name: str) -> tuple[Accelerator, ...]:
    """Devices that a usual name leaves open beside the one that it is read as; none for a slug and
    a cloud API's spelling.

    >>> [one.slug for one in other_meanings("H200")], other_meanings("nvidia-h200-141gb-sxm")
    (['nvidia-h200-141gb-nvl'], ())
    """
    usual = find(name)
    if usual is None or name.strip().casefold() in slugs_by_spelling():
        return ()
    return tuple(one for one in candidates(name) if one is not usual)


def describe_reading(name: str) -> str:
    """As which device a usual name of several is read, and what the others are called; of a family
    the device that hours are of; empty where a name means one alone.

    >>> describe_reading("A100-80GB")
    'A100-80GB is read as nvidia-a100-80gb-sxm; if you mean another, name nvidia-a100-80gb-pcie.'
    >>> describe_reading("A100 PCIe")  # doctest: +NORMALIZE_WHITESPACE
    'A100 PCIe is every one of nvidia-a100-80gb-pcie and nvidia-a100-40gb-pcie, and an hour that is
    known may be of any. Name one to mean it alone.'
    >>> describe_reading("nvidia-a100-80gb-sxm"), describe_reading("T4")
    ('', '')
    """
    if members := [one.slug for one in family(name)]:
        listed = f"{', '.join(members[:-1])} and {members[-1]}"
        return (
            f"{name.strip()} is every one of {listed}, and an hour that is known may be of any. "
            "Name one to mean it alone."
        )
    usual, others = find(name), [one.slug for one in other_meanings(name)]
    if usual is None or not others:
        return ""
    listed = " or ".join(filter(None, (", ".join(others[:-1]), others[-1])))
    return f"{name.strip()} is read as {usual.slug}; if you mean another, name {listed}."


ARM_HOSTS = frozenset(
    ("nvidia-t4g", "nvidia-gh200-96gb", "nvidia-gb200", "nvidia-gb300", "nvidia-gb10")
)
"""Accelerators sold beside Arm processors alone, whose containers are built for Arm (AWS g5g and
NVIDIA Grace, 2026)."""


def find_software(accelerator: str) -> str:
    """The software stack of an accelerator, "" where none of ours is written for it.

    >>> find_software("nvidia-h100-80gb-sxm"), find_software("google-tpu-v5e")
    ('cuda', 'xla')
    """
    try:
        slug = resolve(accelerator).slug
    except InvalidInput:
        return ""
    vendor = str(get(slug).vendor)
    return SOFTWARE_BY_VENDOR.get(vendor, "")
