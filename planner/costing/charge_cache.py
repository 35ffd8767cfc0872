"""What two questions charge alike, so that it is worked out for the first of them alone. PURE."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from planner.costing.cost_model.capacity_source import CapacitySource

if TYPE_CHECKING:
    from planner.costing.model_inputs import ModelInputs


def keep_charges(inputs: ModelInputs, other: ModelInputs) -> ModelInputs:
    """`other` itself where nothing differs; else `inputs`, with what is the same in both."""
    differing = {
        one.name
        for one in fields(inputs)
        if not is_same(one.name, getattr(inputs, one.name), getattr(other, one.name))
    }
    if not differing:
        return other
    known = vars(inputs)
    if differing <= CHOICE:
        for name in ("sources", "by_key", "units", "problem"):
            known[name] = getattr(other, name)
    if not differing & IN_RENTALS:
        known["priced_rentals"] = other.priced_rentals
    elif differing & IN_RENTALS == {"rentals"}:
        known["priced_alike"] = _list_priced_alike(inputs, other)
    if not differing & (IN_SERVERS | (IN_DATA if inputs.data.has_data else frozenset())):
        known["server_sources"] = other.server_sources
    return inputs


def _list_priced_alike(
    inputs: ModelInputs, other: ModelInputs
) -> dict[str, tuple[CapacitySource, CapacitySource]]:
    """The offers of `other`, before and after they are priced, that others beside them do not
    move: spot is priced with the offer on demand that stands in for it."""
    falls_back_alike = is_alike(inputs.fallback, other.fallback)
    both = zip(other.rentals, other.priced_rentals, strict=True)
    return {one.key: (one, priced) for one, priced in both if falls_back_alike or not one.is_spot}


WORTH_ALONE = frozenset({"discount_rate_per_year", "tax_rate", "upfront_deduction_spread"})
"""Figures that say what money is worth and are in no charge."""
OWNING_ALONE = frozenset(
    {
        "electricity_per_kwh", "pue", "colocation_per_kw_month", "support_rate_per_year",
        "network_storage_rate", "install_cost_rate", "spare_rate", "insurance_rate_per_year",
        "residual_rate", "resale_cost_rate", "lead_time_months", "useful_life_months",
        "utilisation_ceiling", "staff_accelerators_per_fte", "electricity_trend_per_year",
        "interest_rate_per_year", "colocation_trend_per_year", "support_trend_per_year",
        "server_price_trend_per_year", "on_prem_storage_per_tib_month",
    }
)  # fmt: skip
"""Figures that are in the charges of servers alone."""
RENTING_ALONE = frozenset(
    {
        "cloud_price_trend_per_year", "cloud_support_rate", "cloud_staff_fte_per_accelerator",
        "storage_per_gib_month", "egress_per_gib",
    }
)  # fmt: skip
"""Figures that are in the charges of offers, and of data, alone."""
PRICES_OF_DATA = frozenset({"storage_per_gib_month", "egress_per_gib"})
CHOICE = frozenset({"interruptible", "one_accelerator", "coverage"})
"""Fields that say which sources a scenario may use, or what is told of them."""
HOLDING_ARRAYS = frozenset({"rentals", "beyond_quotas", "hours", "peak"})
IN_SERVERS = frozenset({"servers", "throughput", "assumptions", "calendar", "packed_sizes"})
"""Fields that the charges of servers follow from, and of rentals:"""
IN_RENTALS = frozenset(
    {
        "rentals", "assumptions", "calendar", "hours", "peak", "data", "term_end", "whole_nodes",
        "is_level", "fills_machines",
    }
)  # fmt: skip
IN_DATA = frozenset({"data", "hours", "peak"})
"""Fields that the data of owned servers follows from."""


def is_same(name: str, one: object, other: object) -> bool:
    """Whether two values of a field are equal; what holds arrays only where it is one."""
    return one is other or (name not in HOLDING_ARRAYS and one == other)


def is_alike(one: CapacitySource | None, other: CapacitySource | None) -> bool:
    """Whether two offers before their charges are the same; not where months limit or reprice
    either, as arrays compare month by month."""
    if one is other:
        return True
    if one is None or other is None:
        return False
    plain = all(it.available is None and it.price_by_month is None for it in (one, other))
    return plain and one == other
