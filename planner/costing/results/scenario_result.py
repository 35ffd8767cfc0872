"""What a comparison found, as plain values: lines, capacity, scenarios. PURE.

A total is the sum of its lines, computed here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.scenario import CapacityRow, CostLine, Relaxation
from planner.contract.copies import cached_property
from planner.costing.cost_model.charges import CAPITAL, FINANCING
from planner.costing.cost_model.terms import Calendar
from planner.costing.optimizer.problem import ConflictingConstraint
from planner.costing.results.entries import RELIEF_OF_PAYMENTS, RESALE_TAX_UNIT, Entry

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scenario:
    """One way of getting the work done, with every cost once."""

    key: ScenarioKey
    feasible: bool
    why_not: tuple[str, ...] = ()
    conflicts: tuple[ConflictingConstraint, ...] = ()
    """Limits that leave no plan, each with the least that would do."""
    relaxations: tuple[Relaxation, ...] = ()
    """The same as the request would say it."""
    lines: tuple[CostLine, ...] = ()
    capacity: tuple[CapacityRow, ...] = ()
    cost: float = 0.0
    """Net present cost of the plan before its lines are rounded to cents."""
    bound: float = 0.0
    """No plan of this scenario has a lower net present cost."""
    warnings: tuple[str, ...] = ()
    calendar: Calendar | None = None
    served_hours: Floats = field(default_factory=lambda: np.zeros(0))
    """[T] reference accelerator-hours that the workload asks for."""
    peak: Floats | None = None
    """[T] reference accelerators at once, where the plan has its own."""
    is_level: bool = False
    """Whether that is the mean of the month, in which rented machines work for a part of it."""
    accrued: tuple[Decimal, ...] = ()
    """Cost by month as finance books it: capital and upfront payments written off over time."""
    entries: tuple[Entry, ...] = ()
    """The costs of the lines by what they are and when they are paid."""
    present: float | None = None
    """Net present cost of the lines, where anything is paid later than at the start of its
    month."""
    write_off: Mapping[str, tuple[Decimal, ...]] = field(default_factory=dict)
    """source key → its capital and upfront payments by the month that books them."""
    units_started: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    used_hours: Mapping[str, Floats] = field(default_factory=dict)
    """source key → [T] useful node-hours."""

    @property
    def gap(self) -> float:
        """(cost − bound) / cost: no plan is cheaper by a larger share."""
        return 0.0 if self.cost <= 0 else max(0.0, (self.cost - self.bound) / self.cost)

    @cached_property
    def total_cost(self) -> Decimal:
        """Sum of the lines, undiscounted."""
        return sum((line.amount for line in self.lines), Decimal("0.00"))

    @cached_property
    def net_present_cost(self) -> Decimal:
        """Σ amount · (1 + r)^(−months until it is paid / 12) over the lines."""
        if self.calendar is None:
            return Decimal("0.00")
        if self.present is not None:
            return cents(self.present)
        return cents(float(self.cash_per_month_float @ self.calendar.discount))

    @cached_property
    def owed_after(self) -> Decimal:
        """What falls due after the horizon: payments of commitments that outlast it."""
        return owed_after(self.lines, self.calendar.months if self.calendar else 0)

    @cached_property
    def cash_per_month(self) -> tuple[Decimal, ...]:
        """What is due in each month; index `months` is the horizon's end."""
        length = self.calendar.length if self.calendar else 0
        due = [Decimal("0.00")] * length
        for line in self.lines:
            due[line.month] += line.amount
        return tuple(due)

    @cached_property
    def cash_per_month_float(self) -> Floats:
        """`cash_per_month` as float64."""
        return np.array([float(amount) for amount in self.cash_per_month])

    @cached_property
    def cost_by_category(self) -> dict[str, Decimal]:
        """Sum of the lines of each category, in the order of the categories."""
        totals: dict[Category, Decimal] = {}
        for line in self.lines:
            totals[line.category] = totals.get(line.category, Decimal("0.00")) + line.amount
        return {category.value: totals[category] for category in Category if category in totals}

    @cached_property
    def buys(self) -> bool:
        """Whether it buys or leases any server."""
        return any(
            line.category is Category.CAPEX
            or (line.category is Category.LEASE and line.source in self.units_started)
            for line in self.lines
        )

    @property
    def levelised_cost_per_accelerator_hour(self) -> Decimal | None:
        """Net present cost over discounted reference accelerator-hours served."""
        if self.calendar is None:
            return None
        worth = self.calendar.running_discount[: len(self.served_hours)]
        served = float(self.served_hours @ worth)
        if served <= 0:
            return None
        return Decimal(str(round(float(self.net_present_cost) / served, 6)))


_OWED_CATEGORIES = frozenset(
    {
        *(Category.COMMITMENT, Category.UPFRONT, Category.SUPPORT),
        *(Category.CREDIT, Category.SHORTFALL),
        *FINANCING,
    }
)
"""What a commitment that outlasts the horizon still costs, a support plan's share of its bill
included; resale falls at its end."""


def cents(amount: float) -> Decimal:
    """`amount` to the cent, halves to even.

    >>> cents(1234.5678), cents(-0.001)
    (Decimal('1234.57'), Decimal('0.00'))
    """
    return Decimal(round(amount * 100.0)).scaleb(-2)


def owed_after(lines: Iterable[CostLine], months: int) -> Decimal:
    """What falls due after a horizon of so many months: payments of commitments that outlast it,
    with the tax saved on them."""
    late = (
        line.amount
        for line in lines
        if line.month >= months
        and (
            line.category in _OWED_CATEGORIES
            if line.category is not Category.TAX
            else line.month > months or line.label in RELIEF_OF_PAYMENTS
        )
    )
    return sum(late, Decimal("0.00"))


def resale_value(plan: Scenario) -> Decimal:
    """What servers are assumed to fetch at the horizon's end, after the tax on it."""
    return -sum((line.amount for line in plan.lines if is_of_resale(line)), Decimal("0.00"))


def total_without_resale(plan: Scenario) -> Decimal:
    """Total of a plan whose servers fetch nothing at the horizon's end."""
    return plan.total_cost + resale_value(plan)


def capital(plan: Scenario, months: Container[int] | None = None) -> Decimal:
    """What a plan pays for servers, of `months` alone if they are given: their price, network,
    spares and installation."""
    lines = (
        line.amount
        for line in plan.lines
        if line.category in CAPITAL and (months is None or line.month in months)
    )
    return sum(lines, Decimal("0.00"))


def due_per_month(plan: Scenario) -> tuple[Decimal, ...]:
    """What has to be paid in each month, those after the horizon too: all but what servers fetch
    at its end, after the tax on it."""
    due = [*plan.cash_per_month]
    for line in plan.lines:
        if is_of_resale(line):
            due[line.month] -= line.amount
    return tuple(due)


def is_of_resale(line: CostLine) -> bool:
    is_its_tax = line.category is Category.TAX and line.unit == RESALE_TAX_UNIT
    return line.category is Category.RESIDUAL or is_its_tax
