"""The watch of joint plans: the approved plan of a team is priced again as projects are."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from planner.contract.answer.portfolio import PortfolioAnswer
from planner.models import Alert, AlertKind, SavedPortfolio
from planner.services.alerts.alerts import (
    NO_ROOM,
    AlertSubject,
    Finding,
    create_alerts,
    find_move,
    last_total,
    list_causes,
)
from planner.services.portfolio.portfolios import plan_again
from planner.services.portfolio.repricing import store_repricing
from planner.services.projects.reprice import list_price_moves
from planner.services.work_budget import current_budget
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput

_TOTALS_ALONE = {"shares": "use", "what_if": False}
"""What a plan of which only the total is read leaves out: the plans of groups."""


def watch_portfolio(saved: SavedPortfolio) -> list[Alert]:
    """Alerts of a joint plan at today's prices; the same prices never alert twice. Where there is
    one, the shares are worked out too and stay with the plan."""
    before = saved.read_answer()
    subject = AlertSubject(saved.team_id, before.currency, portfolio=saved)
    catalog = catalogs.current()
    try:
        now = plan_again(saved, catalog, _TOTALS_ALONE)
    except InvalidInput as refusal:
        return create_alerts(subject, [Finding(AlertKind.NOT_FEASIBLE, str(refusal))])
    findings = list(_find_problems(saved, before, now, last_total(subject)))
    revisions = {row.provider: row.revision for row in before.catalog}
    moves = list(list_price_moves(set(before.offers), revisions, catalog)) if findings else []
    alerts = create_alerts(subject, findings, list_causes(before.offers, moves))
    if alerts:
        current_budget().renew()
        store_repricing(saved, catalog)
    return alerts


def _find_problems(
    saved: SavedPortfolio, before: PortfolioAnswer, now: PortfolioAnswer, last: Decimal | None
) -> Iterator[Finding]:
    """Projects that were served and are not, else a move of the total: that of a plan for fewer
    projects is no move of prices."""
    served, serves = _served(before), _served(now)
    if served and not serves:
        yield Finding(AlertKind.NOT_FEASIBLE, "No plan serves any project at today's prices.")
        return
    for name in sorted(served - serves):
        message = f"{name}{NO_ROOM} the budgets and quotas of the plan at today's prices."
        yield Finding(AlertKind.NOT_FEASIBLE, message)
    if served == serves and now.total_cost is not None:
        threshold = saved.watch_threshold
        yield from find_move("joint plan", before.total_cost, last, now.total_cost, threshold)


def _served(answer: PortfolioAnswer) -> set[str]:
    return {one.name for one in answer.projects if not one.waits} if answer.feasible else set()
