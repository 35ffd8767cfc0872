"""What the advised plan and its rivals have cost so far, with the month from which it has paid off.

The mark is the verdict's: `payback` is when the advised plan's cash stays below that of the best
plan that buys and leases nothing.
"""

from __future__ import annotations

from decimal import Decimal

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.labels import SCENARIO_TITLES
from planner.contract.months import parse_month, shorten_month
from planner.costing.advice.verdict import SCENARIO_NAMES
from planner.costing.assumptions.editions import PAYBACK_BY_MOMENT, PAYBACK_EDITION
from planner.web.common.chart import Chart, Mark, Series

END = "end"
"""Label after the last month: everything due, what is owed afterwards and the resale included."""


def cumulative_totals(scenario: ScenarioAnswer, horizon_months: int) -> list[Decimal]:
    """What has fallen due up to each month of the horizon; last everything, the residual in."""
    return [*scenario.cumulative_cost[:horizon_months], scenario.require_total()]


def payback(answer: ComparisonAnswer) -> Chart | None:
    """Cost so far of the advised plan and of the next best, labelled at the lines; None where
    each is paid in one month, so that there is nothing to see."""
    plan = answer.recommended
    if plan is None:
        return None
    rivals = list_rivals(answer)
    if all(_is_paid_at_once(answer, one) for one in (plan, *rivals)):
        return None
    series = [_line(answer, plan, f"Advised: {SCENARIO_TITLES[plan.key]}", "advised")]
    roles = ("next_best", "rented")
    series += [
        _line(answer, rival, SCENARIO_TITLES[rival.key], role)
        for rival, role in zip(rivals, roles, strict=False)
    ]
    mark = _mark(answer, series[0])
    return Chart(
        key="cumulative",
        title="When does the advised plan pay off?"
        if plan.buys_or_leases
        else "How does the cost add up?",
        kind="line",
        x_label="month",
        y_label=f"spent so far, {answer.currency}",
        unit=answer.currency,
        x=[*map(shorten_month, answer.months), END],
        series=series,
        marks=[mark] if mark else [],
        summary=_summary(answer, plan, rivals),
        labels_at_lines=True,
    )


def list_rivals(answer: ComparisonAnswer) -> list[ScenarioAnswer]:
    """The next best plan; then, where the advised one buys, the best that does neither."""
    plan = answer.recommended
    next_best = answer.recommendation.next_best
    rivals = [answer.by_key[next_best]] if next_best else []
    rented = _best_rented(answer)
    if plan and plan.buys_or_leases and rented and all(rented.lines != one.lines for one in rivals):
        rivals.append(rented)
    return rivals


def _best_rented(answer: ComparisonAnswer) -> ScenarioAnswer | None:
    renting = [s for s in answer.feasible if s.allowed and not s.buys_or_leases]
    return min(renting, key=ScenarioAnswer.require_present_cost, default=None)


def _is_paid_at_once(answer: ComparisonAnswer, plan: ScenarioAnswer) -> bool:
    return len(set(cumulative_totals(plan, answer.horizon_months))) == 1


def _line(answer: ComparisonAnswer, plan: ScenarioAnswer, name: str, role: str) -> Series:
    totals = cumulative_totals(plan, answer.horizon_months)
    return Series(name, [float(total) for total in totals], role, dashed=role != "advised")


def _mark(answer: ComparisonAnswer, advised: Series) -> Mark | None:
    """The month of the verdict's payback on the advised plan's line."""
    month = answer.verdict.payback if answer.verdict else None
    if month is None:
        return None
    months = answer.months
    if month not in months:
        how = "with the resale" if answer.verdict and answer.verdict.resale else "after the plan"
        return Mark(END, float(advised.values[-1] or 0), f"Paid off {how}")
    name = f"Paid off in {parse_month(month):%B %Y}"
    return Mark(shorten_month(month), float(advised.values[months.index(month)] or 0), name)


def _summary(answer: ComparisonAnswer, plan: ScenarioAnswer, rivals: list[ScenarioAnswer]) -> str:
    if not rivals:
        return "No scenario with another plan may be advised."
    against = _name(rivals[-1].key)
    if not plan.buys_or_leases:
        return f"The advised plan and the next best, {against}."
    if answer.verdict is None:
        return f"The advised plan and {against}."
    month = answer.verdict.payback
    if month is None:
        return f"Within these months the advised plan never becomes cheaper than {against}."
    if _counts_as_paid(answer):
        return (
            f"Counted when bills are paid, the advised plan has cost less than {against} from "
            f"{parse_month(month):%B %Y} on; the lines show when they fall due."
        )
    if month not in answer.months:
        return f"Only with the resale at the end does the advised plan cost less than {against}."
    return (
        f"From the end of {parse_month(month):%B %Y} the advised plan has cost less than {against}."
    )


def _counts_as_paid(answer: ComparisonAnswer) -> bool:
    """Whether the verdict's payback goes by when bills are paid, and not by when they are due."""
    edition = (row.value for row in answer.assumptions if row.field == PAYBACK_EDITION)
    return any(isinstance(value, (int, float)) and value >= PAYBACK_BY_MOMENT for value in edition)


def _name(key: ScenarioKey) -> str:
    """As the verdict calls it."""
    return SCENARIO_NAMES[key]
