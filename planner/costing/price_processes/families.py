"""Accelerator families: the devices whose prices are taken to move alike. PURE.

A family is a model (H100 in every form and memory size); a tier gathers the families that
are bought for the same work and lends its figures to those with little history of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from pricing.market.accelerators import Accelerator, all_accelerators

YOUNG_YEARS = 6
"""Years since release after which no list price cut of a data-centre family is on record
(V100, P100, K80, M60 and T4 at AWS and Azure, 2013 to 2026)."""


class Tier(StrEnum):
    """What a family is bought for."""

    TRAINING = "training"
    """Data-centre devices with stacked memory, and chips sold for training."""
    INFERENCE = "inference"
    """The other data-centre devices."""
    WORKSTATION = "workstation"
    CONSUMER = "consumer"


@dataclass(frozen=True)
class Family:
    """A model, its tier and the year of its first device; year 0 where it is unknown."""

    name: str
    tier: Tier
    year: int = 0

    def is_young(self, year: float) -> bool:
        """Whether list prices may still be cut in `year`; a family without a year is new.

        >>> find_family("nvidia-v100-16gb-sxm").is_young(2026)
        False
        """
        return not self.year or year - self.year < YOUNG_YEARS


_NOT_STACKED = frozenset({"l40", "l40s", "rtx-pro-6000", "v520", "v620", "v710", "mi25", "a16"})
_STACKED_GB_PER_S = 700.0
_TRAINING = frozenset({"tpu", "trainium", "gaudi"})
_SAME = {"t4g": "t4", "a10g": "a10", "v100s": "v100", "h800": "h100", "a800": "a100"}
_MULTIWORD = re.compile(
    r"\b(rtx-pro-\d+|rtx-a\d+|rtx-\d+-ada|quadro-rtx-\d+|quadro-[a-z]?\d+|titan-[a-z]+|"
    r"(?:rtx|gtx|gt|rx)-\d+(?:-(?:ti-super|ti|super|xtx|xt|gre))?|tpu-v\d+[a-z]*|arc-[ab]\d+)(?![a-z0-9])"
)
_SIMPLE = re.compile(
    r"(?<![a-z0-9])(gb\d00|gh200|[abhplvtk]\d+[a-z]{0,2}|m[0-9]{2}|mi\d+[ax]?|v520|v620|v710|"
    r"trainium\d?|inferentia\d?|gaudi\d?|ai100)(?![a-z0-9])"
)


def find_family(slug: str) -> Family | None:
    """The family of a canonical accelerator slug, None where the slug is unknown.

    >>> find_family("nvidia-a100-80gb-sxm")
    Family(name='a100', tier=<Tier.TRAINING: 'training'>, year=2020)
    >>> find_family("nvidia-x900") is None
    True
    """
    return _by_slug().get(slug)


def read_family(text: str) -> Family:
    """The family that a price list's own words mean; a family of its own where none is known.

    >>> read_family("NVIDIA A100 SXM4 40 GB").name, read_family("RTXPRO6000").name
    ('a100', 'rtx-pro-6000')
    >>> read_family("GeForce GTX 1660 Super").name, read_family("tpu-v3-2048").name
    ('gtx-1660-super', 'tpu-v3')
    """
    name = _name(text)
    known = _by_name().get(name)
    return known or Family(name, _tier_in_words(text.casefold()))


def _name(text: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")
    words = re.sub(r"rtx-?pro-?(\d+)", r"rtx-pro-\1", words)
    words = re.sub(r"(?<!rtx-)\b(a[456]000|a4500)\b", r"rtx-\1", words)
    words = re.sub(r"\b(rtx|gtx|rx)(\d)", r"\1-\2", words)
    words = re.sub(r"\bquadro-?rtx-?(\d)", r"quadro-rtx-\1", words)
    match = _MULTIWORD.search(words) or _SIMPLE.search(words)
    name = match.group(1) if match else words
    return _SAME.get(name, name)


def _tier_in_words(text: str) -> Tier:
    if re.search(r"geforce|gtx|radeon|\brx\b|\barc\b|rtx[ -]?[2345]0[5-9]0|titan", text):
        return Tier.CONSUMER
    if re.search(r"quadro|rtx|firepro|\bnvs\b|\bt\d00", text):
        return Tier.WORKSTATION
    return Tier.INFERENCE if re.search(r"[a-z]\d{1,2}\b|inf", text) else Tier.TRAINING


def _tier(one: Accelerator, name: str) -> Tier:
    if one.accelerator_class in ("consumer", "workstation"):
        return Tier(one.accelerator_class)
    fast = (one.memory_bandwidth_gb_per_s or 0) >= _STACKED_GB_PER_S and name not in _NOT_STACKED
    return Tier.TRAINING if fast or any(map(name.startswith, _TRAINING)) else Tier.INFERENCE


@cache
def _by_name() -> dict[str, Family]:
    families: dict[str, Family] = {}
    for one in sorted(all_accelerators(), key=lambda a: a.year):
        name = _name(one.slug.split("-", 1)[1])
        families.setdefault(name, Family(name, _tier(one, name), one.year))
    return families


@cache
def _by_slug() -> dict[str, Family]:
    return {a.slug: _by_name()[_name(a.slug.split("-", 1)[1])] for a in all_accelerators()}
