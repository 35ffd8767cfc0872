"""Answers as tables for a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.table import Table

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer

WIDTH = 110
"""Characters of a line; the same on every terminal, so that outputs can be compared."""


def comparison_tables(answer: ComparisonAnswer) -> str:
    """The advice, the scenarios, the break-even and the warnings."""
    out = StringIO()
    console = Console(file=out, width=WIDTH, highlight=False, markup=False)
    name = answer.name or "Comparison"
    console.print(f"{name}: {answer.horizon_months} months from {answer.start}")
    for reason in answer.recommendation.because:
        console.print(f"  {reason}")
    console.print(_scenarios(answer))
    console.print(_break_even(answer))
    for scenario in answer.scenarios:
        for reason in scenario.why_not:
            console.print(f"{scenario.key.value}: {reason}")
    for warning in answer.warnings:
        console.print(f"Note: {warning}")
    return out.getvalue().rstrip()


def _scenarios(answer: ComparisonAnswer) -> Table:
    table = Table(title="Scenarios", title_justify="left")
    table.add_column("scenario")
    for head in (f"total {answer.currency}", "present value", "per accelerator-hour", "gap"):
        table.add_column(head, justify="right")
    for scenario in answer.scenarios:
        best = scenario.key == answer.recommendation.scenario
        table.add_row(f"{scenario.key.value}{' *' if best else ''}", *_figures(scenario))
    return table


def _figures(scenario: ScenarioAnswer) -> tuple[str, ...]:
    if not scenario.feasible:
        return ("not feasible", "", "", "")
    hour = scenario.levelised_cost_per_accelerator_hour
    return (
        f"{scenario.require_total():,.2f}",
        f"{scenario.require_present_cost():,.2f}",
        "" if hour is None else f"{hour:,.4f}",
        f"{scenario.gap or 0:.2%}",
    )


def _break_even(answer: ComparisonAnswer) -> Table:
    table = Table(title="Break-even", title_justify="left")
    table.add_column("server")
    table.add_column("against")
    for head in ("hours", "months at full use", "share of life"):
        table.add_column(head, justify="right")
    for row in answer.break_even:
        months, share = row.months_at_full_use, row.utilisation_over_life
        table.add_row(
            row.server,
            row.against,
            "never" if row.hours is None else f"{row.hours:,.0f}",
            "" if months is None else f"{months:,.1f}",
            "never" if share is None else f"{share:.0%}",
        )
    return table
