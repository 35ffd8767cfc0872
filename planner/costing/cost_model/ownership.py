"""Owning servers: everything one unit costs from its purchase to its resale. PURE.

Per unit, with P its unit price, all in the request's currency:

- at purchase: P, P · network_storage_rate, P · install_cost_rate, P · spare_rate
- usable `lead_time_months` (workstations: `workstation_lead_time_months`) later for
  `useful_life_months`; in each of those months colocation on nameplate power, support and
  insurance (P · rate / 12 each, of the P that was paid), staff, and electricity at idle for
  730 h; colocation, support and staff move by their trends
- for each hour of use: electricity for (draw at work − idle) · PUE on top of idle
- when it is sold, at the end of its life or at the horizon:
  −P · residual_rate ^ (years since purchase) · (1 − resale_cost_rate), at most what a new one
  costs then, less the cost of the sale
- P of the month of purchase: it moves by its trend

A given running cost per hour of use replaces power, colocation, support and staff; a machine at a
desk pays colocation and staff only where the request states them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category
from planner.contract.copies import replace
from planner.contract.labels import OWNED
from planner.contract.request.finance import Financing as RequestedFinancing
from planner.costing.assumptions.assumptions import Assumptions, lead_months
from planner.costing.assumptions.server_lead_times import quoted_lead_months
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import HourCharge, ScheduledCharge, Stream, UnitCharge
from planner.costing.cost_model.terms import Calendar, ChargeTiming, PaidWhen, Term, trend_factors
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]


def build_server_source(
    server: ServerToBuy, r: float, assumptions: Assumptions, calendar: Calendar
) -> CapacitySource:
    """A server to buy; `r` is the relative throughput of its accelerator."""
    assumptions = server.assumptions(assumptions)
    life = int(assumptions["useful_life_months"])
    if server.is_leased:
        assert server.financing is not None
        life = min(life, server.financing.months)
    term = Term(
        months=calendar.months,
        length=calendar.length,
        lead_months=lead_months(assumptions, comes_from_stock=server.comes_from_stock),
        duration_months=life,
        depreciation=assumptions.depreciation,
        sells_when_retired=True,
    )
    rates = (
        (Category.CAPEX, "Servers", 1.0),
        (Category.NETWORK_STORAGE, "Network and storage", assumptions["network_storage_rate"]),
        (Category.INSTALL, "Installation", assumptions["install_cost_rate"]),
        (Category.SPARES, "Spares", assumptions["spare_rate"]),
    )
    return replace(
        _source_without_units(server, r, assumptions, calendar),
        key=f"server:{server.slug}",
        unit_charges=(
            *[
                UnitCharge(
                    category,
                    f"{label}: {server.label}",
                    "servers",
                    1.0,
                    rate * _unit_prices(server, assumptions, calendar),
                    ChargeTiming.START,
                )
                for category, label, rate in rates
                if rate > 0 and not (server.is_leased and category is Category.CAPEX)
            ],
            *_financing_charges(server, assumptions, calendar),
            *_follow_prices(_operating_charges(server, assumptions, calendar), assumptions),
            *_residual_charges(server, assumptions, calendar, term),
        ),
        term=term,
        max_units=server.max_units,
        available=_months_to_sign(server, term),
    )


def _months_to_sign(server: ServerToBuy, term: Term) -> NDArray[np.bool_] | None:
    months, orders = np.arange(term.months), server.order_months
    is_on_sale = None if orders is None else np.isin(months, orders)
    if not server.is_leased or server.financing is None or server.financing.term_end != "within":
        return is_on_sale
    ends_within = months + term.lead_months + server.financing.months <= term.months
    return np.asarray(ends_within if is_on_sale is None else ends_within & is_on_sale)


def build_existing_server_source(
    server: ServerToBuy,
    batches: Sequence[ServerBatch],
    r: float,
    assumptions: Assumptions,
    calendar: Calendar,
) -> CapacitySource:
    """Servers already owned: no capex, operated whatever the plan, and aging on; what they fetch is
    counted in no plan."""
    assumptions = server.assumptions(assumptions)
    life = int(assumptions["useful_life_months"])
    term = Term(calendar.months, calendar.length, 0, life, depreciation=assumptions.depreciation)
    existing = np.zeros(calendar.months, dtype=np.int64)
    for batch in batches:
        existing[: max(0, life - batch.age_months)] += batch.units
    owned = np.pad(existing, (0, calendar.length - calendar.months)).astype(np.float64)
    fixed_streams = [
        Stream(one.category, one.label, one.unit, owned * one.quantity, one.unit_price)
        for one in _operating_charges(server, assumptions, calendar)
    ]
    return replace(
        _source_without_units(server, r, assumptions, calendar),
        key=f"owned:{server.slug}",
        label=f"{server.label}, already owned",
        term=term,
        existing=existing,
        max_units=0,
        fixed_streams=tuple(fixed_streams),
    )


def first_arrival_month(sources: Iterable[CapacitySource], months: int) -> int:
    """First month in which a server that is bought can be in service; 0 if none is sold."""
    arrivals = [
        s.term.lead_months + (0 if s.available is None else int(s.available.argmax()))
        for s in sources
        if s.term is not None and s.is_on_sale
    ]
    return min(months, min(arrivals, default=0))


def running_cost_per_hour(server: ServerToBuy, assumptions: Assumptions) -> float:
    """Cost of an hour of use at full use, in month 0: electricity at load plus a 730th of the
    month's colocation, support and staff; or the given running cost."""
    if server.running_cost_per_hour is not None:
        return server.running_cost_per_hour
    electricity = server.draw_kw * assumptions["pue"] * assumptions["electricity_per_kwh"]
    return (
        electricity
        + sum(amount for _, _, amount in _operating_costs(server, assumptions)) / HOURS_PER_MONTH
    )


def _source_without_units(
    server: ServerToBuy, r: float, assumptions: Assumptions, calendar: Calendar
) -> CapacitySource:
    return CapacitySource(
        key="",
        label=server.label,
        purchase_option=OWNED,
        accelerator=server.accelerator,
        accelerators=server.accelerator_count,
        capacity=server.accelerator_count * r,
        hour_charges=_use_charges(server, assumptions, calendar),
        instance_type=server.slug,
        hours_per_month=HOURS_PER_MONTH * assumptions["utilisation_ceiling"],
        taxes_capital=assumptions.depreciation != "none",
        server_price=(server.source, server.price_year),
        power_kw=server.draw_kw,
        idle_power_kw=server.idle_power_kw,
        pue=assumptions["pue"],
    )


def _financing_charges(
    server: ServerToBuy, assumptions: Assumptions, calendar: Calendar
) -> Iterator[ScheduledCharge]:
    if server.financing is not None:
        yield from build_financing_charges(
            server.financing,
            assumptions["interest_rate_per_year"],
            server.label,
            _unit_prices(server, assumptions, calendar)[: calendar.months],
            lead_months(assumptions, comes_from_stock=server.comes_from_stock),
            calendar,
        )


def _unit_prices(server: ServerToBuy, assumptions: Assumptions, calendar: Calendar) -> Floats:
    trend = trend_factors(assumptions["server_price_trend_per_year"], calendar.length)
    return np.asarray(server.unit_price * trend)


def _operating_costs(
    server: ServerToBuy, assumptions: Assumptions
) -> list[tuple[Category, float, float]]:
    if server.running_cost_per_hour is not None:
        return []
    has_staff = not server.is_at_desk or assumptions.is_from_request("staff_fte_per_server")
    is_hosted = not server.is_at_desk or assumptions.is_from_request("colocation_per_kw_month")
    fte = assumptions.staff_fte(server.accelerator_count) * has_staff
    support = server.unit_price * assumptions["support_rate_per_year"] / 12.0
    insurance = server.unit_price * assumptions["insurance_rate_per_year"] / 12.0
    colocation = server.power_kw * assumptions["colocation_per_kw_month"] * is_hosted
    return [
        (Category.COLOCATION, server.power_kw, colocation),
        (Category.SUPPORT, 1.0, support),
        (Category.STAFF, fte, fte * assumptions["staff_cost_per_year"] / 12.0),
        (Category.INSURANCE, 1.0, insurance),
    ]


_OPERATING_COSTS = {
    Category.COLOCATION: ("Colocation", "kW-months", "colocation_trend_per_year"),
    Category.SUPPORT: ("Support and maintenance", "server-months", "support_trend_per_year"),
    Category.STAFF: ("Staff", "FTE-months", "staff_cost_trend_per_year"),
    Category.INSURANCE: ("Insurance", "server-months", None),
}
"""Label, unit and trend of each."""


def _operating_charges(
    server: ServerToBuy, assumptions: Assumptions, calendar: Calendar
) -> list[UnitCharge]:
    charges = []
    for category, quantity, amount in _operating_costs(server, assumptions):
        if amount > 0:
            label, unit, trend = _OPERATING_COSTS[category]
            moved = trend_factors(assumptions[trend] if trend else 0.0, calendar.length)
            price, name = amount / quantity * moved, f"{label}: {server.label}"
            charges.append(UnitCharge(category, name, unit, quantity, price, ChargeTiming.MONTHLY))
    idle_kwh = server.idle_power_kw * assumptions["pue"] * HOURS_PER_MONTH
    if server.running_cost_per_hour is None and idle_kwh and assumptions["electricity_per_kwh"]:
        tariff = _tariff(assumptions, calendar)
        charges.append(
            UnitCharge(
                Category.POWER,
                f"Electricity: {server.label}",
                "kWh",
                idle_kwh,
                tariff,
                ChargeTiming.MONTHLY,
            )
        )
    return charges


def _follow_prices(charges: Iterable[UnitCharge], assumptions: Assumptions) -> Iterator[UnitCharge]:
    trend = assumptions["server_price_trend_per_year"]
    for charge in charges:
        if not trend or charge.category not in (Category.SUPPORT, Category.INSURANCE):
            yield charge
            continue
        today = charge.unit_price[0]
        paid = today * trend_factors(trend, charge.unit_price.size)
        by_month = charge.unit_price / today
        yield replace(charge, unit_price=paid, fixed_at_start=True, by_month=by_month)


def _use_charges(
    server: ServerToBuy, assumptions: Assumptions, calendar: Calendar
) -> tuple[HourCharge, ...]:
    if server.running_cost_per_hour is not None:
        if server.running_cost_per_hour == 0:
            return ()
        price = np.full(calendar.length, server.running_cost_per_hour)
        label = f"Running cost: {server.label}"
        return (HourCharge(Category.POWER, label, "node-hours", 1.0, price),)
    kwh = (server.draw_kw - server.idle_power_kw) * assumptions["pue"]
    if not kwh or not assumptions["electricity_per_kwh"]:
        return ()
    return (
        HourCharge(
            Category.POWER,
            f"Electricity: {server.label}",
            "kWh",
            kwh,
            _tariff(assumptions, calendar),
        ),
    )


def _tariff(assumptions: Assumptions, calendar: Calendar) -> Floats:
    trend = trend_factors(assumptions["electricity_trend_per_year"], calendar.length)
    return np.asarray(assumptions["electricity_per_kwh"] * trend)


def _residual_charges(
    server: ServerToBuy, assumptions: Assumptions, calendar: Calendar, term: Term
) -> list[UnitCharge]:
    if not assumptions["residual_rate"] or server.is_leased:
        return []
    bought = np.arange(calendar.length)
    value = sale_value(server.unit_price, term.months_kept, bought, assumptions)
    label = f"Residual value: {server.label}"
    return [UnitCharge(Category.RESIDUAL, label, "servers", 1.0, -value, ChargeTiming.END)]


@dataclass(frozen=True)
class ServerToBuy:
    """One kind of server as the request and the reference list describe it."""

    slug: str
    label: str
    accelerator: str
    accelerator_count: float
    unit_price: float
    """In the request's currency."""
    power_kw: float
    """Nameplate, for which colocation is paid."""
    idle_power_kw: float
    running_cost_per_hour: float | None = None
    max_units: int | None = None
    source: str = "request"
    price_year: int | None = None
    is_workstation: bool = False
    """Whether it stands under a desk rather than in a rack."""
    comes_from_stock: bool = False
    """Whether it has the lead time of workstations."""
    stands_alone: bool = False
    """Whether it is known to have no network that joins several of it for one job."""
    is_at_desk: bool = False
    """Whether it stands outside any data centre: it pays no colocation or staff unless told."""
    typical_power_kw: float | None = None
    """Average draw at work; None: the nameplate."""
    rack_units: float | None = None
    """Height; None: not known."""
    financing: Financing | None = None
    """Contract under which it is paid; None: its price is paid at once."""

    reference: str = ""
    """Slug of the reference server that it is; "" for one of the request's own."""
    price_range: PriceRange | None = None
    """Where its price lies; None: firm."""
    delivery: DeliveryRisk | None = None
    """By how much it may come late; None: when planned."""
    certain_delay_months: int = 0
    """By how much it comes late whatever happens, which is part of its lead time."""

    speed: float = 1.0
    """Work of one of its accelerators by that of the accelerator named."""
    order_months: tuple[int, ...] | None = None
    """Months of the plan in which it can be ordered; None: any."""

    own_figures: tuple[tuple[str, float], ...] = ()
    """Assumptions that are its own: name and value."""

    def assumptions(self, of_all: Assumptions) -> Assumptions:
        """Those of all servers, its own in their place."""
        if not self.own_figures:
            return of_all
        return replace(of_all, values={**of_all.values, **dict(self.own_figures)})

    @property
    def is_leased(self) -> bool:
        """Whether it goes back to its owner in the end."""
        return self.financing is not None and self.financing.is_lease

    @property
    def draw_kw(self) -> float:
        """Draw at work, which its electricity follows."""
        return self.power_kw if self.typical_power_kw is None else self.typical_power_kw


@dataclass(frozen=True)
class ServerBatch:
    """Servers already owned."""

    units: int
    age_months: int
    """Months from purchase to the plan's start."""
    resale_today: float | None = None
    """What one fetches then; None: what is left of its price."""
    place: int = 0
    """Of its entry among `on_prem.already_owned`."""

    def sale_value(self, month: int, server: ServerToBuy, of_all: Assumptions) -> float:
        """What one fetches in a month of the plan."""
        assumptions = server.assumptions(of_all)
        if self.resale_today is not None:
            return self.resale_today * float(assumptions["residual_rate"] ** (month / 12.0))
        bought, age = np.array(-self.age_months), np.array(self.age_months + month)
        return float(sale_value(server.unit_price, age, bought, assumptions))


def resale_value(
    unit_price: float, months: float | Floats | NDArray[np.int64], assumptions: Assumptions
) -> Floats:
    """What a server fetches so many months after its purchase, less what the sale costs:
    P · residual_rate ^ (months / 12) · (1 − resale_cost_rate)."""
    share = assumptions["residual_rate"] ** (np.asarray(months) / 12.0)
    return np.asarray(unit_price * share * (1.0 - assumptions["resale_cost_rate"]))


def sale_value(
    unit_price: float,
    months: NDArray[np.int64],
    bought: NDArray[np.int64],
    assumptions: Assumptions,
) -> Floats:
    """What a server bought in month `bought` fetches so many months later, of its price of then
    (of today where it is there already), and no more than a new one costs on that day."""
    trend = 1.0 + assumptions["server_price_trend_per_year"]
    value = resale_value(unit_price, months, assumptions) * trend ** (np.maximum(bought, 0) / 12.0)
    new: Floats = unit_price * trend ** (np.maximum(bought + months, 0) / 12.0)
    return np.asarray(np.minimum(value, new * (1.0 - assumptions["resale_cost_rate"])))


Method = Literal["loan", "hire_purchase", "lease"]
_TITLES = {"loan": "Loan", "hire_purchase": "Hire purchase", "lease": "Lease"}


@dataclass(frozen=True)
class Financing:
    """The contract under which servers are bought or leased."""

    method: Method
    months: int
    deposit_rate: float = 0.0
    balloon_rate: float = 0.0
    in_advance: bool = False
    term_end: Literal["full", "within"] = "full"
    """What counts of a contract that outlasts the horizon: all of it; nothing, as a lease may not
    be signed and a loan is settled there."""

    @property
    def title(self) -> str:
        """What people call it."""
        return _TITLES[self.method]

    @property
    def is_lease(self) -> bool:
        """Whether the server goes back to its owner."""
        return self.method == "lease"

    @property
    def paid(self) -> PaidWhen:
        """When instalments are paid."""
        return PaidWhen.DATED if self.in_advance else PaidWhen.MONTH_END

    def total_paid(self, rate_per_year: float) -> float:
        """What is paid for a price of 1 in all.

        >>> round(Financing("loan", 12, balloon_rate=0.5).total_paid(0.0), 12)
        1.0
        """
        rents = self.deposit_rate + self.months * self.repay(rate_per_year).instalment
        return rents if self.is_lease else rents + self.balloon_rate

    def repay(self, rate_per_year: float) -> Repayment:
        """The contract for a price of 1."""
        rate = rate_per_year / 12.0
        n, payment = self.months, instalment(rate, self)
        principal, interest, accrued = np.zeros(n), np.zeros(n), np.zeros(n)
        balance, owed = 1.0 - self.deposit_rate, 0.0
        for month in range(n):
            if self.in_advance:
                interest[month], principal[month] = owed, payment - owed
                balance -= principal[month]
                accrued[month] = owed = balance * rate
            else:
                accrued[month] = interest[month] = balance * rate
                principal[month] = payment - interest[month]
                balance -= principal[month]
        return Repayment(payment, principal, interest, accrued, balance, owed)


def read_financing(
    requested: RequestedFinancing, term_end: Literal["full", "within"]
) -> Financing | None:
    """The contract that a request names; None where servers are paid at once."""
    if requested.method == "purchase":
        return None
    return Financing(
        method=requested.method,
        months=requested.months or 0,
        deposit_rate=requested.deposit_rate or 0.0,
        balloon_rate=requested.balloon_rate or 0.0,
        in_advance=requested.payments == "in_advance",
        term_end=term_end,
    )


@dataclass(frozen=True)
class Repayment:
    """What a contract over n months pays for a price of 1."""

    instalment: float
    principal: Floats
    """[n] of each instalment."""
    interest: Floats
    """[n] of each instalment."""
    accrued: Floats
    """[n] interest of each month."""
    balloon: float
    """Balance after the last instalment, without the interest of the last month."""
    balloon_interest: float


def instalment(rate_per_month: float, financing: Financing) -> float:
    """Instalment or rent for a price of 1.

    >>> round(70e6 * instalment(0.15 / 12, Financing("loan", 36)), 2)
    2426573.0
    >>> instalment(0.0, Financing("lease", 10, deposit_rate=0.1, balloon_rate=0.2))
    0.07
    """
    n, i = financing.months, rate_per_month
    financed = 1.0 - financing.deposit_rate
    if not i:
        return round((financed - financing.balloon_rate) / n, 15)
    worth = (1.0 + i) ** -n
    payment = (financed - financing.balloon_rate * worth) * i / (1.0 - worth)
    return payment / (1.0 + i) if financing.in_advance else payment


def build_financing_charges(
    financing: Financing,
    rate_per_year: float,
    label: str,
    prices: Floats,
    lead_months: int,
    calendar: Calendar,
) -> Iterator[ScheduledCharge]:
    """What one server costs beside its price under a loan or hire purchase, or instead of it
    under a lease; `prices` [T] is its price by the month of purchase."""
    plan = _Schedule(financing, financing.repay(rate_per_year), prices, lead_months, calendar)
    return plan.lease(label) if financing.is_lease else plan.debt(label)


@dataclass(frozen=True)
class _Schedule:
    financing: Financing
    repayment: Repayment
    prices: Floats
    lead_months: int
    calendar: Calendar

    def debt(self, label: str) -> Iterator[ScheduledCharge]:
        title, paid, one = self.financing.title, self.financing.paid, self.repayment
        principal = self._cents(np.append(one.principal, one.balloon))
        interest = self._cents(np.append(one.interest, one.balloon_interest))
        drawn = self._at(-principal.sum(axis=1)[:, None])
        repaid, balloon = self._at(principal[:, :-1]), self._at_last(principal[:, -1:])
        owed, owed_last = self._at(interest[:, :-1]), self._at_last(interest[:, -1:])
        booked = self._at(self._cents(one.accrued)) - owed_last
        settled = self._at_horizon(-(drawn + repaid + balloon))
        owed_last = owed_last + self._at_horizon(booked - owed)
        booked = booked - self._at_horizon(booked - owed)
        end, at_once = PaidWhen.MONTH_END, PaidWhen.DATED
        parts = (
            (Category.LOAN, f"{title} drawn", drawn, at_once, None),
            (Category.LOAN, f"{title} repaid", repaid, paid, None),
            (Category.LOAN, f"{title}, balloon", balloon, end, None),
            (Category.LOAN, f"{title} settled", settled, end, None),
            (Category.INTEREST, "Interest", owed, paid, booked),
            (Category.INTEREST, "Interest with the last payment", owed_last, end, None),
        )
        for category, name, due, when, written in parts:
            if due.any():
                yield ScheduledCharge(category, f"{name}: {label}", "servers", due, when, written)

    def lease(self, label: str) -> Iterator[ScheduledCharge]:
        n, lead = self.financing.months, self.lead_months
        rents = self._at(self._cents(np.full(n, self.repayment.instalment)), lead)
        months = self._at(np.ones((self.calendar.months, n)), lead)
        deposit = self.prices * self.financing.deposit_rate * months.sum(axis=1) / n
        first = self._at(np.rint(deposit[:, None] * 100.0) / 100.0, lead)
        for name, due, when in (
            ("Lease", rents, self.financing.paid),
            ("Lease, first payment", first, PaidWhen.DATED),
        ):
            if due.any():
                spread = due.sum(axis=1) / np.maximum(months.sum(axis=1), 1.0)
                written = months * spread[:, None]
                yield ScheduledCharge(
                    Category.LEASE, f"{name}: {label}", "servers", due, when, written
                )

    def _cents(self, shares: Floats) -> Floats:
        cumulative = np.rint(np.cumsum(shares) * self.prices[:, None] * 100.0)
        return np.asarray(np.diff(cumulative, prepend=0.0) / 100.0)

    def _at_last(self, payment: Floats) -> Floats:
        return self._at(payment, self.financing.months - 1)

    def _at(self, payments: Floats, lead: int = 0) -> Floats:
        months, length = self.calendar.months, self.calendar.length
        last = length if self.financing.term_end == "full" else months
        due, start = np.zeros((months, length)), np.arange(months)
        for k in range(payments.shape[1]):
            rows = start[start + lead + k < last]
            due[rows, rows + lead + k] = payments[rows, k]
        return due

    def _at_horizon(self, amounts: Floats) -> Floats:
        due = np.zeros((self.calendar.months, self.calendar.length))
        if self.financing.term_end != "full":
            due[:, self.calendar.months - 1] = np.rint(amounts.sum(axis=1) * 100.0) / 100.0
        return due


P90_DEVIATIONS = NormalDist().inv_cdf(0.9)
"""Standard deviations from the median to the 90th percentile."""
QUOTE_MONTHS = 24
"""Months before the newest quote in which others still say what is asked today; 2026."""


@dataclass(frozen=True)
class DatedPrice:
    """A price asked in a month, which counts from any first one."""

    price: float
    month: int


@dataclass(frozen=True)
class PriceRange:
    """Where the price of a server lies, as factors on the price of the plan."""

    low: float
    """p10; at most 1."""
    high: float
    """p90; at least 1."""
    quotes: int = 0
    """Dated quotes that it rests on; 0: an assumption."""

    def factors(self, normal: Floats) -> Floats:
        """Factors on the price where the standard normal draws are `normal`.

        >>> PriceRange(0.8, 1.5).factors(np.array([-P90_DEVIATIONS, 0.0, P90_DEVIATIONS])).tolist()
        [0.8, 1.0, 1.5]
        """
        steps = np.where(normal < 0, -math.log(self.low), math.log(self.high)) / P90_DEVIATIONS
        return np.asarray(np.exp(steps * normal))


@dataclass(frozen=True)
class DeliveryRisk:
    """By how many months a server may come later than planned, or earlier."""

    late_months: float
    """Months late where it comes late; of p10 and p90 the latter."""
    probability: float | None = None
    """Chance that it does; None: between `least_months` and `late_months` in 8 of 10 cases."""
    least_months: float = 0.0
    """p10."""
    planned_months: int | None = None
    """Months from order to service as planned, where the lead time is drawn from dated quotes: then
    it may come earlier as well."""

    @classmethod
    def quoted(cls, planned_months: int) -> DeliveryRisk:
        """A lead time as it is quoted, beside the one that is planned."""
        ends = np.array([-P90_DEVIATIONS, P90_DEVIATIONS])
        low, high = np.rint(quoted_lead_months(ends)) - planned_months
        return cls(float(high), least_months=float(low), planned_months=planned_months)

    @property
    def certain_months(self) -> int:
        """Whole months by which it comes late whatever happens.

        >>> DeliveryRisk(3, 1.0).certain_months, DeliveryRisk(3, 0.9).certain_months
        (3, 0)
        >>> DeliveryRisk(3, least_months=3).certain_months
        3
        """
        is_range = self.probability is None
        certain = self.least_months == self.late_months if is_range else self.probability == 1.0
        return round(self.late_months) if certain else 0

    def delays(self, normal: Floats) -> NDArray[np.int64]:
        """Whole months late where the standard normal draws are `normal`; early below 0.

        >>> DeliveryRisk(6, 0.5).delays(np.array([-1.0, 1.0])).tolist()
        [0, 6]
        >>> z = np.array([-P90_DEVIATIONS, 0.0, P90_DEVIATIONS])
        >>> DeliveryRisk(7, least_months=1).delays(z).tolist()
        [1, 4, 7]
        """
        if self.planned_months is not None:
            lead = np.rint(quoted_lead_months(normal))
            return np.asarray(lead - self.planned_months, dtype=np.int64)
        if self.probability is not None:
            return np.where(normal > _threshold(self.probability), round(self.late_months), 0)
        middle = (self.least_months + self.late_months) / 2
        deviation = (self.late_months - self.least_months) / (2 * P90_DEVIATIONS)
        return np.maximum(np.rint(middle + deviation * normal), 0.0).astype(np.int64)


def _threshold(probability: float) -> float:
    if probability <= 0.0 or probability >= 1.0:
        return -math.inf if probability >= 1.0 else math.inf
    return NormalDist().inv_cdf(1.0 - probability)


def range_of_quotes(price: float, quotes: Collection[DatedPrice]) -> PriceRange | None:
    """From the lowest to the highest quote of the two years before the newest, around the price of
    the plan; None where fewer than two say so.

    >>> seen = [DatedPrice(90.0, 16), DatedPrice(95.0, 30), DatedPrice(120.0, 40)]
    >>> range_of_quotes(100.0, seen)
    PriceRange(low=0.95, high=1.2, quotes=2)
    >>> range_of_quotes(100.0, seen[:1])
    """
    newest = max((quote.month for quote in quotes), default=0)
    recent = [quote.price for quote in quotes if quote.month > newest - QUOTE_MONTHS]
    if len(recent) < 2:
        return None
    return PriceRange(
        low=min(*recent, price) / price, high=max(*recent, price) / price, quotes=len(recent)
    )
