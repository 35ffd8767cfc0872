"""Answers as tables for a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.table import Table

from planner.comparison import Comparison
from planner.costing.results.scenario_result import Scenario

WIDTH = 110
"""Characters of a line; the same on every terminal, so that outputs can be compared."""


def comparison_tables(comparison: Comparison) -> str:
    """The advice, the scenarios, the break-even and the warnings."""
    out = StringIO()
    console = Console(file=out, width=WIDTH, highlight=False, markup=False)
    advice = comparison.recommendation
    name = comparison.request.name or "Comparison"
    console.print(
        f"{name}: {comparison.calendar.months} months from {comparison.calendar.start:%Y-%m}"
    )
    for reason in advice.because:
        console.print(f"  {reason}")
    console.print(_scenarios(comparison))
    console.print(_break_even(comparison))
    for scenario in comparison.scenarios.values():
        for reason in scenario.why_not:
            console.print(f"{scenario.key.value}: {reason}")
    for warning in dict.fromkeys(comparison.warnings):
        console.print(f"Note: {warning}")
    return out.getvalue().rstrip()


def _scenarios(comparison: Comparison) -> Table:
    currency = comparison.request.currency
    table = Table(title="Scenarios", title_justify="left")
    table.add_column("scenario")
    for head in (f"total {currency}", "present value", "per accelerator-hour", "gap"):
        table.add_column(head, justify="right")
    for scenario in comparison.scenarios.values():
        best = scenario.key == comparison.recommendation.scenario
        table.add_row(f"{scenario.key.value}{' *' if best else ''}", *_figures(scenario))
    return table


def _figures(scenario: Scenario) -> tuple[str, ...]:
    if not scenario.feasible:
        return ("not feasible", "", "", "")
    hour = scenario.levelised_cost_per_accelerator_hour
    return (
        f"{scenario.total_cost:,.2f}",
        f"{scenario.net_present_cost:,.2f}",
        "" if hour is None else f"{hour:,.4f}",
        f"{scenario.gap:.2%}",
    )


def _break_even(comparison: Comparison) -> Table:
    table = Table(title="Break-even", title_justify="left")
    table.add_column("server")
    table.add_column("against")
    for head in ("hours", "months at full use", "share of life"):
        table.add_column(head, justify="right")
    for row in comparison.break_even:
        months, share = row.months_at_full_use, row.utilisation_over_life
        table.add_row(
            row.server,
            row.against,
            "never" if row.hours is None else f"{row.hours:,.0f}",
            "" if months is None else f"{months:,.1f}",
            "never" if share is None else f"{share:.0%}",
        )
    return table
