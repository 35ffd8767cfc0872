"""When a plan that buys has paid for itself, from cash alone. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from types import MappingProxyType

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.scenario import CostLine
from planner.contract.money import format_money
from planner.contract.request.rules import PlanRules
from planner.costing.cost_model.charges import CAPITAL
from planner.costing.results.payments import capital, total_without_resale
from planner.costing.results.scenario_result import Scenario

WORTH_SIGNING = Decimal("0.02")
"""Share of renting on demand below which what a contract saves is said to be little; a choice of
this project, 2026."""
OBLIGATIONS = frozenset({Category.COMMITMENT, Category.UPFRONT, Category.LEASE})
"""What a commitment or a lease itself is paid with."""


def best_without_buying(scenarios: Mapping[ScenarioKey, Scenario]) -> Scenario | None:
    """The feasible plan of least net present cost that buys nothing; None if there is none."""
    renting = [s for s in scenarios.values() if s.feasible and not s.buys]
    return min(renting, key=lambda s: s.net_present_cost, default=None)


def renting_cost(rent: Scenario, rules: PlanRules) -> Decimal:
    """What a purchase is held against before its resale: the total of a plan that buys nothing,
    from edition 6 of the rules on without what servers in place fetch, which both plans get."""
    return total_without_resale(rent) if rules.sets_resale_aside else rent.total_cost


def pays_back(unsold: Decimal, price: Decimal, rent: Decimal, margin: float) -> bool:
    """Whether a plan whose total is `unsold` before any resale, `price` of it for servers, costs
    less than renting by at least `margin` of that price.

    >>> pays_back(Decimal(90), Decimal(40), Decimal(100), 0.25)
    True
    >>> pays_back(Decimal(91), Decimal(40), Decimal(100), 0.25)
    False
    """
    return unsold + price * Decimal(str(margin)) <= rent


def why_not_bought(plan: Scenario, rent: Scenario | None, margin: float, rules: PlanRules) -> str:
    """Why the servers of a plan do not pay back well enough before anything is resold; empty where
    they do or need not, where none are bought, and where nothing can be rented instead."""
    if rent is None or not (rules.needs_payback and rent.feasible and plan.feasible and plan.buys):
        return ""
    unsold, price, rented = total_without_resale(plan), capital(plan), renting_cost(rent, rules)
    if pays_back(unsold, price, rented, margin):
        return ""
    saved = rented - unsold
    if saved < 0 or not price:
        return "Without resale, its servers do not pay back within the plan."
    return (
        f"Before resale, its servers save only {saved / price:.0%} of their price; "
        f"{margin:.0%} is required."
    )


def payback_month(cash: Sequence[Decimal], other: Sequence[Decimal]) -> int | None:
    """First month from whose end on Σ cash stays below Σ other; None where it never does.

    Both are what falls due in each month; the resale at the horizon's end counts in its month.

    >>> buy, rent = [Decimal(n) for n in (30, 1, 1, 1)], [Decimal(n) for n in (11, 11, 11, 11)]
    >>> payback_month(buy, rent), payback_month(rent, buy)
    (2, None)
    """
    length = max(len(cash), len(other))
    ahead = None
    for month, (own, rented) in enumerate(
        zip(_accumulate(cash, length), _accumulate(other, length), strict=True)
    ):
        if own >= rented:
            ahead = None
        elif ahead is None:
            ahead = month
    return ahead


def _accumulate(cash: Sequence[Decimal], length: int) -> Iterable[Decimal]:
    return accumulate([*cash, *[Decimal(0)] * (length - len(cash))])


def capital_to_approve(lines: Sequence[CostLine]) -> Decimal | None:
    """All invoices of the month in which the first servers are bought: the servers, their
    network, spares and installation; None where none is bought."""
    bought = [line.month for line in lines if line.category is Category.CAPEX]
    if not bought:
        return None
    first = min(bought)
    due = (line.amount for line in lines if line.category in CAPITAL and line.month == first)
    return sum(due, Decimal("0.00"))


def describe_thin_commitment(plan: Scenario, on_demand: Scenario, currency: str) -> str:
    """That a plan which signs contracts saves hardly anything by it; empty where it saves more."""
    saved = on_demand.total_cost - plan.total_cost
    if not on_demand.feasible or not 0 <= saved < on_demand.total_cost * WORTH_SIGNING:
        return ""
    share = f"{saved / on_demand.total_cost:.1%}"
    return (
        f"Signing saves {format_money(saved, currency)} ({share}) against renting on demand, which "
        "nobody has to sign for: it is worth it only if the hours are sure to stay for the whole "
        "term."
    )


def obligation_to_sign(
    plan: Scenario,
    duration: Mapping[str, int],
    leads: Mapping[str, int] = MappingProxyType({}),
) -> Decimal | None:
    """All payments of the commitments and leases that begin in the first month in which any does;
    None where nothing is committed to. `duration` is the term of each source, months, and
    `leads` how many months after it is signed it begins, 0 where not named.

    Of a source that begins units in several months the payments of the first units are the share
    of its units that they are in each month of their term.
    """
    starts = {
        key: [int(month) for month in units.nonzero()[0]]
        for key, units in plan.units_started.items()
        if key in duration
    }
    first = min((months[0] for months in starts.values() if months), default=None)
    if first is None:
        return None
    total = Decimal("0.00")
    for key, months in starts.items():
        if months and months[0] == first:
            total += _payments_of_first(plan, key, first, leads.get(key, 0), duration[key])
    return total


def _payments_of_first(plan: Scenario, key: str, signed: int, lead: int, duration: int) -> Decimal:
    units = plan.units_started[key]
    own, first = int(units[signed]), signed + lead
    total = Decimal("0.00")
    for line in plan.lines:
        if line.source != key or line.category not in OBLIGATIONS:
            continue
        if line.category is Category.UPFRONT:
            total += line.amount if line.month == first else Decimal(0)
        elif first <= line.month < first + duration:
            last = line.month - lead
            started = int(units[max(0, last - duration + 1) : last + 1].sum())
            total += line.amount * own / max(started, own)
    return total.quantize(Decimal("0.01"))
