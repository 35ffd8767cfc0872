"""Renting: what an offer costs under its purchase option. PURE.

- on demand, flex start: the price of each hour of use
- spot, low priority: the same; hours lost to interruptions are paid again, so a useful hour
  costs price / goodput; where availability is priced, a share of the hours runs on demand
- capacity block, calendar mode: the price of each reserved hour, due before it is used,
  in whole days (`by_date`)
- reserved, convertible, savings plan, committed use: 730 h of every month of the term, used or
  not, at the price of the month in which it begins, plus the upfront payment at its start
- storage and egress in the cloud: each month's data, shared over the sources by the reference
  accelerator-hours that they serve
- support plan: a share of what machines are billed, in the months of the bill
- staff: full-time equivalents for each accelerator-hour in use
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.contract.amounts import add_months, days_in_month
from planner.contract.answer.common import Category
from planner.contract.copies import replace
from planner.contract.labels import ON_DEMAND, WITHOUT_SPOT, name_offer, savings_plan_label, traits
from planner.costing.assumptions.assumptions import Assumptions, default
from planner.costing.cost_model.capacity_source import CapacitySource, SpotAvailability
from planner.costing.cost_model.charges import HourCharge, UnitCharge
from planner.costing.cost_model.storage_egress import CloudData
from planner.costing.cost_model.terms import Calendar, ChargeTiming, Term, trend_factors
from planner.costing.price_processes.process import Tier, find_family
from planner.sizing.performance.goodput import CHECKPOINT_GIB_PER_NODE_SECOND, spot_goodput
from pricing.common.words import pluralize
from pricing.market.interruptions import find_interruption_band
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption

Floats = NDArray[np.float64]


def price_rental(
    source: CapacitySource,
    assumptions: Assumptions,
    calendar: Calendar,
    demand_hours: Floats,
    data: CloudData,
    term_end: str = "full",
    fallback: Fallback | None = None,
    hours_at_peak: Floats | None = None,
) -> CapacitySource:
    """`source` with the charges of its offer: what it costs to rent, store and transfer.

    `demand_hours` [T] are the reference accelerator-hours over which the data is shared. With a
    `fallback` spot that is not there is paid at its price.
    With `hours_at_peak` [T] whole days are paid for.
    """
    offer = source.offer
    assert offer is not None
    beside_rent = build_charges_beside_rent(source, assumptions, calendar, demand_hours, data)
    if offer.purchase_option.is_commitment:
        term = Term(
            months=calendar.months,
            length=calendar.length,
            lead_months=0,
            duration_months=offer.term_months,
            charges_after_horizon=True,
        )
        if term_end == "within":
            ends_within = np.arange(term.months) + term.duration_months <= term.months
            admitted = True if source.available is None else source.available
            source = replace(source, available=ends_within & admitted)
        unit_charges = _commitment_charges(source, assumptions, calendar)
        return replace(source, hour_charges=beside_rent, unit_charges=unit_charges, term=term)
    if source.is_spot:
        goodput = estimate_spot_goodput(offer, source.min_accelerators, assumptions, data)
        source = replace(source, goodput=goodput)
        if fallback is not None:
            availability = estimate_availability(source, offer, assumptions)
            source = replace(source, availability=availability)
    price = source.price_per_hour * _price_trend(assumptions, calendar)
    is_paid_ahead = traits(offer.purchase_option).is_paid_ahead
    category = Category.UPFRONT if is_paid_ahead else Category.COMPUTE
    charges = [HourCharge(category, source.label, "node-hours", 1.0, price)]
    if source.goodput < 1.0:
        label = f"{source.label}: hours lost to interruptions, run again"
        lost_hours = 1.0 / source.goodput - 1.0
        charges.append(HourCharge(category, label, "node-hours", lost_hours, price))
    rent = charges
    if hours_at_peak is not None:
        rent.append(_rest_of_days(source, rent[0].unit_price, hours_at_peak))
    if source.availability is not None and fallback is not None:
        share = source.availability.on_demand_share(assumptions["spot_patience_hours"])
        rent = _with_fallback(source, rent, share, fallback, assumptions, calendar)
    rate = assumptions["cloud_support_rate"]
    support = [
        HourCharge(
            Category.SUPPORT,
            f"Support plan: {source.label}",
            "of the bill",
            charge.per_hour,
            np.full(len(charge.unit_price), rate),
            is_fallback=charge.is_fallback,
        )
        for charge in (rent if rate else ())
    ]
    return replace(source, hour_charges=(*rent, *support, *beside_rent))


def build_charges_beside_rent(
    source: CapacitySource,
    assumptions: Assumptions,
    calendar: Calendar,
    demand_hours: Floats,
    data: CloudData,
) -> tuple[HourCharge, ...]:
    """Data in the place of an offer, and staff, for a useful node-hour."""
    charges = data.build_charges(
        source.provider, source.region, source.capacity, calendar, demand_hours
    )
    cost = staff_cost_per_accelerator_hour(assumptions)
    if not cost:
        return tuple(charges)
    trend = trend_factors(assumptions["staff_cost_trend_per_year"], calendar.length)
    label, price = f"Staff: {source.label}", np.asarray(cost * trend)
    staff = HourCharge(Category.STAFF, label, "accelerator-hours", source.accelerators, price)
    return (*charges, staff)


def describe_offer(offer: Offer) -> str:
    """How an offer is called in lines: what, where, on which terms.

    >>> from decimal import Decimal
    >>> from fractions import Fraction
    >>> describe_offer(Offer("aws", "us-east-1", "p5.48xlarge", "nvidia-h100-80gb-sxm", Fraction(8),
    ...     PurchaseOption.RESERVED, Decimal(40), term_months=12, payment_option="no_upfront"))
    'p5.48xlarge in us-east-1, reserved 12 months, no upfront'
    """
    is_plan = offer.purchase_option is PurchaseOption.SAVINGS_PLAN
    parts = [savings_plan_label(offer.sku) if is_plan else traits(offer.purchase_option).label]
    if offer.term_months:
        parts[0] += f" {pluralize(offer.term_months, 'month')}"
    if offer.payment_option:
        parts.append(offer.payment_option.replace("_", " "))
    return f"{offer.instance_type} in {offer.zone or offer.region}, {', '.join(parts)}"


def _price_trend(assumptions: Assumptions, calendar: Calendar) -> Floats:
    return trend_factors(assumptions["cloud_price_trend_per_year"], calendar.length)


def _rest_of_days(source: CapacitySource, price: Floats, hours_at_peak: Floats) -> HourCharge:
    unused = np.zeros(len(price))
    unused[: len(hours_at_peak)] = reserved_hours(hours_at_peak) - 1.0
    label = f"{source.label}: rest of the days reserved"
    return HourCharge(Category.UPFRONT, label, "node-hours", unused, price)


def _with_fallback(
    source: CapacitySource,
    rent: list[HourCharge],
    share: float,
    fallback: Fallback,
    assumptions: Assumptions,
    calendar: Calendar,
) -> list[HourCharge]:
    priced_as = f", {fallback.priced_as}" if fallback.priced_as else ""
    label = f"{source.label}: {WITHOUT_SPOT}{priced_as}"
    price = fallback.price_per_hour * _price_trend(assumptions, calendar)
    return [
        *(replace(charge, quantity=charge.quantity * (1.0 - share)) for charge in rent),
        HourCharge(Category.COMPUTE, label, "node-hours", share, price, is_fallback=True),
    ]


def staff_cost_per_accelerator_hour(assumptions: Assumptions) -> float:
    """What staff costs for an hour of one accelerator that is rented, in month 0: full-time
    equivalents · yearly cost / 8,760 h."""
    fte = assumptions["cloud_staff_fte_per_accelerator"]
    return fte * assumptions["staff_cost_per_year"] / (12.0 * HOURS_PER_MONTH)


def staff_over_plan(
    accelerators: Floats, assumptions: Assumptions, calendar: Calendar
) -> tuple[Floats, Floats]:
    """Staff for an hour of `accelerators`, in the first month and in the last, over what a unit of
    rent then costs with its share of the support plan: offers that cost no more at both ends do so
    in every month."""
    cost = accelerators * staff_cost_per_accelerator_hour(assumptions)
    first = cost / (1.0 + assumptions["cloud_support_rate"])
    wages = 1.0 + assumptions["staff_cost_trend_per_year"]
    rents = 1.0 + assumptions["cloud_price_trend_per_year"]
    return first, first * (wages / rents) ** (calendar.months / 12.0)


def _commitment_charges(
    source: CapacitySource, assumptions: Assumptions, calendar: Calendar
) -> tuple[UnitCharge, ...]:
    trend, charges = _price_trend(assumptions, calendar), []
    if source.price_per_hour:
        charges.append(
            UnitCharge(
                Category.COMMITMENT,
                source.label,
                "node-hours",
                float(HOURS_PER_MONTH),
                source.price_per_hour * trend,
                ChargeTiming.MONTHLY,
                fixed_at_start=True,
            )
        )
    if source.upfront:
        charges.append(
            UnitCharge(
                Category.UPFRONT,
                f"{source.label}: upfront payment",
                "commitments",
                1.0,
                source.upfront * trend,
                ChargeTiming.START,
                fixed_at_start=True,
            )
        )
    bill = tuple(charges)
    rate = assumptions["cloud_support_rate"]
    if not rate:
        return bill
    support = (
        replace(
            charge,
            category=Category.SUPPORT,
            label=f"Support plan: {source.label}",
            unit="of the bill",
            quantity=rate,
            unit_price=charge.quantity * charge.unit_price,
        )
        for charge in bill
    )
    return (*bill, *support)


def available_months(
    first: dt.date | None, last: dt.date | None, calendar: Calendar
) -> NDArray[np.bool_] | None:
    """[T] months from `first` to `last`; None where neither limits anything."""
    if first is None and last is None:
        return None
    month = np.arange(calendar.months)
    first_index = -1 if first is None else calendar.index(first)
    last_index = calendar.months if last is None else calendar.index(last)
    return np.asarray((month >= first_index) & (month <= last_index))


def estimate_spot_goodput(
    offer: Offer, min_accelerators: int, assumptions: Assumptions, data: CloudData
) -> float:
    """Useful share of a spot hour.

    The default allows for waiting on capacity and for one node's interruptions; it falls as
    Young's overhead grows with the interruptions of the machine and with the nodes of the
    smallest job. Interruptions are those given, else those published for the machine, else the
    default.
    """
    nodes = float(np.ceil(min_accelerators / float(offer.accelerator_count)))
    rate = expected_interruptions_per_month(offer, assumptions)
    return _goodput_of_job(rate, nodes, assumptions, data)


def estimate_spot_goodputs(
    published: Floats, nodes: Floats, assumptions: Assumptions, data: CloudData
) -> Floats:
    """The same of many machines: [machine] interruptions published for it, NaN where none are,
    and the machines of the smallest job."""
    is_known = ~np.isnan(published) & (
        not assumptions.is_from_request("spot_interruptions_per_month")
    )
    rates = np.where(is_known, published, assumptions["spot_interruptions_per_month"])
    pairs, place = np.unique(np.stack([rates, nodes]), axis=1, return_inverse=True)
    goodput = [_goodput_of_job(rate, count, assumptions, data) for rate, count in pairs.T.tolist()]
    return np.array(goodput, np.float64)[place.ravel()]


def _goodput_of_job(
    interruptions_per_month: float, nodes: float, assumptions: Assumptions, data: CloudData
) -> float:
    save, restart = assumptions["checkpoint_save_hours"], assumptions["restart_hours"]
    default_goodput = spot_goodput(
        default("spot_interruptions_per_month").value, 1.0, save, restart
    )
    if data.checkpoint_gib is not None:
        save = max(data.checkpoint_gib / (CHECKPOINT_GIB_PER_NODE_SECOND * nodes * 3600), 1e-6)
    goodput_here = spot_goodput(interruptions_per_month, nodes, save, restart)
    return min(1.0, assumptions["spot_goodput"] * goodput_here / default_goodput)


def estimate_availability(
    source: CapacitySource, offer: Offer, assumptions: Assumptions
) -> SpotAvailability:
    """How much of the time a job's spot machines are all there."""
    nodes = float(np.ceil(source.min_accelerators / float(offer.accelerator_count)))
    family = find_family(source.accelerator)
    is_training = family is None or family.tier is Tier.TRAINING
    waiting = "spot_waiting_hours_training" if is_training else "spot_waiting_hours_other"
    rate = expected_interruptions_per_month(offer, assumptions) * nodes
    return SpotAvailability(rate, assumptions[waiting])


def expected_interruptions_per_month(offer: Offer, assumptions: Assumptions) -> float:
    """Interruptions of one machine in a month."""
    if not assumptions.is_from_request("spot_interruptions_per_month"):
        published = find_interruption_band(offer.provider, offer.region, offer.instance_type)
        if published is not None:
            return published.interruptions_per_month
    return assumptions["spot_interruptions_per_month"]


@dataclass(frozen=True)
class Fallback:
    """On demand in the place of an hour of a spot machine."""

    price_per_hour: float
    """Of as many reference accelerators as the spot machine has, money an hour."""
    priced_as: str = ""
    """Which offer that is the price of, where, and how many of it."""


def cheapest_on_demand(rentals: Iterable[CapacitySource]) -> CapacitySource | None:
    """The offer on demand that is cheapest for an hour of the reference accelerator and may be
    rented in all months; None without one. `rentals` are those that the limits of the request
    admit."""
    return min(
        (rental for rental in list_on_demand(rentals) if rental.available is None),
        key=lambda rental: (rental.price_per_hour / rental.capacity, rental.key),
        default=None,
    )


def list_on_demand(rentals: Iterable[CapacitySource]) -> Iterator[CapacitySource]:
    """Those paid by the hour whose machines hold a job."""
    return (r for r in rentals if r.purchase_option in ON_DEMAND and r.capacity)


def fall_back(spot: CapacitySource, cheapest: CapacitySource | None) -> Fallback | None:
    """What a spot machine falls back to: the `cheapest` offer on demand."""
    if cheapest is None:
        return None
    machines = spot.capacity / cheapest.capacity
    count = "" if abs(machines - 1.0) < 1e-9 else f"{machines:.4g} × "
    words = f"priced as {count}{name_offer(cheapest.label, cheapest.provider)}"
    return Fallback(cheapest.price_per_hour * machines, words)


Bools = NDArray[np.bool_]

HOURS_PER_DAY = 24.0
QUOTED = "request"
"""Source of the offers that a request brings along."""
_ROUNDING = 1e-9


def reserved_hours(hours_at_peak: Floats) -> Floats:
    """[T] hours paid for each hour used, at least 1; 1 in months without work.

    >>> reserved_hours(np.array([12.0, 36.0, 730.0, 0.0])).round(3).tolist()
    [2.0, 1.333, 1.0, 1.0]
    """
    days = np.ceil(hours_at_peak / HOURS_PER_DAY * (1 - _ROUNDING))
    most = np.maximum(hours_at_peak, float(HOURS_PER_MONTH))
    paid = np.minimum(days * HOURS_PER_DAY, most)
    return np.divide(paid, hours_at_peak, out=np.ones_like(paid), where=hours_at_peak > 0)


def reserved_days(hours_at_peak: Floats, start: dt.date) -> Floats:
    """[T] days reserved in the months from `start` on, of none more than it has.

    >>> reserved_days(np.array([36.0, 730.0, 0.0]), dt.date(2027, 1, 1)).tolist()
    [2.0, 28.0, 0.0]
    """
    most = [days_in_month(add_months(start, month)) for month in range(hours_at_peak.size)]
    return np.minimum(np.ceil(hours_at_peak / HOURS_PER_DAY * (1 - _ROUNDING)), most)


def is_list_price_by_date(source: CapacitySource) -> bool:
    """Whether it is reserved by date from a provider's list, not quoted to the team."""
    offer = source.offer
    if offer is None or offer.source == QUOTED:
        return False
    return traits(offer.purchase_option).date_limits is not None


def least_by_date(sources: Iterable[CapacitySource], hours: Floats, worth: Floats) -> float:
    """What hours come to at the lowest price that is reserved by date, of their month or an earlier
    one, whole days left aside; infinite without such a price. `worth` [T] is what 1 that is paid in
    a month counts."""
    listed = (one for one in sources if is_list_price_by_date(one) and one.capacity)
    prices = [one.hour_charges[0].unit_price[: len(hours)] / one.capacity for one in listed]
    if not prices:
        return math.inf
    lowest = np.minimum.accumulate(np.min(prices, axis=0))
    return float(lowest * worth @ hours)


def limit_by_date(
    source: CapacitySource, hours: Floats, peak: Floats, days: Floats
) -> CapacitySource:
    """`source`, which is reserved by date, in the months alone in which one reservation could
    serve all of the peak; of `days` [T] reserved it holds so many."""
    assert source.offer is not None
    limits = traits(source.offer.purchase_option).date_limits
    assert limits is not None
    fits = (peak <= limits.machines * source.capacity) & _begins_in(hours > 0, limits.months)
    fits &= _sum_of_stretch(np.where(hours > 0, days, 0.0)) <= limits.days
    available = fits if source.available is None else fits & source.available
    return replace(source, available=available)


def _begins_in(busy: Bools, months: int) -> Bools:
    """[T] the first `months` of each stretch of busy months.

    >>> _begins_in(np.array([True, True, True, False, True]), 2).tolist()
    [True, True, False, False, True]
    """
    inside, length = np.zeros(len(busy), dtype=bool), 0
    for t, is_busy in enumerate(busy):
        length = length + 1 if is_busy else 0
        inside[t] = 0 < length <= months
    return inside


def _sum_of_stretch(days: Floats) -> Floats:
    """[T] the days of a stretch of months with any, up to each of them.

    >>> _sum_of_stretch(np.array([31.0, 28.0, 0.0, 30.0])).tolist()
    [31.0, 59.0, 0.0, 30.0]
    """
    sums, total = np.zeros(len(days)), 0.0
    for t, of_month in enumerate(days):
        total = total + of_month if of_month else 0.0
        sums[t] = total
    return sums
