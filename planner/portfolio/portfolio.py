"""The only way to a portfolio's answer: `plan_portfolio(request, catalog)`. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from planner.comparison import TooMuchWork
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.request.portfolio import PortfolioRequest, read_portfolio
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.portfolio.build_answer import build_answer
from planner.portfolio.preparation import PortfolioPreparation
from planner.portfolio.results import PortfolioResults
from pricing.market.snapshot import Catalog

DEFAULT_WORK_UNITS = 2_000_000_000
"""Units of work of a portfolio whose caller sets no limit."""


def plan_portfolio(
    request: Mapping[str, object] | PortfolioRequest,
    catalog: Catalog,
    *,
    today: dt.date | None = None,
    work: WorkMeter | None = None,
) -> PortfolioAnswer:
    """What to own, commit to and rent for all projects of `request`, and what each pays.

    Raises `InvalidInput` with every field refused. `today` dates ages and the default start.
    `work` bounds what the answer may take: searches that would take more end early with the gap
    that is proven; a request that leaves no room for a first plan raises `TooMuchWork`.
    """
    preparation = PortfolioPreparation(
        read_portfolio(request), catalog, today or dt.datetime.now(dt.UTC).date()
    )
    preparation.check()
    meter = work or WorkMeter(DEFAULT_WORK_UNITS)
    try:
        return build_answer(PortfolioResults(preparation, meter))
    except WorkSpentError:
        raise TooMuchWork(
            "projects",
            f"{len(preparation.projects)} projects over {preparation.request.horizon_months} "
            "months take more work than is allowed here; ask for fewer projects or months, for "
            "shares by use, or in a job",
        ) from None
