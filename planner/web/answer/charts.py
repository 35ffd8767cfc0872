"""Charts of a comparison as plain documents: what each asks, its axes, its series, its table.

Drawn from the answer's own figures. `static/charts.js` draws a document with ECharts; the table
beside it comes from the same document.
"""

from __future__ import annotations

from decimal import Decimal

from planner.contract.answer.common import Category
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.answer.sensitivity import SensitivityRow
from planner.contract.labels import SCENARIO_TITLES, category_title
from planner.contract.months import shorten_month
from planner.contract.purchase_options import CHART_ROLES, ROLE_TITLES, traits
from planner.web.answer.scenario_rows import scenario_rows
from planner.web.common.chart import Chart, Series
from planner.web.common.form_fields import ALL
from planner.web.common.formatting import accelerator_name, figures


def capacity(answer: ComparisonAnswer, scenario: ScenarioAnswer) -> Chart:
    """Accelerators in service in each month by kind of source, over the demand where both count
    the same accelerator."""
    labels, roles = [*map(shorten_month, answer.months)], source_roles(answer)
    stacks: dict[str, list[float]] = {}
    for row in scenario.capacity:
        stack = stacks.setdefault(roles.get(row.source, "on_demand"), [0.0] * len(labels))
        stack[row.month] += row.accelerators
    series = [
        Series(ROLE_TITLES[role], stacks[role], role) for role in CHART_ROLES if role in stacks
    ]
    work, name = answer.demand, SCENARIO_TITLES[scenario.key].lower()
    counted = f"{work.highest_peak:,.0f} accelerators"
    if _accelerators_of(answer, scenario) <= {work.accelerator}:
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


def _accelerators_of(answer: ComparisonAnswer, scenario: ScenarioAnswer) -> set[str]:
    """Kinds of accelerators that a plan has in service."""
    kinds = {key: one.accelerator for key, one in answer.offers.items()}
    kinds |= {one.key: one.accelerator for one in answer.servers}
    return {kinds[row.source] for row in scenario.capacity if row.source in kinds}


def source_roles(answer: ComparisonAnswer) -> dict[str, str]:
    """Kind of capacity of each offer and server, by key."""
    rented = {key: traits(o.purchase_option).chart_role for key, o in answer.offers.items()}
    return {**rented, **{server.key: "owned" for server in answer.servers}}


def categories(answer: ComparisonAnswer) -> Chart:
    """Total of each scenario by category of cost."""
    rows = [row for row in scenario_rows(answer) if row.scenario.feasible]
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
        y_label=f"total, {answer.currency}",
        unit=answer.currency,
        x=[row.title for row in rows],
        series=series,
        summary="Cost by category of each scenario.",
    )


def fan(answer: ComparisonAnswer) -> Chart | None:
    """p10, p50 and p90 of each scenario's net present cost."""
    risk = answer.risk
    rows = scenario_rows(answer)
    ranges = {row.title: row.range for row in rows}
    known = {title: one for title, one in ranges.items() if one is not None}
    if risk is None or not known:
        return None
    series = [
        Series("p10", [float(one.p10) for one in known.values()], "p10"),
        Series("p50", [float(one.p50) for one in known.values()], "p50"),
        Series("p90", [float(one.p90) for one in known.values()], "p90"),
    ]
    best = max(rows, key=lambda row: row.probability_cheapest or 0.0)
    beyond = "" if risk.holds else " (a range of published runs that does not hold here)"
    return Chart(
        key="fan",
        title=f"How far could each cost move?{beyond}",
        kind="fan",
        x_label="scenario",
        y_label=f"net present cost, {answer.currency}",
        unit=answer.currency,
        x=list(known),
        series=series,
        summary=f"{best.title} is cheapest in {best.cheapest_in} of the simulated outcomes."
        if best.probability_cheapest is not None
        else "p10, p50 and p90 of each net present cost.",
    )


def tornado(answer: ComparisonAnswer, base: Decimal) -> Chart | None:
    """What moves the recommended total, the strongest first."""
    rows = [row for row in answer.sensitivity if row.effect]
    if not rows:
        return None
    rows = sorted(rows, key=lambda row: row.effect, reverse=True)[:12]
    return Chart(
        key="tornado",
        title="Which assumption moves the total most?",
        kind="tornado",
        x_label="assumption",
        y_label=f"total, {answer.currency}",
        unit=answer.currency,
        x=[_range_label(row) for row in rows],
        series=[
            Series("at low", [float(row.total_at_low or 0) for row in rows], "low"),
            Series("at high", [float(row.total_at_high or 0) for row in rows], "high"),
        ],
        base=float(base),
        summary=f"{_range_label(rows[0])} moves the total most.",
    )


_PERCENT = {"factor", "fraction"}


def _range_label(row: SensitivityRow) -> str:
    """`electricity per kwh 0.0575 to 0.239 USD/kWh`; factors and fractions in per cent."""
    name = _NAMES.get(row.field) or row.field.rpartition(".")[2].replace("_", " ")
    unit = row.unit.partition(" ")[0]
    if unit in _PERCENT:
        return f"{name}, {_percent(row.low)} to {_percent(row.high)}"
    shown = "" if unit in ("ratio", "") else f" {row.unit}"
    shown = shown.replace(" per full-time equivalent per year", " a year")
    return f"{name}, {figures(row.low)} to {figures(row.high)}{shown}"


def _percent(share: float) -> str:
    return f"{share * 100:.3g}%"


_NAMES = {
    **{field.path: field.label if field.label.isupper() else field.label.lower() for field in ALL},
    "workload.hours": "hours of work",
    "rental_prices": "rental prices",
    "on_prem.servers.unit_price": "price of servers",
    "on_prem.staff_cost_per_year": "cost of one FTE",
}
"""What the tornado calls its rows: the form's words."""
