"""The capacity plan as numbers: what may be bought, what it costs, what must be met. PURE.

Money is in the request's currency. `T` is the horizon in months; every array is indexed by
month 0 … T-1. Objective coefficients are net present; cash is undiscounted. One *reference
accelerator-hour* is an hour of the workload's reference accelerator; a node with `n`
accelerators of kind `a` delivers `capacity = n · r(a)` of them in an hour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LARGEST_SHARE, LEAST_GROUPS = "max_provider_share", "min_providers"
HALF_CENT = 0.005
"""By what a plan may exceed a budget: amounts are paid in whole cents."""
CASH_BUDGETS = ("total_budget", "monthly_budget")
SHARES = frozenset({"max_spot_share", LARGEST_SHARE})
"""Limits that are fractions."""


class _Counted:
    accelerators: float
    limit_groups: tuple[str, ...]
    limit_sizes: Mapping[str, float]

    def size_in(self, group: str) -> float:
        """What one node or unit counts for in a quota; 0 outside its group."""
        counted = group in self.limit_groups
        return self.limit_sizes.get(group, self.accelerators) if counted else 0.0


@dataclass(frozen=True)
class RentalOption(_Counted):
    """Rented by the node-hour, fractions allowed: on demand, spot, capacity blocks."""

    key: str
    capacity: float
    """Reference accelerators served by one node."""
    accelerators: float
    """Physical accelerators of one node, for quotas."""
    hour_cost: Floats
    """[T] net present cost of one useful node-hour in month t (spot: price / goodput)."""
    hour_cash: Floats
    """[T] undiscounted cash of one useful node-hour, for the monthly budget."""
    is_spot: bool = False
    limit_groups: tuple[str, ...] = ()
    """Names of the quotas that count this source."""
    limit_sizes: Mapping[str, float] = field(default_factory=dict)
    """What one node counts for in quotas that count something else than accelerators."""
    available: NDArray[np.bool_] | None = None
    """[T] months in which it can be rented; None means every month."""
    in_parts: bool = False
    """Whether a part of a node may be rented where nodes rent whole."""


@dataclass(frozen=True)
class CommitmentOption(_Counted):
    """Whole nodes started in a month and paid for over a term: a commitment, or a server bought.

    A unit started in month m can be used in months m+lead … m+lead+duration-1, cut at T.
    """

    key: str
    is_owned: bool
    capacity: float
    accelerators: float
    lead_months: int
    duration_months: int
    start_cost: Floats
    """[T] net present cost of one unit started in month m, all fixed cost lines in, the
    residual taken off; `inf` where it may not start."""
    hour_cost: Floats
    """[T] net present cost of one node-hour of use in month t, on top of `start_cost`."""
    hours_per_month: float
    """Most hours one unit delivers in a month: 730, or 730 · utilisation ceiling."""
    start_cash: Floats | None
    """[T, T] undiscounted cash due in month t for one unit started in month m; None where no
    monthly budget asks for it and `payments` are given."""
    hour_cash: Floats
    """[T] undiscounted cash of one node-hour of use in month t."""
    capex: Floats
    """[T] capital spent on one unit started in month m, for the capex budget; 0 if rented."""
    payments: Floats | None = None
    """[T] undiscounted payments of one unit started in month m, those after the horizon too and no
    resale, for the total budget; None: those of `start_cash`."""
    max_units: int | None = None
    """Most units started over the whole horizon."""
    min_units: int = 0
    """Fewest of them; more than 0 only beside `max_units`."""
    existing: NDArray[np.int64] | None = None
    """[T] units already there and usable in month t, which need not be started."""
    limit_groups: tuple[str, ...] = ()
    limit_sizes: Mapping[str, float] = field(default_factory=dict)
    """What one unit counts for in quotas that count something else than accelerators."""

    @property
    def all_payments(self) -> Floats:
        """[T] undiscounted payments of one unit started in month m, its use aside."""
        return self.cash_by_month.sum(axis=1) if self.payments is None else self.payments

    @property
    def cash_by_month(self) -> Floats:
        """`start_cash` where it has to be there. Raises ValueError where it is not."""
        if self.start_cash is None:
            raise ValueError(f"{self.key}: its cash by month is not known; give start_cash")
        return self.start_cash


@dataclass(frozen=True)
class Quota:
    """Most of a group that may be in service at once, in every month: accelerators, or what the
    `limit_sizes` of its sources say."""

    group: str
    most: float
    """A fraction of the month's peak where `is_share`; ∞ sets no limit."""
    is_share: bool = False
    in_machines: bool = False
    """Whether machines that rent whole count whole, each for as long as the peak lasts."""


@dataclass(frozen=True)
class LeastGroups:
    """At least `count` of `groups` have `share` of the peak in service, in every month with one;
    which ones is chosen once for the whole plan."""

    groups: tuple[str, ...]
    """Names of quotas whose sources count their capacity."""
    count: int
    share: float


@dataclass(frozen=True)
class CapitalBudget:
    """Most capital of the units started in months first … last-1."""

    name: str
    amount: float
    first: int
    last: int


@dataclass(frozen=True)
class PlanProblem:
    """Meet `hours` and `peak` of every month from the sources at the least net present cost.

    With d_t = hours_t / peak_t (the hours at peak; months without demand ask for nothing) and, per
    month, `in_service` units, `used` node-hours of units and `rented` node-hours:

    - width: Σ capacity·in_service + Σ capacity·rented / d_t ≥ peak_t
    - hours: Σ capacity·used + Σ capacity·rented ≥ hours_t, used ≤ hours_per_month · in_service
    - spot: Σ over spot of capacity·rented ≤ max_spot_share · hours_t
    - quota: Σ size·in_service + Σ size·rented / d_t ≤ most, of a share most · peak_t; counted in
      machines, rented / d_t of the nodes of one size that the same quotas count is a whole number
    - least groups: Σ capacity·in_service + Σ capacity·rented / d_t ≥ share · peak_t of at least
      `count` groups
    - capex: Σ capex·started ≤ capex_budget over the horizon, and over the months of each of
      `capex_by_period` at most its amount
    - monthly budget: cash of month t ≤ monthly_budget
    - total budget: Σ payments of what is started, used and rented ≤ total_budget

    What is settled where this leaves a choice:

    - A month without demand rents nothing, but units in service in it still count for quotas and
      their cash for the monthly budget.
    - `hours_t > 0` with `peak_t = 0` asks for hours and no width.
    - Of one source no more units are started in a month than the widest month they serve needs
      (the greater of peak / capacity and hours / (capacity · hours_per_month), rounded up), so
      that a negative `start_cost` (a residual above the price) buys nothing for its own sake;
      and none that would be usable only after the horizon.
    - Coefficients of a month whose `start_cost` is `inf` are ignored. Hourly costs and cash
      are finite and not negative. Keys differ from one another.
    - A group that has no quota limits nothing.
    """

    hours: Floats
    peak: Floats
    rental_options: tuple[RentalOption, ...]
    units: tuple[CommitmentOption, ...]
    quotas: tuple[Quota, ...] = ()
    max_spot_share: float = 1.0
    """1 sets no limit."""
    capex_budget: float | None = None
    monthly_budget: float | None = None
    total_budget: float | None = None
    capex_by_period: tuple[CapitalBudget, ...] = ()
    """Budgets of capital by fiscal year."""
    least_groups: LeastGroups | None = None
    whole_nodes: bool = False
    """Whether machines rented by the hour rent whole: of one node size, the node-hours of a month
    with a peak, over all offers together, are a whole number of nodes times d_t."""
    base_cost: float = 0.0
    """Net present cost that no choice changes (servers already owned): added to every plan."""
    base_cash: Floats | None = None
    """[T] the same, undiscounted by month, for the monthly budget."""
    base_payments: float = 0.0
    """Payments of the same, for the total budget."""

    @property
    def capital_budgets(self) -> tuple[CapitalBudget, ...]:
        """That of the whole horizon and those of its parts."""
        if self.capex_budget is None:
            return self.capex_by_period
        whole = CapitalBudget("capex_budget", self.capex_budget, 0, self.hours.size)
        return (whole, *self.capex_by_period)

    @property
    def limits_cash(self) -> bool:
        """Whether what an hour of use is paid for counts towards a budget."""
        return self.monthly_budget is not None or self.total_budget is not None


@dataclass(frozen=True)
class ConflictingConstraint:
    """A limit that stands in the way of every plan, and its smallest change that lets one in."""

    limit: str
    """What is limited: "quota gcp/us-central1 nvidia-t4", "capex_budget", "monthly_budget",
    "total_budget", "max_spot_share", "max_provider_share", "min_providers", "max_units dgx-h100",
    or in words for which months there is nothing."""
    current_value: float | None
    """None where nothing but an offer is missing."""
    required_value: float | None
    """The least value with which a plan exists, every other limit as it is."""
    is_sufficient: bool = True
    """False where no limit alone is enough: `required_value` then goes with the others'."""

    @property
    def least(self) -> float:
        """`required_value` rounded up to what a request would give: whole units, of money from half
        a cent on, a spot share to four digits; 0 where nothing but an offer is missing. Of a least
        number the most that lets a plan in."""
        if self.is_least:
            return float(floor((self.required_value or 0.0) + 1e-6))
        digits = 4 if self.limit in SHARES else 0
        nothing = HALF_CENT if self.limit in CASH_BUDGETS else 1e-6
        return float(ceil((self.required_value or 0.0) * 10**digits - nothing) / 10**digits)

    @property
    def is_least(self) -> bool:
        """Whether it has to be lowered, not raised."""
        return self.limit == LEAST_GROUPS

    def __str__(self) -> str:
        """
        >>> print(ConflictingConstraint("capex_budget", 1_000_000, 1_412_299.5))
        capex_budget: 1,000,000 → at least 1,412,300
        >>> print(ConflictingConstraint("max_spot_share", 0.3, 0.45678, is_sufficient=False))
        max_spot_share: 0.3 → at least 0.4568, together with the other limits named
        """
        if self.current_value is None or self.required_value is None:
            return self.limit
        both = "" if self.is_sufficient else ", together with the other limits named"
        side = "at most" if self.is_least else "at least"
        return f"{self.limit}: {self.current_value:,.10g} → {side} {self.least:,.10g}{both}"


@dataclass(frozen=True)
class Plan:
    """An answer: what to start when and how many node-hours to use, with its proof."""

    feasible: bool
    cost: float
    """Net present cost of this plan, `base_cost` included."""
    bound: float
    """No plan costs less than this."""
    units_started: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    """unit key → [T] units started in each month."""
    used_hours: dict[str, Floats] = field(default_factory=dict)
    """unit key → [T] node-hours used."""
    rented_hours: dict[str, Floats] = field(default_factory=dict)
    """hourly key → [T] useful node-hours rented."""
    why_not: Sequence[str] = ()
    """When infeasible: the limits that conflict and the smallest relaxation of each, in words."""
    conflicts: tuple[ConflictingConstraint, ...] = ()
    """The same in figures."""
    peak: Floats | None = None
    """[T] reference accelerators at once, where that is the plan's own."""
    is_level: bool = False
    """Whether that is the mean of the month, in which rented machines work for a part of it."""

    @property
    def gap(self) -> float:
        """(cost − bound) / cost, 0 for a plan that costs nothing."""
        return 0.0 if self.cost <= 0 else max(0.0, (self.cost - self.bound) / self.cost)
