"""What people call fields, accelerators, options and sources, where an answer has ids. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.contract.answer.comparison import OfferUsed
from planner.contract.labels import cloud_title
from planner.contract.purchase_options import traits
from pricing.market.accelerators import get

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
_SERVER = "server:"
"""What the id of a server in a plan begins with."""


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
    name = _name_of(last)
    return ", ".join(name(one) for one in value.split(", "))


def choice_name(value: Any) -> Any:
    """One of several choices in words; what is no such word stays.

    >>> choice_name("straight_line"), choice_name("0.07"), choice_name(3)
    ('straight line', '0.07', 3)
    """
    is_choice = isinstance(value, str) and "_" in value and value.isidentifier()
    return _words(value) if is_choice else value


def _name_of(field: str) -> Any:
    if field in _ACCELERATORS:
        return accelerator_name
    return cloud_title if field in _PROVIDERS else option_name


def source_name(source: str, offers: Mapping[str, OfferUsed], labels: Mapping[str, str]) -> str:
    """Where capacity comes from: a machine at a provider, or a server by its name.

    >>> source_name("server:HGX H100, quoted", {}, {})
    'HGX H100, quoted'
    >>> source_name("server:dgx-h100", {}, {"server:dgx-h100": "DGX H100 (8x H100)"})
    'DGX H100 (8x H100)'
    """
    offer = offers.get(source)
    if offer is None:
        return labels.get(source) or source.removeprefix(_SERVER)
    where = f"{cloud_title(offer.provider)} {offer.zone or offer.region}".strip()
    return f"{offer.instance_type} at {where}, {option_name(offer.purchase_option)}"
