"""Answers as tables for a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.table import Table

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.relaxation import least_changes
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.money import decimals_of
from planner.costing.advice.limit_words import describe_alternative, describe_budget
from pricing.common.pluralize import pluralize

WIDTH = 110
"""Characters of a line; the same on every terminal, so that outputs can be compared."""


def make_console(out: StringIO) -> Console:
    """Writes plain text of a fixed width to `out`, in a notebook too."""
    return Console(file=out, width=WIDTH, highlight=False, markup=False, force_jupyter=False)


def comparison_tables(answer: ComparisonAnswer) -> str:
    """The advice, the scenarios, the break-even and the warnings."""
    out = StringIO()
    console = make_console(out)
    name = answer.name or "Comparison"
    console.print(f"{name}: {pluralize(answer.horizon_months, 'month')} from {answer.start}")
    for sentence in answer.advice:
        console.print(f"  {sentence}")
    for one in answer.cheaper_if:
        console.print(f"  {describe_alternative(one, answer.currency)}")
    for use in answer.verdict.budget if answer.verdict else ():
        console.print(f"  {describe_budget(use, answer.currency)}")
    console.print(_scenarios(answer))
    if answer.break_even:
        console.print(_break_even(answer))
    for scenario in answer.scenarios:
        for reason in (*scenario.why_not, scenario.why_not_allowed):
            if reason:
                console.print(f"{scenario.key.value}: {reason}")
    widest = answer.by_key[ScenarioKey.HYBRID]
    for relaxation in least_changes(answer.by_key):
        console.print(f"To ask for it: {relaxation.field} = {relaxation.required_value:.10g}")
    # What is proven is proven of the widest scenario, whose warnings say which prices it lacks.
    for warning in dict.fromkeys((*answer.warnings, *widest.warnings)):
        console.print(f"Note: {warning}")
    return out.getvalue().rstrip()


def _scenarios(answer: ComparisonAnswer) -> Table:
    table = Table(title="Scenarios", title_justify="left")
    table.add_column("scenario")
    for head in (f"total {answer.currency}", "present value", "per accelerator-hour", "gap"):
        table.add_column(head, justify="right")
    for scenario in answer.scenarios:
        best = scenario.key == answer.recommendation.scenario
        table.add_row(
            f"{scenario.key.value}{' *' if best else _mark(scenario)}",
            *_figures(scenario, decimals_of(answer.currency)),
        )
    return table


def _mark(scenario: ScenarioAnswer) -> str:
    """That a scenario may not be recommended; the reason stands below the tables."""
    return "" if scenario.allowed else " (not advised)"


def _figures(scenario: ScenarioAnswer, decimals: int) -> tuple[str, ...]:
    if not scenario.feasible:
        return ("not feasible", "", "", "")
    hour = scenario.levelised_cost_per_accelerator_hour
    return (
        f"{scenario.require_total():,.{decimals}f}",
        f"{scenario.require_present_cost():,.{decimals}f}",
        "" if hour is None else f"{hour:,.4f}",
        f"{scenario.gap or 0:.2%}",
    )


def _break_even(answer: ComparisonAnswer) -> Table:
    table = Table(title="Break-even", title_justify="left")
    table.add_column("server")
    table.add_column("against")
    table.add_column("owning costs less within the plan")
    table.add_column("over its useful life")
    for head in ("price recovered, hours", "months at full use"):
        table.add_column(head, justify="right")
    for row in answer.break_even:
        months = row.months_at_full_use
        table.add_row(
            row.server,
            row.against,
            row.use_within_plan,
            row.use_over_life,
            "never" if row.hours is None else f"{row.hours:,.0f}",
            "" if months is None else f"{months:,.1f}",
        )
    return table
