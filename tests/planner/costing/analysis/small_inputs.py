"""Sources of a plan of two months, small enough to be costed by hand."""

import datetime as dt
from types import MethodType, SimpleNamespace
from typing import Any

import numpy as np

from planner.contract.answer.common import Category
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import HourCharge, Stream, UnitCharge
from planner.costing.cost_model.terms import Calendar, ChargeTiming, Term
from planner.costing.model_inputs import ModelInputs
from planner.costing.run_peaks import RunPeaks

CALENDAR = Calendar(dt.date(2027, 1, 1), 2, discount_rate_per_year=0.21, tax_rate=0.25)
D1, D2 = 1.21 ** (-1 / 12), 1.21 ** (-2 / 12)
KEEP = 0.75
"""What tax leaves of an expense."""


def per_hour(category: Category, *prices: float) -> HourCharge:
    return HourCharge(category, "", "h", 1.0, np.array([*prices, prices[-1]]))


def per_unit(category: Category, price: float, timing: ChargeTiming) -> UnitCharge:
    return UnitCharge(category, "", "units", 1.0, np.full(3, price), timing)


def rented(key: str, option: str, capacity: float, rent: Any, data: float = 0.0, **fields: Any):
    charges = (per_hour(Category.COMPUTE, *rent), per_hour(Category.STORAGE, data, data))
    return CapacitySource(
        key, key, option, "h100", 8, capacity, charges, is_spot=option == "spot", **fields
    )


def owned_already(key: str, units: Any, capacity: float, hour: float, **fields: Any):
    """Ten a month to operate each, worth 100 each at the horizon."""
    quantity = np.array([*units, 0.0])
    fixed = (
        Stream(Category.STAFF, "", "months", quantity, np.full(3, 10.0)),
        Stream(Category.RESIDUAL, "", "servers", np.array([0.0, 0, 2]), np.full(3, -100.0)),
    )
    return CapacitySource(
        key, key, "owned", "h100", 8, capacity, (per_hour(Category.POWER, hour, hour),),
        term=Term(2, 3, 0, 60), existing=np.array(units), fixed_streams=fixed, max_units=0,
        **fields,
    )  # fmt: skip


def to_buy(key: str = "server", lead: int = 0, **fields: Any) -> CapacitySource:
    """A thousand at the purchase, 3 an hour of use, worth 200 at the horizon."""
    charges = (
        per_unit(Category.CAPEX, 1000.0, ChargeTiming.START),
        per_unit(Category.RESIDUAL, -200.0, ChargeTiming.END),
    )
    return CapacitySource(
        key, key, "owned", "h100", 8, 16.0, (per_hour(Category.POWER, 3.0, 3.0),), charges,
        Term(2, 3, lead, 60, depreciation="none"), **fields,
    )  # fmt: skip


def committed(key: str = "reserved", upfront: float = 0.0, months: int = 12) -> CapacitySource:
    """730 hours of every month at 2."""
    charges = [
        UnitCharge(Category.COMMITMENT, "", "h", 730.0, np.full(3, 2.0), ChargeTiming.MONTHLY)
    ]
    if upfront:
        charges.append(per_unit(Category.UPFRONT, upfront, ChargeTiming.START))
    data = (per_hour(Category.EGRESS, 0.5, 0.5), per_hour(Category.COMPUTE, 0.1, 0.1))
    return CapacitySource(
        key, key, "reserved", "h100", 8, 16.0, data, tuple(charges), Term(2, 3, 0, months)
    )


def inputs_of(*sources: CapacitySource, **fields: Any) -> Any:
    """What the analyses read of the inputs of a plan."""
    plain = {
        "calendar": CALENDAR,
        "sources": sources,
        "fixed_sources": lambda _: tuple(one for one in sources if one.fixed_streams),
        "by_key": {one.key: one for one in sources},
        "units": {one.key: one.commitment_option(CALENDAR) for one in sources if one.term},
        "pools": (),
        "servers": SimpleNamespace(unsure={}),
        "windows": (),
        "max_spot_share": 1.0,
        "whole_nodes": False,
        "is_level": False,
        "replica": 0,
        "interruptible": True,
        "other_costs": (),
        "least_peaks": None,
        "limits_days": False,
        "peak": np.zeros(CALENDAR.months),
    }
    found = SimpleNamespace(**(plain | fields))
    found.rents_whole = MethodType(ModelInputs.rents_whole, found)
    found.runs = RunPeaks(np.zeros(CALENDAR.months), found.peak, found.least_peaks)
    return found
