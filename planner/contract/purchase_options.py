"""The one table of ways to pay for a machine, and what each means everywhere. PURE.

Which options bind and which may be interrupted is the market's knowledge
(`pricing.market.offers.PurchaseOption`); this table adds how plans, charts and FOCUS exports
treat them. `owned` stands beside the market's options for servers of the team.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pricing.market.offers import PurchaseOption

OWNED = "owned"
"""Purchase option of servers, bought or already in service."""

ChartRole = Literal["owned", "committed", "capacity_block", "on_demand", "spot"]
CHART_ROLES: tuple[ChartRole, ...] = ("owned", "committed", "capacity_block", "on_demand", "spot")
"""Kinds of capacity in the order in which charts stack them."""
ROLE_TITLES: Mapping[str, str] = {
    "owned": "owned",
    "committed": "committed",
    "capacity_block": "reserved by date",
    "on_demand": "on demand",
    "spot": "spot",
}
"""What charts call each kind of capacity."""


@dataclass(frozen=True)
class OptionTraits:
    """What one purchase option means."""

    label: str
    """What people read."""
    chart_role: ChartRole
    """Colour and stack in charts."""
    is_commitment: bool = False
    """Whether whole nodes are paid for a fixed term, used or not."""
    is_interruptible: bool = False
    """Whether the provider may take the machine back at any time."""
    is_paid_ahead: bool = False
    """Whether its hours are reserved by date and paid before they are used."""
    focus_category: str = "Standard"
    """FOCUS 1.2 PricingCategory."""
    focus_commitment_type: str = ""
    """FOCUS 1.2 CommitmentDiscountType; empty where nothing is committed."""
    focus_commitment_category: str = ""
    """FOCUS 1.2 CommitmentDiscountCategory: Usage, or Spend for an amount of money."""


_O = PurchaseOption


def _flexible(label: str) -> OptionTraits:
    return OptionTraits(label, "on_demand")


def _interruptible(label: str) -> OptionTraits:
    return OptionTraits(label, "spot", is_interruptible=True, focus_category="Dynamic")


def _committed(label: str, focus_type: str, category: str = "Usage") -> OptionTraits:
    return OptionTraits(
        label,
        "committed",
        is_commitment=True,
        focus_category="Committed",
        focus_commitment_type=focus_type,
        focus_commitment_category=category,
    )


def _reserved_by_date(label: str) -> OptionTraits:
    return OptionTraits(label, "capacity_block", is_paid_ahead=True, focus_category="Other")


TRAITS: Mapping[str, OptionTraits] = {
    _O.ON_DEMAND: _flexible("on demand"),
    _O.SPOT: _interruptible("spot"),
    _O.LOW_PRIORITY: _interruptible("low priority"),
    _O.RESERVED: _committed("reserved", "Reserved Instance"),
    _O.RESERVED_CONVERTIBLE: _committed("reserved, convertible", "Convertible Reserved Instance"),
    _O.SAVINGS_PLAN: _committed("savings plan", "Savings Plan", "Spend"),
    _O.COMMITTED_USE: _committed("committed use", "Committed Use Discount"),
    _O.CAPACITY_BLOCK: _reserved_by_date("capacity block"),
    _O.DWS_FLEX_START: _flexible("flex start"),
    _O.DWS_CALENDAR_MODE: _reserved_by_date("calendar mode"),
    OWNED: OptionTraits("owned", "owned"),
}
"""Every purchase option of the market, and `owned`."""


SAVINGS_PLANS: Mapping[str, str] = {
    "ComputeSavingsPlans": "Compute savings plan",
    "EC2InstanceSavingsPlans": "EC2 Instance savings plan",
}
"""Kinds of savings plan by the plan type that AWS names; an offer has it as its SKU."""


def savings_plan_label(sku: str) -> str:
    """What a savings plan is called: by its kind, where the offer names it.

    >>> savings_plan_label("EC2InstanceSavingsPlans"), savings_plan_label("")
    ('EC2 Instance savings plan', 'savings plan')
    """
    return SAVINGS_PLANS.get(sku, traits(PurchaseOption.SAVINGS_PLAN).label)


_HOW = {
    _O.SPOT: "on spot",
    _O.LOW_PRIORITY: "at low priority",
    _O.DWS_FLEX_START: "through flex start",
}
"""How machines are rented, where the label of the option alone would not say it."""


def rented_how(purchase_option: str) -> str:
    """How a machine is rented, as a sentence says it.

    >>> rented_how("on_demand"), rented_how("spot")
    ('on demand', 'on spot')
    """
    return _HOW.get(PurchaseOption(purchase_option), traits(purchase_option).label)


def traits(purchase_option: str) -> OptionTraits:
    """What a purchase option means; `KeyError` for a text that is none.

    >>> traits("savings_plan").focus_commitment_category, traits("capacity_block").chart_role
    ('Spend', 'capacity_block')
    """
    return TRAITS[purchase_option]


def options_where(**values: bool) -> frozenset[str]:
    """Keys of the market's options with these traits.

    >>> sorted(options_where(is_interruptible=True))
    ['low_priority', 'spot']
    """
    return frozenset(
        option.value
        for option in PurchaseOption
        if all(getattr(TRAITS[option], name) == value for name, value in values.items())
    )


ON_DEMAND = frozenset({_O.ON_DEMAND.value})
SPOT = options_where(is_interruptible=True)
COMMITTED = options_where(is_commitment=True) | options_where(is_paid_ahead=True)
"""Paid for whether used or not: commitments, and capacity reserved by date."""
FLEXIBLE = frozenset({_O.DWS_FLEX_START.value})
"""Started when the provider has room, for as long as the work takes."""
