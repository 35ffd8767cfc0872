"""The process of one price: parameters, units and the quantiles of its moves. PURE.

With t years from today, the price is today's price times F(t), and

    ln F(t) = J(t) + μ t + R(t) (a − d + τ w) + x(t)

- J(t): cuts and rises of the list price. They arrive at λ a year; λ itself is only known to a
  gamma distribution, so that a family with one cut on record may see none or two. A change is
  exp(±|size|), |size| lognormal, downwards but for `rise_share` of the changes.
- μ t: drift of markets and hardware as generations age; μ is known to ± `drift_sd`.
- R(t) (a − d + τ w): spot is set anew at κ (½ + |a − d|) resets a year; R(t) is 1 once it has
  been. It then stands at its usual discount a, both a and today's d being ln(spot / on demand),
  ± τ. So the price returns to its usual level as clouds do it: unchanged for months, then far at
  once.
- x(t): small moves, x(t + 1 month) = x(t) + v(t + 1 month), and
  v(t + 1 month) = ρ v(t) + √(1 − ρ²) σ √(s / 12) ε; a random walk where ρ = 0. With ρ a price that
  climbs climbs on: clouds move spot in steps of a fortnight to a month, many one way. s is
  gamma-distributed with mean 1: calm paths and wild ones, heavier tails than a normal
  distribution.
- spot stays between `LEAST_SPOT` of the price on demand and that price, of today.

A downturn of the generation (one draw per path and family) raises λ, lowers μ and a of all of
the family's prices together: rents, spot and resale values fall at once.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_rows
from pricing.market.accelerators import Accelerator, all_accelerators
from pricing.market.offers import PurchaseOption

Floats = NDArray[np.float64]

SHOCK_SHAPE = 2.0
"""Shape of the gamma distribution of s: kurtosis 3 (1 + 1/2) = 4.5. Assumed: monthly resale
moves have heavier tails still, moves over a year about these."""
DRIVER_HAZARD_SD = 0.8
"""Standard deviation of ln λ across downturns and booms of a generation. Assumed: all cuts of
2025 fell within two months, and none in the five years before."""
LARGEST_CHANGE = math.log(6.0)
"""Largest |ln(new / old)| of one change: of the 32 on record (2013 to 2026) the largest is 1.72."""


LEAST_SPOT = 0.08
"""Share of the price on demand that spot does not fall below; of 8,373 month-ends with both prices
(2015 to 2026) the lowest is 0.084. 13 are above 1, all of AWS in 2015 and 2020."""


PULL_AT_REST = 0.5
"""Share of the rate of resets for a price at its usual level. Assumed: H100 spot of Google, set at
70 % of on demand when it came, was cut to its usual level within 16 months, while A100 and L4 near
theirs were left alone for two years."""


class PriceKind(StrEnum):
    """What moves a price: several purchase options share one kind."""

    LIST = "list"
    """On-demand list prices of the clouds."""
    COMMITMENT = "commitment"
    """Reservations, savings plans and committed use: new ones follow on demand."""
    SPOT = "spot"
    MARKET = "market"
    """Rents of GPU clouds and marketplaces, capacity blocks and quotes."""
    HARDWARE = "hardware"
    """Purchase and resale prices of owned machines."""


def _kind(option: PurchaseOption) -> PriceKind:
    if option.is_interruptible:
        return PriceKind.SPOT
    if option.is_commitment:
        return PriceKind.COMMITMENT
    return PriceKind.MARKET if option is PurchaseOption.CAPACITY_BLOCK else PriceKind.LIST


KINDS = {option: _kind(option) for option in PurchaseOption}
"""The kind of price of every purchase option: a list price unless it can be interrupted, is a
commitment, or is set anew with every sale."""


@dataclass(frozen=True)
class PriceProcess:
    """Parameters of one family and kind; logarithms are natural, rates and sds per year."""

    family: str
    kind: PriceKind
    tier: str
    changes_per_year: float = 0.0
    """λ, of list prices."""
    changes_shape: float = 1.0
    """Shape of the gamma distribution of λ: about the number of changes on record."""
    change_size: float = 0.2
    """Median |ln(new / old)| of a change."""
    change_size_sd: float = 0.0
    """Standard deviation of ln |size|."""
    rise_share: float = 0.0
    drift: float = 0.0
    """μ, per year."""
    drift_sd: float = 0.0
    resets_per_year: float = 0.0
    """κ, of spot."""
    usual_discount: float = 0.0
    """a, ln(spot / on demand)."""
    discount_sd: float = 0.0
    """τ, of ln(spot / on demand) around the usual discount."""
    discount: float | None = None
    """d, today's ln(spot / on demand); None takes the price as usual."""
    shock_sd: float = 0.0
    """σ, of the shocks of a year."""
    momentum: float = 0.0
    """ρ, share of the move of one month that the next repeats."""
    place: str = ""
    """Processes of one family and place share list changes, others only the downturn."""
    level: str = "general"
    """family, tier, provider or general: what the parameters were fitted on."""
    series: int = 0
    """Price series behind the parameters, and `cells`: family × source × year, the cases that
    may count as independent."""
    cells: int = 0
    fitted_to: dt.date = dt.date.min
    """Last day of the evidence."""
    source: str = ""

    def at_discount(self, spot_to_on_demand: float) -> PriceProcess:
        """The process of a spot price that is this share of the on-demand price today.

        >>> PriceProcess("h100", PriceKind.SPOT, "training").at_discount(0.5).discount
        -0.6931471805599453
        """
        if not 0.0 < spot_to_on_demand < math.inf:
            raise InvalidInput("discount", "the share of the on-demand price must be above 0")
        return replace(self, discount=math.log(spot_to_on_demand))

    @property
    def reset_rate(self) -> float:
        """Resets a year: the more of them, the further the price is from its usual level."""
        return self.resets_per_year * (PULL_AT_REST + abs(self.pull))

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and most of ln F: of spot beside today's price on demand.

        >>> spot = PriceProcess("h100", PriceKind.SPOT, "training").at_discount(0.5)
        >>> [round(math.exp(end), 2) for end in spot.bounds]
        [0.16, 2.0]
        """
        if self.kind is not PriceKind.SPOT:
            return -math.inf, math.inf
        discount = self.usual_discount if self.discount is None else self.discount
        return min(math.log(LEAST_SPOT) - discount, 0.0), max(-discount, 0.0)

    @property
    def pull(self) -> float:
        """a − d: how far the logarithm of the price stands below its usual level."""
        return 0.0 if self.discount is None else self.usual_discount - self.discount


def size_of_change(process: PriceProcess, z: NDArray[np.floating]) -> NDArray[np.floating]:
    """|ln(new / old)| of changes, z standard normal."""
    size = process.change_size * np.exp(process.change_size_sd * z)
    return np.asarray(np.minimum(size, LARGEST_CHANGE))


def driver_hazard(driver: NDArray[np.floating]) -> NDArray[np.floating]:
    """Factor on λ in a downturn (driver below 0) or boom; its mean is 1."""
    sd = DRIVER_HAZARD_SD
    return np.asarray(np.exp(-sd * driver - 0.5 * sd * sd))


# The fitted processes, by accelerator and purchase option

TABLE = Path(__file__).with_name("parameters.csv")
GENERAL = "general"
NUMBERS = (
    *("changes_per_year", "changes_shape", "change_size", "change_size_sd", "rise_share"),
    *(
        "drift",
        "drift_sd",
        "resets_per_year",
        "usual_discount",
        "discount_sd",
        "shock_sd",
        "momentum",
    ),
)
"""Columns of `parameters.csv` that hold a number with a fraction; units as in `PriceProcess`."""
COLUMNS = ("kind", "scope", *NUMBERS, "series", "cells", "fitted_to", "source")

Scope = tuple[PriceKind, str]


def find_process(
    accelerator: str,
    purchase_option: PurchaseOption | PriceKind,
    year: int | None = None,
    provider: str = "",
) -> PriceProcess:
    """The process of an accelerator's price: its family's, its tier's, or that of the kind.

    `accelerator` is a canonical slug; one that is not known takes the general process of the
    kind, whose range is wider. `year` is the year asked in, by default that of the evidence:
    list prices of young families are cut more often. Small moves of spot are the provider's.

    >>> find_process("nvidia-h100-80gb-sxm", PurchaseOption.SPOT).level
    'family'
    >>> find_process("nvidia-x900", PurchaseOption.SPOT).level
    'general'
    """
    kind = purchase_option if isinstance(purchase_option, PriceKind) else KINDS[purchase_option]
    family = find_family(accelerator)
    if family is None:
        general = replace(all_processes()[kind, GENERAL], family=accelerator)
        return move_like(provider, general, all_processes())
    return find_in(all_processes(), kind, family, year, provider)


def find_in(
    processes: Mapping[Scope, PriceProcess],
    kind: PriceKind,
    family: Family,
    year: float | None = None,
    provider: str = "",
) -> PriceProcess:
    """The most specific process of a family among `processes`, with the small moves of its
    provider."""
    general = processes[kind, GENERAL]
    age = "young" if family.is_young(year or general.fitted_to.year) else "old"
    names = (f"family:{family.name}", f"tier:{family.tier}")
    scopes = [scope for name in names for scope in (f"{name}:{age}", name)]
    best = next((processes[kind, s] for s in scopes if (kind, s) in processes), general)
    process = replace(best, family=family.name, tier=family.tier.value)
    return move_like(provider, process, processes)


def move_like(
    provider: str, process: PriceProcess, processes: Mapping[Scope, PriceProcess]
) -> PriceProcess:
    """A process with the small moves of its provider, where these are fitted."""
    own = processes.get((process.kind, f"provider:{provider}"))
    if own is None:
        return process
    return replace(process, shock_sd=own.shock_sd, momentum=own.momentum)


@cache
def all_processes() -> Mapping[Scope, PriceProcess]:
    """Every fitted process by kind and scope, such as "family:h100"."""
    return MappingProxyType(
        {(PriceKind(row["kind"]), row["scope"]): _process(row) for row in read_rows(TABLE)}
    )


def _process(row: Mapping[str, str]) -> PriceProcess:
    level, _, name = row["scope"].partition(":")
    values: dict[str, Any] = {column: float(row[column] or 0) for column in NUMBERS}
    return PriceProcess(
        family=name.split(":")[0] if level == "family" else "",
        kind=PriceKind(row["kind"]),
        tier=Tier(name.split(":")[0]).value if level == "tier" else "",
        level=level,
        series=int(row["series"]),
        cells=int(row["cells"]),
        fitted_to=dt.date.fromisoformat(row["fitted_to"]),
        source=row["source"],
        **values,
    )


# Accelerator families: the devices whose prices are taken to move alike

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


@lru_cache(maxsize=1_024)
def find_family(slug: str) -> Family | None:
    """The family of a canonical accelerator slug, None where the slug is unknown.

    >>> find_family("nvidia-a100-80gb-sxm")
    Family(name='a100', tier=<Tier.TRAINING: 'training'>, year=2020)
    >>> find_family("nvidia-x900") is None
    True
    """
    is_known = any(one.slug == slug for one in all_accelerators())
    return families_by_name()[family_name(slug.split("-", 1)[1])] if is_known else None


def family_name(text: str) -> str:
    """The model that words name: "a100" of "NVIDIA A100 SXM4 40 GB"."""
    words = re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")
    words = re.sub(r"rtx-?pro-?(\d+)", r"rtx-pro-\1", words)
    words = re.sub(r"(?<!rtx-)\b(a[456]000|a4500)\b", r"rtx-\1", words)
    words = re.sub(r"\b(rtx|gtx|rx)(\d)", r"\1-\2", words)
    words = re.sub(r"\bquadro-?rtx-?(\d)", r"quadro-rtx-\1", words)
    match = _MULTIWORD.search(words) or _SIMPLE.search(words)
    name = match.group(1) if match else words
    return _SAME.get(name, name)


def _tier(one: Accelerator, name: str) -> Tier:
    if one.accelerator_class in ("consumer", "workstation"):
        return Tier(one.accelerator_class)
    fast = (one.memory_bandwidth_gb_per_s or 0) >= _STACKED_GB_PER_S and name not in _NOT_STACKED
    return Tier.TRAINING if fast or any(map(name.startswith, _TRAINING)) else Tier.INFERENCE


@cache
def families_by_name() -> dict[str, Family]:
    """Every family of a known accelerator."""
    families: dict[str, Family] = {}
    for one in sorted(all_accelerators(), key=lambda a: a.year):
        name = family_name(one.slug.split("-", 1)[1])
        families.setdefault(name, Family(name, _tier(one, name), one.year))
    return families
