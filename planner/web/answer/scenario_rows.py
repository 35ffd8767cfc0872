"""The scenarios of an answer as rows: those with one and the same plan are one row.

Everything is undiscounted: the total, and the range of the simulated totals beside it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.risk import CostRange
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.labels import SCENARIO_TITLES
from planner.contract.money import subtract_as_shown
from planner.contract.shares import format_shares

_CLOUD = {ScenarioKey.COMMITTED, ScenarioKey.CLOUD_MIX}
_OWNING = {ScenarioKey.ON_PREM, ScenarioKey.HYBRID}
_RENTED = (Category.COMPUTE, Category.COMMITMENT)


@dataclass(frozen=True)
class Span:
    """Where a row's bar lies on an axis of 0 to 100 that all rows share."""

    at: float
    """The total."""
    left: float = 0.0
    """10th percentile."""
    width: float = 0.0
    """From there to the 90th."""


@dataclass(frozen=True)
class ScenarioRow:
    """Scenarios with the same plan, or one that has none."""

    scenario: ScenarioAnswer
    """The first of them; the advised one where it is among them."""
    keys: tuple[ScenarioKey, ...]
    is_best: bool
    range: CostRange | None = None
    probability_cheapest: float | None = None
    """Share of the simulated outcomes in which one of them is the cheapest."""
    cheapest_in: str = ""
    """The same in per cent; those of all rows add up to 100.0% as shown."""
    regret: Decimal | None = None
    span: Span | None = None
    less_than_on_demand: Decimal | None = None
    """The total on demand less this one, both as shown."""
    oldest_price: dt.date | None = None
    """Day of the oldest price that the plan pays for offers; None where none has a date."""

    @property
    def title(self) -> str:
        """`Committed = Cloud mix`; a plan that only rents is not called by an owning scenario."""
        return " = ".join(SCENARIO_TITLES[key] for key in self._named)

    @property
    def _named(self) -> tuple[ScenarioKey, ...]:
        if not self.scenario.feasible or self.scenario.buys_or_leases:
            return self.keys
        return tuple(key for key in self.keys if key not in _OWNING) or self.keys

    @property
    def has_range(self) -> bool:
        """Whether the range of the undiscounted total is known; not in answers of old."""
        return self.range is not None and None not in (self.range.total_p10, self.range.total_p90)

    @property
    def note(self) -> str:
        """What the plan leaves out, or holds, that the title does not say."""
        if not self.scenario.feasible:
            return ""
        keys = set(self.keys)
        left_out = []
        if ScenarioKey.ON_DEMAND in keys and keys & _CLOUD:
            left_out.append("committed")
        if keys & _OWNING and not self.scenario.buys_or_leases:
            left_out.append("bought")
        if left_out:
            others = [SCENARIO_TITLES[key].lower() for key in self.keys if key not in self._named]
            same = f"same as {' and '.join(others)}: " if others else ""
            return f"{same}nothing is {' or '.join(left_out)}"
        rents = any(category in self.scenario.cost_by_category for category in _RENTED)
        is_named_for_owning = ScenarioKey.ON_PREM in keys and rents
        return "machines rented before and alongside its servers" if is_named_for_owning else ""


def scenario_rows(answer: ComparisonAnswer) -> list[ScenarioRow]:
    """The advised plan first, then the others by their total, those without a plan last."""
    groups: list[list[ScenarioAnswer]] = []
    for scenario in _ordered(answer):
        same = next((group for group in groups if _is_same(group[0], scenario)), None)
        groups.append([scenario]) if same is None else same.append(scenario)
    rows = [_row(answer, group) for group in groups]
    return with_spans(_with_shares(rows))


def _ordered(answer: ComparisonAnswer) -> list[ScenarioAnswer]:
    best = answer.recommendation.scenario
    return sorted(
        answer.scenarios,
        key=lambda s: (s.key is not best, not s.feasible, s.total_cost or Decimal(0)),
    )


def _is_same(one: ScenarioAnswer, other: ScenarioAnswer) -> bool:
    """Whether both have the same plan and may both be advised, or lack one for the same reasons."""
    if one.feasible != other.feasible or one.allowed != other.allowed:
        return False
    if not one.feasible:
        return one.why_not == other.why_not
    return one.total_cost == other.total_cost and one.lines == other.lines


def _row(answer: ComparisonAnswer, group: Sequence[ScenarioAnswer]) -> ScenarioRow:
    keys = {scenario.key for scenario in group}
    row = ScenarioRow(
        scenario=group[0],
        keys=tuple(key for key in ScenarioKey if key in keys),
        is_best=answer.recommendation.scenario in keys,
        less_than_on_demand=_less_than_on_demand(answer, group[0]),
        oldest_price=_oldest_price(answer, group[0]),
    )
    risk, first = answer.risk, group[0].key
    if risk is None:
        return row
    likely = [risk.probability_cheapest[key] for key in keys if key in risk.probability_cheapest]
    return replace(
        row,
        range=risk.range_of(first),
        probability_cheapest=sum(likely) if likely else None,
        regret=risk.regret.get(first),
    )


def _less_than_on_demand(answer: ComparisonAnswer, scenario: ScenarioAnswer) -> Decimal | None:
    rent = answer.by_key[ScenarioKey.ON_DEMAND].total_cost
    if rent is None or scenario.total_cost is None:
        return None
    return subtract_as_shown(rent, scenario.total_cost)


def _oldest_price(answer: ComparisonAnswer, scenario: ScenarioAnswer) -> dt.date | None:
    offers = (answer.offers.get(row.source) for row in scenario.costs_by_source)
    return min((one.as_of for one in offers if one and one.as_of), default=None)


def with_spans(rows: Sequence[ScenarioRow]) -> list[ScenarioRow]:
    """Rows on an axis of their own, as long as they need it."""
    low, high = _axis(rows)
    return [_with_span(row, low, high) for row in rows]


def _with_shares(rows: Sequence[ScenarioRow]) -> list[ScenarioRow]:
    chances = [row.probability_cheapest for row in rows]
    shares = iter(format_shares([one for one in chances if one is not None], 1))
    return [row if one is None else replace(row, cheapest_in=next(shares))
            for row, one in zip(rows, chances, strict=True)]  # fmt: skip


def _axis(rows: Iterable[ScenarioRow]) -> tuple[float, float]:
    """Both ends of the axis: it holds 0, every total and every range."""
    ends = [0.0]
    for row in rows:
        ends.extend(float(one) for one in _ends(row) if one is not None)
    return min(ends), max(ends)


def _ends(row: ScenarioRow) -> tuple[Decimal | None, ...]:
    known = (row.range.total_p10, row.range.total_p90) if row.range else ()
    return (row.scenario.total_cost, *known)


def _with_span(row: ScenarioRow, low: float, high: float) -> ScenarioRow:
    total, *ends = _ends(row)
    if total is None or high <= low:
        return row
    at, *known = (round(100 * (float(one) - low) / (high - low), 2)
                  for one in (total, *ends) if one is not None)  # fmt: skip
    span = Span(at, known[0], round(known[1] - known[0], 2)) if len(known) == 2 else Span(at)
    return replace(row, span=span)
