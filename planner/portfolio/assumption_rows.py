"""The figures and editions that a portfolio rests on. PURE."""

from __future__ import annotations

from collections.abc import Iterator

from planner.comparison_steps.build_answer import build_assumptions
from planner.comparison_steps.results import ComparisonResults
from planner.contract.answer.comparison import AssumptionRow
from planner.costing.assumptions.defaults import default
from planner.portfolio.preparation import (
    HAS_RANGE,
    RANGE_EDITION,
    RANGE_SAMPLES,
    RUNS_EDITION,
    SHARES_EDITION,
    WINDOW_EDITION,
    PortfolioPreparation,
)


def list_assumptions(preparation: PortfolioPreparation) -> Iterator[AssumptionRow]:
    """Those of the first project, then the defaults and editions that only later ones rest on, such
    as the edition of runs, each once; then those of the rules that only a portfolio has, where they
    matter. A saved answer that does not have a row is computed again without it."""
    first, *others = preparation.projects
    rows = {row.field: row for row in build_assumptions(ComparisonResults(first.alone))}
    for project in others:
        for row in build_assumptions(ComparisonResults(project.alone)):
            if not row.given and preparation.states(row.field):
                rows.setdefault(row.field, row)
    yield from rows.values()
    if preparation.has_windows and preparation.states(WINDOW_EDITION):
        yield _edition(WINDOW_EDITION, preparation.window_edition)
    if preparation.has_runs and preparation.states(RUNS_EDITION):
        yield _edition(RUNS_EDITION, preparation.runs_edition)
    if preparation.range_edition >= HAS_RANGE:
        yield _edition(RANGE_EDITION, preparation.range_edition)
    if len(preparation.projects) > 1 and preparation.states(SHARES_EDITION):
        yield _edition(SHARES_EDITION, preparation.shares_edition)


def range_samples_row(samples: int) -> AssumptionRow:
    """Outcomes that a range is from, which an answer that is computed again draws as many of
    whatever work it may take; 0 where there were too few."""
    source = "as many as the work allowed for one question and memory leave room for"
    return AssumptionRow(
        field=RANGE_SAMPLES, value=samples, unit="futures", given=False, source=source
    )


def _edition(field: str, edition: float) -> AssumptionRow:
    source = default(field.partition(".")[2]).source
    return AssumptionRow(field=field, value=edition, unit="edition", given=False, source=source)
