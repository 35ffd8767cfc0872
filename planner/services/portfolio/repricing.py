"""A portfolio that is kept, at other prices: what that changes for the plan and each share."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.utils import timezone

from planner.comparison_steps.work_limits import TooMuchWork
from planner.contract.answer.portfolio import (
    PortfolioAnswer,
    PortfolioChange,
    PortfolioRepricing,
)
from planner.models import Job, SavedPortfolio
from planner.services.jobs.jobs import Progress
from planner.services.portfolio.portfolios import plan_again, shares_as_kept
from planner.services.work_budget import current_budget
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

_BY_ADDED = ("shapley", "shapley_sampled")
"""Shares by what each project adds to the others."""


def reprice_portfolio(
    saved: SavedPortfolio, catalog: Catalog | None = None
) -> tuple[PortfolioAnswer, list[PortfolioChange]]:
    """The same request at today's prices, or at those of `catalog`, and what that changes: the
    plan's totals, then each project's share, divided as in what is kept. Raises `TooMuchWork`
    where that takes more than is allowed here; a job leaves the shares open then."""
    before, market = saved.read_answer(), catalogs.current() if catalog is None else catalog
    answer = plan_again(saved, market, shares_as_kept(before))
    lacks_shares = before.shares_method in _BY_ADDED and answer.shares_method == "use"
    budget = current_budget()
    if lacks_shares and not budget.is_job:
        message = "take more work than is allowed here, divided as in the plan that is kept."
        raise TooMuchWork("shares", f"{message} {budget.hint}".strip())
    changes = [
        _change(figure, "", getattr(before, figure), getattr(answer, figure))
        for figure in ("net_present_cost", "total_cost", "saving")
    ]
    for one in before.projects:
        now = None if lacks_shares else answer.project(one.name)
        changes.append(_change("share", one.name, one.share, None if now is None else now.share))
    return answer, changes


def _change(
    figure: str, project: str, before: Decimal | None, after: Decimal | None
) -> PortfolioChange:
    difference = None if before is None or after is None else after - before
    return PortfolioChange(
        figure=figure, project=project, before=before, after=after, difference=difference
    )


def store_repricing(saved: SavedPortfolio, catalog: Catalog | None = None) -> None:
    """Reprices a plan and writes what that changes beside it. The plan itself stays as it is, its
    version too, so that a page that somebody has open can still be sent."""
    _, changes = reprice_portfolio(saved, catalog)
    _write(saved, changes)


def _write(saved: SavedPortfolio, changes: Iterable[PortfolioChange]) -> None:
    repriced = PortfolioRepricing(on=timezone.now().date(), changes=tuple(changes)).model_dump(
        mode="json"
    )
    SavedPortfolio.objects.filter(pk=saved.pk).update(repriced=repriced)
    saved.repriced = repriced


def reprice_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Reprices a plan in the background. The result, which every member can read, names the plan
    alone: its page shows to each what they may see."""
    saved = SavedPortfolio.objects.filter(
        pk=job.arguments["saved_portfolio"], team=job.team
    ).first()
    if saved is None:
        raise InvalidInput("saved_portfolio", "was deleted before it could be repriced")
    progress.step(0, None, f"Repricing {saved.name}"[:200])
    store_repricing(saved)
    return {"saved_portfolio": str(saved.pk)}
