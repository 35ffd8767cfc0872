"""FOCUS rows of a portfolio: each row tagged with the project that causes it.

What all share has a row of its own without a project; its EffectiveCost can be charged to projects
by the fraction that each pays of the plan.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.scenario import CapacityRow, ScenarioAnswer
from planner.contract.answer.verdict import Recommendation
from planner.exports import focus_columns as names
from planner.exports.csv_export import csv_bytes
from planner.exports.focus import Cells, focus_rows
from planner.exports.rows import Context

SHARED = ""
"""The project of what all share."""


def as_portfolio_focus(answer: PortfolioAnswer) -> bytes:
    """The rows as CSV, in the order of months."""
    rows = sorted(portfolio_focus_rows(answer), key=lambda row: str(row["ChargePeriodStart"]))
    return csv_bytes((*names.COLUMNS, *names.OWN_COLUMNS), rows)


def portfolio_focus_rows(answer: PortfolioAnswer) -> Iterator[Cells]:
    """Rows of what all share, then of each project."""
    for project in (SHARED, *(one.name for one in answer.projects)):
        part = _part(answer, project)
        if part.scenarios[0].lines:
            yield from focus_rows(part, Context(name=answer.name, project=project))


def _part(answer: PortfolioAnswer, project: str) -> ComparisonAnswer:
    """The lines of one owner in the form of a comparison with one way to buy."""
    scenario = ScenarioAnswer.of_values(
        key=ScenarioKey.HYBRID,
        feasible=True,
        lines=tuple(line for line in answer.lines if line.project == project),
        write_off={row.source: row.amounts for row in answer.write_off if row.project == project},
        capacity=tuple(_capacity(answer, project)),
    )
    return ComparisonAnswer.of_values(
        start=answer.start,
        horizon_months=answer.horizon_months,
        currency=answer.currency,
        catalog=answer.catalog,
        assumptions=answer.assumptions,
        offers=answer.offers,
        servers=answer.servers,
        scenarios=(scenario,),
        recommendation=Recommendation.of_values(scenario=ScenarioKey.HYBRID),
    )


def _capacity(answer: PortfolioAnswer, project: str) -> Iterator[CapacityRow]:
    """Machines held by month; rented ones by what the project uses of them."""
    owned_by_project = {row.source for row in answer.lines if row.project == project}
    held = {row.source for row in answer.in_service}
    for row in answer.in_service:
        if row.source in owned_by_project:
            yield CapacityRow(
                month=row.month,
                source=row.source,
                accelerators=row.accelerators,
                hours_available=row.hours_available,
                hours_used=row.hours_used,
            )
    for use in answer.uses:
        if use.project == project and use.source not in held:
            yield CapacityRow(
                month=use.month,
                source=use.source,
                accelerators=0.0,
                hours_available=use.accelerator_hours,
                hours_used=use.accelerator_hours,
            )
