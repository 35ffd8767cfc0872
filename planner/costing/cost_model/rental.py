"""Renting: what an offer costs under its purchase option. PURE.

- on demand, flex start: the price of each hour of use
- spot, low priority: the same; hours lost to interruptions are paid again, so a useful hour
  costs price / goodput; where availability is priced, a share of the hours runs on demand
- capacity block, calendar mode: the price of each reserved hour, due before it is used; from
  edition 2 of the rules on, of whole days (`by_date`)
- reserved, convertible, savings plan, committed use: 730 h of every month of the term, used or
  not, at the price of the month in which it begins, plus the upfront payment at its start; the
  discount of a contract is that of the month of each bill
- storage and egress in the cloud: each month's data, shared over the sources by the reference
  accelerator-hours that they serve
- support plan: a share of what machines are billed, in the months of the bill
- staff: full-time equivalents for each accelerator-hour in use
"""

from __future__ import annotations

import datetime as dt

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.labels import WITHOUT_SPOT
from planner.contract.purchase_options import savings_plan_label, traits
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model.by_date import reserved_hours
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import HourCharge, UnitCharge, extend_factors
from planner.costing.cost_model.finance import trend_factors
from planner.costing.cost_model.spot_fallback import Fallback
from planner.costing.cost_model.spot_hours import estimate_availability, estimate_spot_goodput
from planner.costing.cost_model.storage_egress import CloudData
from planner.costing.cost_model.terms import Calendar, ChargeTiming, Term
from pricing.common.copies import replace
from pricing.common.pluralize import pluralize
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption

Floats = NDArray[np.float64]
SPREAD_SUPPORT = 2
"""Edition from which on support of an upfront payment is a cost of the months of its term."""


def price_rental(
    source: CapacitySource,
    assumptions: Assumptions,
    calendar: Calendar,
    demand_hours: Floats,
    data: CloudData,
    term_end: str = "prorate",
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
            charges_after_horizon=term_end == "full",
        )
        if term_end == "within":
            source = replace(source, available=_ends_within(source, term))
        unit_charges = _commitment_charges(source, term, assumptions, calendar)
        return replace(source, hour_charges=beside_rent, unit_charges=unit_charges, term=term)
    if source.is_spot:
        goodput = estimate_spot_goodput(offer, source.min_accelerators, assumptions, data)
        source = replace(source, goodput=goodput)
        if fallback is not None:
            availability = estimate_availability(source, offer, assumptions)
            source = replace(source, availability=availability)
    rent = _hour_charges(source, offer, assumptions, calendar)
    if hours_at_peak is not None:
        rent.append(_rest_of_days(source, rent[0].unit_price, hours_at_peak))
    if source.availability is not None and fallback is not None:
        share = source.availability.on_demand_share(assumptions["spot_patience_hours"])
        rent = _with_fallback(source, rent, share, fallback, assumptions, calendar)
    support = _support_of_hours(source, rent, assumptions)
    return replace(source, hour_charges=(*rent, *support, *beside_rent))


def build_charges_beside_rent(
    source: CapacitySource,
    assumptions: Assumptions,
    calendar: Calendar,
    demand_hours: Floats,
    data: CloudData,
) -> tuple[HourCharge, ...]:
    """Data in the place of an offer, and staff, for a useful node-hour."""
    return (
        *data.build_charges(
            source.provider, source.region, source.capacity, calendar, demand_hours
        ),
        *_staff_charges(source, assumptions, calendar),
    )


def _option_label(offer: Offer) -> str:
    """How it is paid for; a savings plan by its kind, where the provider names it."""
    if offer.purchase_option is PurchaseOption.SAVINGS_PLAN:
        return savings_plan_label(offer.sku)
    return traits(offer.purchase_option).label


def _ends_within(source: CapacitySource, term: Term) -> NDArray[np.bool_]:
    """[T] months in which a commitment may start and end within the horizon."""
    ends_within = np.arange(term.months) + term.duration_months <= term.months
    return ends_within if source.available is None else ends_within & source.available


def describe_offer(offer: Offer) -> str:
    """How an offer is called in lines: what, where, on which terms.

    >>> from decimal import Decimal
    >>> from fractions import Fraction
    >>> describe_offer(Offer("aws", "us-east-1", "p5.48xlarge", "nvidia-h100-80gb-sxm", Fraction(8),
    ...     PurchaseOption.RESERVED, Decimal(40), term_months=12, payment_option="no_upfront"))
    'p5.48xlarge in us-east-1, reserved 12 months, no upfront'
    """
    parts = [_option_label(offer)]
    if offer.term_months:
        parts[0] += f" {pluralize(offer.term_months, 'month')}"
    if offer.payment_option:
        parts.append(offer.payment_option.replace("_", " "))
    return f"{offer.instance_type} in {offer.zone or offer.region}, {', '.join(parts)}"


def _price_factors(source: CapacitySource, assumptions: Assumptions, calendar: Calendar) -> Floats:
    """[calendar.length] factor on the price of an offer in each month."""
    trend = trend_factors(assumptions["cloud_price_trend_per_year"], calendar.length)
    return trend * _in_months(source.price_by_month, len(trend))


def _in_months(by_month: Floats | None, length: int) -> Floats | float:
    """The factors of the months of one calendar; the last one beyond those that are known."""
    return 1.0 if by_month is None else extend_factors(by_month, length)


def _hour_charges(
    source: CapacitySource, offer: Offer, assumptions: Assumptions, calendar: Calendar
) -> list[HourCharge]:
    price = source.price_per_hour * _price_factors(source, assumptions, calendar)
    is_paid_ahead = traits(offer.purchase_option).is_paid_ahead
    category = Category.UPFRONT if is_paid_ahead else Category.COMPUTE
    charges = [HourCharge(category, source.label, "node-hours", 1.0, price)]
    if source.goodput < 1.0:
        label = f"{source.label}: hours lost to interruptions, run again"
        lost_hours = 1.0 / source.goodput - 1.0
        charges.append(HourCharge(category, label, "node-hours", lost_hours, price))
    return charges


def _rest_of_days(source: CapacitySource, price: Floats, hours_at_peak: Floats) -> HourCharge:
    """The hours of the days reserved that the work does not need, by hour used."""
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
    """The charges of a spot hour of which `share` runs on demand instead."""
    trend = trend_factors(assumptions["cloud_price_trend_per_year"], calendar.length)
    priced_as = f", {fallback.priced_as}" if fallback.priced_as else ""
    label = f"{source.label}: {WITHOUT_SPOT}{priced_as}"
    price = fallback.price_per_hour * trend * _in_months(fallback.by_month, len(trend))
    return [
        *(replace(charge, quantity=charge.quantity * (1.0 - share)) for charge in rent),
        HourCharge(Category.COMPUTE, label, "node-hours", share, price, is_fallback=True),
    ]


def _support_label(source: CapacitySource) -> str:
    return f"Support plan: {source.label}"


def _support_of_hours(
    source: CapacitySource, rent: list[HourCharge], assumptions: Assumptions
) -> list[HourCharge]:
    """The support plan's share of what an hour rented is billed."""
    rate = assumptions["cloud_support_rate"]
    if not rate:
        return []
    return [
        HourCharge(
            Category.SUPPORT,
            _support_label(source),
            "of the bill",
            charge.per_hour,
            np.full(len(charge.unit_price), rate),
            is_fallback=charge.is_fallback,
        )
        for charge in rent
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


def _staff_charges(
    source: CapacitySource, assumptions: Assumptions, calendar: Calendar
) -> tuple[HourCharge, ...]:
    """Staff for the accelerators of a useful hour."""
    cost = staff_cost_per_accelerator_hour(assumptions)
    if not cost:
        return ()
    trend = trend_factors(assumptions["staff_cost_trend_per_year"], calendar.length)
    label, price = f"Staff: {source.label}", np.asarray(cost * trend)
    return (HourCharge(Category.STAFF, label, "accelerator-hours", source.accelerators, price),)


def _commitment_charges(
    source: CapacitySource, term: Term, assumptions: Assumptions, calendar: Calendar
) -> tuple[UnitCharge, ...]:
    bill = _commitment_bill(source, term, assumptions, calendar)
    rate = assumptions["cloud_support_rate"]
    if not rate:
        return bill
    support = (
        replace(
            charge,
            category=Category.SUPPORT,
            label=_support_label(source),
            unit="of the bill",
            quantity=rate,
            unit_price=charge.quantity * charge.unit_price,
            is_written_off=assumptions["support_edition"] >= SPREAD_SUPPORT,
        )
        for charge in bill
    )
    return (*bill, *support)


def _commitment_bill(
    source: CapacitySource, term: Term, assumptions: Assumptions, calendar: Calendar
) -> tuple[UnitCharge, ...]:
    trend = trend_factors(assumptions["cloud_price_trend_per_year"], calendar.length)
    charges = []
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
                by_month=source.price_by_month,
            )
        )
    if source.upfront:
        charges.append(
            UnitCharge(
                Category.UPFRONT,
                f"{source.label}: upfront payment",
                "commitments",
                1.0,
                source.upfront * _price_factors(source, assumptions, calendar) * term.share_charged,
                ChargeTiming.START,
                fixed_at_start=True,
            )
        )
    return tuple(charges)


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
