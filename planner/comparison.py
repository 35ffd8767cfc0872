"""The only way to an answer: `compare(request, catalog)`, the same for page, API and commands.

No figure depends on the day it is asked, the order of offers or the number of cores; only the
ages of prices are counted from `today`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping

from planner.comparison_steps.build_answer import build_answer
from planner.comparison_steps.preparation import Preparation
from planner.comparison_steps.results import ComparisonResults
from planner.contract.answer.comparison import AssumptionRow, ComparisonAnswer
from planner.contract.request.comparison import read_request
from planner.costing.assumptions.assumptions import read_previous_assumptions
from pricing.market.snapshot import Catalog


def compare(
    request: Mapping[str, object],
    catalog: Catalog,
    *,
    today: dt.date | None = None,
    previous_assumptions: Iterable[AssumptionRow] = (),
) -> ComparisonAnswer:
    """What renting, owning and mixing cost for `request` at the prices of `catalog`.

    Raises `InvalidInput` with every field refused. `today` dates ages and the default start.
    `previous_assumptions` of an earlier answer stand in for defaults that have changed since.
    """
    return build_answer(solve(request, catalog, today, previous_assumptions))


def solve(
    request: Mapping[str, object],
    catalog: Catalog,
    today: dt.date | None = None,
    previous_assumptions: Iterable[AssumptionRow] = (),
) -> ComparisonResults:
    """The results behind the answer, plans and analyses in the core's own types."""
    preparation = Preparation(
        read_request(request),
        catalog,
        today or dt.datetime.now(dt.UTC).date(),
        read_previous_assumptions(previous_assumptions),
    )
    preparation.check()
    return ComparisonResults(preparation)
