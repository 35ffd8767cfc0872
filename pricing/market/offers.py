"""What the market sells, in one form for every provider. PURE.

An `Offer` is one price of one machine in one place under one purchase option. Money is
`Decimal` in the provider's own currency; a month is 730 hours everywhere (`HOURS_PER_MONTH`).
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

HOURS_PER_MONTH = 730
"""Hours in a month, h: 8,760 h / 12. Said here once; nothing else defines a month."""


class PurchaseOption(StrEnum):
    """How a machine is paid for. Free text is never used for it."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"
    LOW_PRIORITY = "low_priority"
    RESERVED = "reserved"
    RESERVED_CONVERTIBLE = "reserved_convertible"
    SAVINGS_PLAN = "savings_plan"
    COMMITTED_USE = "committed_use"
    CAPACITY_BLOCK = "capacity_block"
    DWS_FLEX_START = "dws_flex_start"
    DWS_CALENDAR_MODE = "dws_calendar_mode"

    @property
    def is_commitment(self) -> bool:
        """Whether whole nodes are paid for a fixed term, used or not."""
        return self in _COMMITMENTS

    @property
    def is_interruptible(self) -> bool:
        """Whether the provider may take the machine back at any time."""
        return self in (PurchaseOption.SPOT, PurchaseOption.LOW_PRIORITY)


_COMMITMENTS = frozenset(
    {
        PurchaseOption.RESERVED,
        PurchaseOption.RESERVED_CONVERTIBLE,
        PurchaseOption.SAVINGS_PLAN,
        PurchaseOption.COMMITTED_USE,
    }
)

PAYMENT_OPTIONS = ("", "no_upfront", "partial_upfront", "all_upfront", "monthly")

COMPLETE_READS = 3
"""Lists without an offer, the part it is of read in full, after which it is no longer sold."""
ABSENT, ENDED = "not in the list of ", f"no longer sold, missing in {COMPLETE_READS} lists: "
REFUSED = "came with prices that cannot be right, earlier ones stay: "
"""How what a list lacks is told."""
COMPUTE_PLAN_SKU = "ComputeSavingsPlans"
"""Plan type of AWS that stands as the SKU of an offer."""
COMPUTE_PLAN_SUFFIX = "compute"


@dataclass(frozen=True)
class Offer:
    """One price, as a provider sells it.

    `price_per_hour` is what recurs for each hour of the whole machine (host included), in
    `currency`; `upfront` is what is due once when a commitment begins. The two never overlap:
    an all-upfront reservation has `price_per_hour` 0 and a positive `upfront`.

    >>> offer = Offer(provider="aws", region="us-east-1", instance_type="p5.48xlarge",
    ...               accelerator="nvidia-h100-80gb-sxm", accelerator_count=Fraction(8),
    ...               purchase_option=PurchaseOption.ON_DEMAND, price_per_hour=Decimal("55.04"))
    >>> offer.id
    'aws:us-east-1:p5.48xlarge:on_demand'
    >>> offer.price_per_accelerator_hour
    Decimal('6.88')
    """

    provider: str
    region: str
    instance_type: str
    accelerator: str
    """Canonical slug, see `pricing.market.accelerators`."""
    accelerator_count: Fraction
    """Accelerators of one machine, exact: 1/6 of an A10 is Fraction(1, 6)."""
    purchase_option: PurchaseOption
    price_per_hour: Decimal
    upfront: Decimal = Decimal(0)
    currency: str = "USD"
    zone: str = ""
    """Set only where the price differs by zone (AWS spot)."""
    term_months: int = 0
    payment_option: str = ""
    vcpus: float | None = None
    memory_gib: float | None = None
    network_gbps: float | None = None
    sku: str = ""
    source: str = ""
    as_of: dt.date | None = None
    """Day the price was seen; None where the source carries no date (never today by default)."""
    sold_now: bool = True
    """False for retired families and machines not sold in the region: shown, never proposed."""
    absent_since: dt.date | None = None
    """Day of the provider's first list without it; None while it is listed."""

    @cached_property
    def id(self) -> str:
        """Readable identity, stable across revisions: where, what, and on which terms."""
        place = f"{self.region}/{self.zone}" if self.zone else self.region
        parts = [self.provider, place, self.instance_type, self.purchase_option.value]
        if self.term_months:
            parts.append(f"{self.term_months}m")
        if self.payment_option:
            parts.append(self.payment_option)
        if self.is_compute_plan:
            parts.append(COMPUTE_PLAN_SUFFIX)
        return ":".join(parts)

    @property
    def is_compute_plan(self) -> bool:
        """Whether it is a Compute savings plan. AWS sells two kinds for one machine and term; the
        other, EC2 Instance, and plans of no stated kind have the id without an ending."""
        is_plan = self.purchase_option is PurchaseOption.SAVINGS_PLAN
        return is_plan and self.sku == COMPUTE_PLAN_SKU

    @property
    def effective_price_per_hour(self) -> Decimal:
        """Recurring price plus the upfront spread over the term: p + U / (730 · term)."""
        if not self.upfront or not self.term_months:
            return self.price_per_hour
        return self.price_per_hour + self.upfront / (HOURS_PER_MONTH * self.term_months)

    @property
    def price_per_accelerator_hour(self) -> Decimal:
        """Effective price of one whole accelerator for an hour, in `currency`."""
        count = self.accelerator_count
        return self.effective_price_per_hour * count.denominator / count.numerator
