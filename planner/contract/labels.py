"""What people read for the keys of an answer: titles of scenarios and providers. PURE."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from pricing.market.accelerators import get
from pricing.market.clouds import find_cloud
from pricing.market.offers import PurchaseOption

CAUSE_TITLES: Mapping[str, str] = {
    "hours": "hours",
    "project_end": "end of the project",
    "delivery": "delivery",
    "prices": "prices",
    "capacity": "interruptions and capacity",
    "quotes": "quotes",
    "resale": "resale",
}
"""Causes of the risk allowance in words."""
SCENARIO_TITLES = {
    "on_demand": "On demand",
    "cloud": "Cloud",
    "on_prem": "On-prem",
    "hybrid": "Hybrid",
}
"""What each scenario is called on a page."""
_BUDGET_TITLES = {"total": "Budget", "capital": "Capital budget", "monthly": "Monthly budget"}

BEFORE_TODAY = ", before today: "
"""Stands in the warning that months of a plan are over, and in no other."""
NOT_COUNTED = " and not counted"
"""Stands in a verdict where contracts cost more after the plan than it counts, and in no other."""
NO_RANGE_HERE = "does not hold here"
"""Stands in the warnings on work far from every published run, and in no other."""
BEYOND_ANY_CLUSTER = "more than the largest known training clusters have"
"""Stands in the warnings on more accelerators than were ever together, and in no other."""
RESERVED_AS_ESTIMATED = "reserved by date holds the hours as estimated"
"""Stands in the warning on a reservation that may be too short, and in no other."""
SECURE_CAPACITY = "Secure capacity first"
CHANCE_TO_MISS = "The chance to miss the deadline"
MISSES_ITS_DEADLINE = "is not done by its deadline"
"""Stands in the warning on a deadline that may be missed, and in no other."""
WITHOUT_SPOT = "hours on demand while spot is not there"
"""Stands in the lines of such hours, and in no other."""
_FIRST = (
    *(BEFORE_TODAY, NO_RANGE_HERE, BEYOND_ANY_CLUSTER, RESERVED_AS_ESTIMATED),
    MISSES_ITS_DEADLINE,
)
ON_PREM_TITLE = "On premises"
"""What stands for the provider of servers that the team owns."""
CATEGORY_TITLES = {
    "compute": "machines rented",
    "commitment": "commitments",
    "upfront": "paid upfront",
    "capex": "servers",
    "install": "installation",
    "network_storage": "network and storage of servers",
    "storage": "storage of data",
    "egress": "data moved out",
    "spares": "spares",
    "staff": "people",
    "credit": "credits",
    "shortfall": "minimum spend not reached",
    "other": "other costs",
    "residual": "resale of servers",
}
"""What people call the categories of cost whose own name does not say it."""
LIMIT_TITLES = {
    "providers": "the choice of providers",
    "regions": "the choice of regions",
    "geographies": "the choice of places",
    "countries": "the choice of countries",
    "partitions": "the choice of parts of the clouds",
    "purchase_options": "the choice of purchase options",
    "software": "the software that the code runs on",
    "min_accelerator_memory_gib": "the minimum memory of an accelerator",
    "min_accelerators_per_node": "the minimum number of accelerators in a machine",
    "interconnect": "the interconnect asked for",
    "max_term_months": "the longest term",
}
"""Limits on what may be rented, as they begin a sentence on what they rule out."""


def category_title(category: str) -> str:
    """What people call a category of cost.

    >>> category_title("capex"), category_title("power")
    ('servers', 'power')
    """
    return CATEGORY_TITLES.get(category, category.replace("_", " "))


def provider_title(provider: str) -> str:
    """Who issues the invoice; the team itself for what it owns.

    >>> provider_title("aws"), provider_title("lambda"), provider_title("")
    ('Amazon Web Services', 'lambda', 'On premises')
    """
    return find_cloud(provider).issuer or provider or ON_PREM_TITLE


def cloud_title(provider: str) -> str:
    """What people call a cloud; the provider's own name where it is none we know.

    >>> cloud_title("gcp"), cloud_title("lambda"), cloud_title("nimbus")
    ('Google Cloud', 'Lambda', 'nimbus')
    """
    cloud = find_cloud(provider)
    return cloud.short_title or cloud.title


def name_offer(label: str, provider: str) -> str:
    """An offer by its label and its provider, where it has one.

    >>> name_offer("p5.4xlarge in us-east-1, on demand", "aws"), name_offer("Quote 7", "")
    ('p5.4xlarge in us-east-1, on demand at AWS', 'Quote 7')
    """
    return f"{label} at {cloud_title(provider)}" if provider else label


UNNAMED_REGION = "all-regions"
"""Region of an offer whose price list names none (`docs/providers/other-clouds.md`)."""
_NO_REGION = "no region named"


def name_region(region: str, name: str = "", city: str = "") -> str:
    """What people call a region: by its name, else by its id and city.

    >>> name_region("eu-south-2", "Europe (Spain)"), name_region("us-east5", "", "Columbus")
    ('Europe (Spain)', 'us-east5 (Columbus)')
    >>> name_region("eastus2", "eastus2"), name_region("westus3")
    ('eastus2', 'westus3')
    >>> name_region("all-regions")
    'no region named'
    """
    if region == UNNAMED_REGION:
        return _NO_REGION
    if name and name != region:
        return name
    return f"{region} ({city})" if city else region


def join_place(provider: str, region: str) -> str:
    """A region of a cloud by name, which may begin with the cloud's own or be in no list.

    >>> join_place("aws", "Europe (Spain)"), join_place("aws", "AWS GovCloud (US-East)")
    ('AWS Europe (Spain)', 'AWS GovCloud (US-East)')
    >>> join_place("denvr", "all-regions")
    'Denvr (no region named)'
    """
    title = cloud_title(provider)
    if region in (UNNAMED_REGION, _NO_REGION):
        return f"{title} ({_NO_REGION})"
    return region if region.startswith(f"{title} ") else f"{title} {region}".strip()


def service_title(provider: str) -> str:
    """The service that rents the machines of a provider.

    >>> service_title("gcp"), service_title("")
    ('Compute Engine', 'On premises')
    """
    return find_cloud(provider).service or provider or ON_PREM_TITLE


_UNIT_WORDS = {"node-hours": "machine-hours", "futures": "simulated cases"}


def unit_words(unit: str) -> str:
    """A unit as people call it: `node-hours` → `machine-hours`."""
    return _UNIT_WORDS.get(unit, unit)


def budget_title(kind: str, fiscal_year: int | None = None) -> str:
    """Which budget: of the whole plan, of capital, of a fiscal year, or of a month.

    >>> budget_title("capital"), budget_title("capital", 2027)
    ('Capital budget', 'Capital budget of fiscal year 2027')
    """
    title = _BUDGET_TITLES[kind]
    return title if fiscal_year is None else f"{title} of fiscal year {fiscal_year}"


def comes_first(warning: str) -> bool:
    """Whether a warning has to be seen before the advice is.

    >>> comes_first("The oldest price used is of 2026-09-10.")
    False
    """
    return any(words in warning for words in _FIRST)


_SECTIONS = {
    "constraints": "limits",
    "custom_offers": "private offers",
    "existing": "what is there",
    "on_prem": "own servers",
    "price_adjustments": "contract discounts",
    "workload": "work",
}
"""Parts of a request whose own name is not what the pages call them."""
_SIGNS = {
    "fte": "FTE", "gbit": "Gbit", "gib": "GiB", "kw": "kW", "kwh": "kWh", "mfu": "MFU",
    "pue": "PUE", "sd": "standard deviation", "usd": "USD", "co2e": "CO2e",
}  # fmt: skip
_ACCELERATORS = frozenset({"accelerator", "accelerators"})
_PROVIDERS = frozenset({"provider", "providers"})
_OPTIONS = frozenset({"purchase_option", "purchase_options"})
NAMED = _ACCELERATORS | _PROVIDERS | _OPTIONS
"""Fields whose values are ids of something that has a name."""


def accelerator_name(slug: str) -> str:
    """
    >>> accelerator_name("nvidia-h100-80gb-sxm"), accelerator_name("of our own")
    ('H100 SXM5 80 GB', 'of our own')
    """
    try:
        return get(slug).name
    except KeyError:
        return slug


def option_name(option: str) -> str:
    """
    >>> option_name("on_demand"), option_name("owned"), option_name("")
    ('on demand', 'owned', '')
    """
    try:
        return traits(option).label if option else ""
    except KeyError:
        return option.replace("_", " ")


def field_name(path: str) -> str:
    """A field of a request in words, the rows of its lists counted from 1.

    >>> field_name("on_prem.electricity_per_kwh"), field_name("price_adjustments.0.provider")
    ('own servers: electricity per kWh', 'contract discounts 1: provider')
    >>> field_name("horizon_months"), field_name("on_prem.pue")
    ('horizon months', 'own servers: PUE')
    """
    parts: list[str] = []
    for part in path.split("."):
        if part.isdigit() and parts:
            parts[-1] = f"{parts[-1]} {int(part) + 1}"
        else:
            parts.append(_SECTIONS.get(part) or _words(part))
    return ": ".join(parts)


def _words(name: str) -> str:
    return " ".join(_SIGNS.get(word, word) for word in name.split("_"))


def value_name(field: str, value: Any) -> Any:
    """A value of a field by the name that people know, several one by one.

    >>> value_name("constraints.accelerators", "nvidia-t4, nvidia-l4")
    'Tesla T4, L4'
    >>> value_name("workload.kind", "accelerator_hours"), value_name("seed", 1)
    ('accelerator hours', 1)
    """
    last = field.rpartition(".")[2]
    if not isinstance(value, str) or last not in NAMED | {"kind", "server"}:
        return value
    if last == "kind":
        return _words(value)
    if last == "server":
        return "a server of its own" if value == "custom" else value
    name: Any = cloud_title if last in _PROVIDERS else option_name
    if last in _ACCELERATORS:
        name = accelerator_name
    return ", ".join(name(one) for one in value.split(", "))


def choice_name(value: Any) -> Any:
    """One of several choices in words; what is no such word stays.

    >>> choice_name("straight_line"), choice_name("0.07"), choice_name(3)
    ('straight line', '0.07', 3)
    """
    is_choice = isinstance(value, str) and "_" in value and value.isidentifier()
    return _words(value) if is_choice else value


_QUESTION = "It is not known "


def join_reasons(reasons: Iterable[str]) -> str:
    """Reasons between semicolons, whether or not each is a sentence of its own.

    >>> join_reasons(["no spot offer fits", "It is not known whether AWS sells spot."])
    'no spot offer fits; it is not known whether AWS sells spot'
    """
    parts = [reason.rstrip(".") for reason in reasons]
    lowered = [p[0].lower() + p[1:] if p.startswith(_QUESTION) else p for p in parts[1:]]
    return "; ".join([*parts[:1], *lowered])


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
class DateLimits:
    """The most that one reservation by date holds."""

    machines: int
    months: int
    """Months that its longest duration covers, of 30 days."""
    days: int
    single_days: float = math.inf
    """Most days that are sold one by one; more are sold in whole weeks, or as several blocks."""


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
    date_limits: DateLimits | None = None
    """Of what is reserved by date."""
    focus_category: str = "Standard"
    """FOCUS 1.2 PricingCategory."""
    focus_commitment_type: str = ""
    """FOCUS 1.2 CommitmentDiscountType; empty where nothing is committed."""
    focus_commitment_category: str = ""
    """FOCUS 1.2 CommitmentDiscountCategory: Usage, or Spend for an amount of money."""


_O = PurchaseOption


_interruptible = partial(
    OptionTraits, chart_role="spot", is_interruptible=True, focus_category="Dynamic"
)
_reserved_by_date = partial(
    OptionTraits, chart_role="capacity_block", is_paid_ahead=True, focus_category="Other"
)


def _committed(label: str, focus_type: str, category: str = "Usage") -> OptionTraits:
    return OptionTraits(
        label,
        "committed",
        is_commitment=True,
        focus_category="Committed",
        focus_commitment_type=focus_type,
        focus_commitment_category=category,
    )


TRAITS: Mapping[str, OptionTraits] = {
    _O.ON_DEMAND: OptionTraits("on demand", "on_demand"),
    _O.SPOT: _interruptible("spot"),
    _O.LOW_PRIORITY: _interruptible("low priority"),
    _O.RESERVED: _committed("reserved", "Reserved Instance"),
    _O.RESERVED_CONVERTIBLE: _committed("reserved, convertible", "Convertible Reserved Instance"),
    _O.SAVINGS_PLAN: _committed("savings plan", "Savings Plan", "Spend"),
    _O.COMMITTED_USE: _committed("committed use", "Committed Use Discount"),
    _O.CAPACITY_BLOCK: _reserved_by_date("capacity block", date_limits=DateLimits(64, 6, 182, 14)),
    _O.DWS_FLEX_START: OptionTraits("flex start", "on_demand"),
    _O.DWS_CALENDAR_MODE: _reserved_by_date("calendar mode", date_limits=DateLimits(80, 3, 90)),
    OWNED: OptionTraits("owned", "owned"),
}
"""Every purchase option of the market, and `owned`. AWS reserves 64 instances for 1 to 14 days,
then for whole weeks up to 182 days (EC2 user guide, Capacity Blocks for ML, 2026), Google Cloud 80
GPU machines for 1 to 90 days (Compute Engine documentation, future reservation requests in calendar
mode, 2025)."""


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
