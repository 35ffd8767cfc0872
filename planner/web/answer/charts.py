"""Charts of a comparison as plain documents: what each asks, its axes, its series, its table.

Drawn from the answer's own figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import accumulate
from typing import Any

from planner.contract.amounts import parse_month, shorten_month
from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer, PlanRecord, SavedPlan
from planner.contract.answer.risk import Driver
from planner.contract.answer.scenario import ScenarioAnswer, ScenarioRecord, least_changes
from planner.contract.labels import (
    CHART_ROLES,
    ROLE_TITLES,
    SCENARIO_TITLES,
    accelerator_name,
    category_title,
    traits,
)
from planner.costing.advice.verdict import SCENARIO_NAMES
from planner.web.answer.tables import scenario_rows
from planner.web.common.chart import Chart, Mark, Series
from planner.web.common.fields import find_label
from planner.web.common.formatting import figures, money
from pricing.common.words import capitalize_first


def capacity(answer: ComparisonAnswer, scenario: ScenarioAnswer) -> Chart:
    """Accelerators in service in each month by kind of source, over the demand where both count
    the same accelerator."""
    labels = [*map(shorten_month, answer.months)]
    roles = {key: traits(one.purchase_option).chart_role for key, one in answer.offers.items()}
    roles |= {server.key: "owned" for server in answer.servers}
    stacks: dict[str, list[float]] = {}
    for row in scenario.capacity:
        stack = stacks.setdefault(roles.get(row.source, "on_demand"), [0.0] * len(labels))
        stack[row.month] += row.accelerators
    series = [
        Series(ROLE_TITLES[role], stacks[role], role) for role in CHART_ROLES if role in stacks
    ]
    work, name = answer.demand, SCENARIO_TITLES[scenario.key].lower()
    counted = f"{work.highest_peak:,.0f} accelerators"
    kinds = {key: one.accelerator for key, one in answer.offers.items()}
    kinds |= {one.key: one.accelerator for one in answer.servers}
    if all(
        kinds.get(row.source, work.accelerator) == work.accelerator for row in scenario.capacity
    ):
        series.append(Series("peak demand", list(work.peak_accelerators), "demand", dashed=True))
        summary = f"Capacity by source of {name} against a peak of {counted}."
    else:
        summary = (
            f"Accelerators in service by source of {name}. The peak of the demand is not drawn, as "
            f"it counts another accelerator: {counted} of {accelerator_name(work.accelerator)}."
        )
    return Chart(
        key="capacity",
        title="What serves the demand, month by month?",
        kind="bar",
        x_label="month",
        y_label="accelerators",
        x=labels,
        series=series,
        digits=1,
        summary=summary,
    )


MOST_TIMES = 10
"""A scenario that costs more than so many times the cheapest would leave no bar of it to see."""


def categories(answer: ComparisonAnswer) -> Chart:
    possible = [row for row in scenario_rows(answer) if row.scenario.feasible]
    most = MOST_TIMES * min((row.scenario.require_total() for row in possible), default=Decimal(0))
    rows = [row for row in possible if most <= 0 or row.scenario.require_total() <= most]
    dear = [
        f"{row.title} costs {money(row.scenario.total_cost, answer.currency)} and is not drawn"
        for row in possible
        if row not in rows
    ]
    spent = [row.scenario.cost_by_category for row in rows]
    series = [
        Series(
            category_title(category),
            [float(costs.get(category, 0)) for costs in spent],
            category.value,
        )
        for category in Category
        if any(category in costs for costs in spent)
    ]
    return Chart(
        key="categories",
        title="What is the money spent on?",
        kind="hbar",
        x_label="scenario",
        y_label=f"total if all goes as stated, {answer.currency}",
        unit=answer.currency,
        x=[row.title for row in rows],
        series=series,
        summary="; ".join(("Cost by category of each scenario", *dear)) + ".",
    )


def limits(answer: ComparisonAnswer) -> Chart | None:
    """Where no plan is possible: the limit that is in the way, and what each scenario takes of it;
    None where several limits are, or none alone would do."""
    needed = least_changes(answer.by_key)
    if len(needed) != 1:
        return None
    (least,) = needed
    takes = {"As asked": least.current_value}
    for row in scenario_rows(answer):
        for one in row.scenario.relaxations:
            if one.field == least.field:
                takes[row.title] = one.required_value
    unit = answer.currency if least.field.endswith("budget") else ""
    label = find_label(least.field)
    return Chart(
        key="limits",
        title=f"{capitalize_first(label)}: asked and needed",
        kind="hbar",
        x_label="scenario",
        y_label=", ".join(filter(None, (label, unit))),
        unit=unit,
        x=[*takes],
        series=[Series(label, [*takes.values()], "advised")],
        summary="The limit asked for, and the least that each scenario takes.",
    )


def trigger(answer: ComparisonAnswer) -> Chart | None:
    """The price to watch most, and where it turns the decision; None where none is watched."""
    if answer.policy is None or not answer.policy.triggers:
        return None
    first = answer.policy.triggers[0]
    rows = [row for row in first.by_date if row.p50 is not None]
    act, side = capitalize_first(first.action), "above" if first.is_above else "below"
    return Chart(
        key="trigger",
        title=f"When does {first.price_of} turn the decision?",
        kind="line",
        x_label="decision",
        y_label=f"{answer.currency} {first.unit}",
        x=[shorten_month(row.month) for row in rows],
        series=[
            Series("price at p10", [row.p10 for row in rows], "low"),
            Series("median", [row.p50 for row in rows], "next_best"),
            Series("price at p90", [row.p90 for row in rows], "high"),
            Series(f"{first.action} {side}", [row.price for row in rows], "advised", dashed=True),
        ],
        digits=2 if first.unit == "per accelerator-hour" else 0,
        summary=f"{act} {first.what} {side} the dashed line.",
    )


def span(row: Driver) -> str:
    """`0.06 to 0.24 USD/kWh`, `60% to 140%`."""
    if row.unit.partition(" ")[0] in ("factor", "fraction"):
        return f"{row.low * 100:.3g}% to {row.high * 100:.3g}%"
    unit = row.unit.replace(" per full-time equivalent per year", " a year")
    return f"{figures(row.low)} to {figures(row.high)} {unit}"


END = "end"
"""Label after the last month: everything due, what is owed afterwards and the resale included."""


def payback(answer: ComparisonAnswer) -> Chart | None:
    """Cost so far of the advised plan and of the next best, with the range of each at its end;
    None where each is paid in one month, so that there is nothing to see."""
    plan = answer.recommended
    if plan is None:
        return None
    rivals = [one for one in list_rivals(answer) if not _is_far_dearer(one, plan)]
    chart = cost_so_far(answer, [plan, *rivals])
    if chart is None:
        return None
    mark = _mark(answer, chart.series[0])
    ends = [_ends(answer, one.key) for one in (plan, *rivals)]
    return replace(
        chart,
        y_label=f"{chart.y_label}; bars: 8 of 10 cases, dots: expected"
        if any(ends)
        else chart.y_label,
        title="When does the advised plan pay off?" if plan.buys_or_leases else chart.title,
        series=[replace(line, ends=two) for line, two in zip(chart.series, ends, strict=True)],
        marks=[mark] if mark else [],
        summary=_summary(answer, plan, rivals),
    )


def saved_cost(plan: SavedPlan) -> Chart | None:
    """The same of a saved plan, beside the cheapest other that could have been advised."""
    best = plan.recommended
    if best is None:
        return None
    others = [one for one in plan.feasible if one.allowed and one.lines != best.lines]
    rival = min(others, key=ScenarioRecord.require_present_cost, default=None)
    is_shown = rival is not None and not _is_far_dearer(rival, best)
    return cost_so_far(plan, [best, rival] if rival and is_shown else [best])


def cost_so_far(answer: PlanRecord[Any], plans: Sequence[ScenarioRecord]) -> Chart | None:
    """Of the plan that is advised, then of others."""
    paid = ([*accumulate(one.cash_per_month[: answer.horizon_months])] for one in plans)
    totals = [[*months, one.require_total()] for months, one in zip(paid, plans, strict=True)]
    if all(len(set(one)) == 1 for one in totals):
        return None
    titles = [SCENARIO_TITLES[one.key] for one in plans]
    return Chart(
        key="cumulative",
        title="How does the cost add up?",
        kind="line",
        x_label="month",
        y_label=f"spent so far if all goes as stated, {answer.currency}",
        unit=answer.currency,
        x=[*map(shorten_month, answer.months), END],
        series=[
            Series(name, [*map(float, values)], role, dashed=role != "advised")
            for name, values, role in zip(
                [f"Advised: {titles[0]}", *titles[1:]],
                totals,
                ("advised", "next_best", "rented"),
                strict=False,
            )
        ],
        summary="The cost of the plan so far.",
    )


def _is_far_dearer(one: ScenarioRecord, plan: ScenarioRecord) -> bool:
    most = MOST_TIMES * plan.require_total()
    return 0 < most < one.require_total()


def _ends(answer: ComparisonAnswer, key: ScenarioKey) -> tuple[float, ...]:
    risk = answer.risk
    spread = risk.range_of(key) if risk is not None and risk.holds else None
    ends = (spread.total_p10, spread.expected, spread.total_p90) if spread is not None else ()
    return tuple(float(one) for one in ends if one is not None)


def list_rivals(answer: ComparisonAnswer) -> list[ScenarioAnswer]:
    """The next best plan; then, where the advised one buys, the best that does neither."""
    plan = answer.recommended
    next_best = answer.recommendation.next_best
    rivals = [answer.by_key[next_best]] if next_best else []
    renting = [s for s in answer.feasible if s.allowed and not s.buys_or_leases]
    rented = min(renting, key=ScenarioAnswer.require_present_cost, default=None)
    if plan and plan.buys_or_leases and rented and all(rented.lines != one.lines for one in rivals):
        rivals.append(rented)
    return rivals


def _mark(answer: ComparisonAnswer, advised: Series) -> Mark | None:
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
    if not rivals and list_rivals(answer):
        return f"Every other plan costs more than {MOST_TIMES} times as much and is not drawn."
    if not rivals:
        return "No scenario with another plan may be advised."
    against = SCENARIO_NAMES[rivals[-1].key]
    if not plan.buys_or_leases:
        return f"The advised plan and the next best, {against}."
    if answer.verdict is None:
        return f"The advised plan and {against}."
    month = answer.verdict.payback
    if month is None:
        return f"Within these months the advised plan never becomes cheaper than {against}."
    if month not in answer.months:
        return f"Only with the resale at the end does the advised plan cost less than {against}."
    return (
        f"Counted when bills are paid, the advised plan has cost less than {against} from "
        f"{parse_month(month):%B %Y} on."
    )
