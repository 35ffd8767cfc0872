"""Which figures and fields move which charges, so that the others are shared. PURE."""

from __future__ import annotations

from planner.costing.cost_model.capacity_source import CapacitySource

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
        "price_processes", "limits_dates", "limits_days", "is_level", "fills_machines",
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
