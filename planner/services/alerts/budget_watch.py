"""The budget watch: after each refresh, watched projects and joint plans are priced again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from planner.contract.answer.common import write_decimal
from planner.contract.answer.comparison import (
    summarize_answer,
)
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.models import (
    ActualLine,
    Alert,
    AlertKind,
    BudgetPeriod,
    Job,
    JobState,
    Project,
    SavedComparison,
    SavedPortfolio,
    watched_portfolios,
    watched_projects,
)
from planner.services.alerts.alerts import (
    NO_ROOM,
    PAID,
    WATCHER,
    AlertSubject,
    Finding,
    create_alerts,
    find_move,
    last_total,
    list_causes,
)
from planner.services.jobs import jobs
from planner.services.jobs.jobs import Progress
from planner.services.portfolio.portfolios import plan_again, store_repricing
from planner.services.projects.projects import project_currency
from planner.services.projects.reprice import Repriced, current_plan, list_price_moves, reprice
from planner.services.work_budget import current_budget
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput


def start_watch(**_: object) -> None:
    """Receiver of `revision_published`: one watch, the one that waits where there is one."""
    is_watched = watched_projects().exists() or watched_portfolios().exists()
    waiting = Job.objects.filter(kind="budget_watch", state=JobState.QUEUED)
    if is_watched and not waiting.exists():
        jobs.start(WATCHER, "budget_watch", {}, None)


def watch_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Prices every watched project and joint plan again; says how many alerts that gave."""
    projects = list(watched_projects().select_related("team"))
    portfolios = list(watched_portfolios().select_related("team"))
    total, alerts = len(projects) + len(portfolios), 0
    for index, project in enumerate(projects):
        progress.step(index, total, f"Pricing {project.name}")
        alerts += len(watch_project(project))
    for index, portfolio in enumerate(portfolios, start=len(projects)):
        progress.step(index, total, f"Pricing {portfolio.name}")
        current_budget().renew()
        alerts += len(watch_portfolio(portfolio))
    return {"projects": len(projects), "portfolios": len(portfolios), "alerts": alerts}


def watch_project(project: Project) -> list[Alert]:
    """Alerts of one project at today's prices; the same prices never alert twice.

    The plan is priced in the currency of its own answer, whatever its project's is by now.
    """
    plan = current_plan(project)
    if plan is None:
        return []
    currency = plan.read_summary().currency
    subject = AlertSubject(project.team_id, currency, project=project, plan=plan)
    request = {**plan.given, "currency": currency}
    try:
        repriced = reprice(plan, catalogs.current(), request)
    except InvalidInput as refusal:
        return create_alerts(subject, [Finding(AlertKind.NOT_FEASIBLE, str(refusal))])
    findings = list(_find_problems(project, plan, repriced, last_total(subject)))
    return create_alerts(
        subject, findings, list_causes(plan.read_plan().offers, repriced.prices_moved)
    )


def watch_spending(project: Project) -> list[Alert]:
    """An alert where what was really paid outgrew the budget of a period, watched or not.

    Only what was paid in the currency of the budget is held against it.
    """
    if not project.budget:
        return []
    budget = Decimal(project.budget)
    currency = project_currency(project)
    lines = ActualLine.objects.filter(upload__project=project, upload__currency=currency)
    length = _PERIOD_TEXT[BudgetPeriod(project.budget_period)]
    spent: dict[str, Decimal] = defaultdict(Decimal)
    for month, cost in lines.values_list("month", "cost"):
        spent[month[:length]] += Decimal(cost)
    findings = []
    for period in sorted(spent):
        paid = spent[period].quantize(_CENT)
        if paid > budget:
            when = f" in {period}" if period else ""
            message = f"{PAID}{when} is {paid / budget - 1:.1%} over the budget."
            amounts = f"{budget.quantize(_CENT):f}", f"{paid:f}"
            findings.append(Finding(AlertKind.BUDGET_OVERRUN, message, *amounts))
    return create_alerts(AlertSubject(project.team_id, currency, project=project), findings)


_CENT = Decimal("0.01")
_PERIOD_TEXT = {BudgetPeriod.TOTAL: 0, BudgetPeriod.YEARLY: 4, BudgetPeriod.MONTHLY: 7}
"""Letters of a month (2027-01) that name its budget period."""


def _find_problems(
    project: Project, plan: SavedComparison, repriced: Repriced, last: Decimal | None
) -> Iterator[Finding]:
    then, now = plan.read_summary(), summarize_answer(repriced.answer)
    after = now.total_cost
    if after is None:
        before = "" if then.total_cost is None else write_decimal(then.total_cost)
        yield Finding(AlertKind.NOT_FEASIBLE, "No plan is feasible at today's prices.", before)
        return
    threshold = project.watch_threshold
    yield from find_move("advised plan", then.total_cost, last, after, threshold)
    is_comparable = then.currency == project_currency(project)
    budget = budget_over_horizon(project, plan) if is_comparable else None
    if budget is not None and after > budget:
        message = f"The advised plan is {after / budget - 1:.1%} over the budget."
        rounded = write_decimal(budget.quantize(_CENT))
        yield Finding(AlertKind.BUDGET_OVERRUN, message, rounded, write_decimal(after))


def budget_over_horizon(project: Project, plan: SavedComparison) -> Decimal | None:
    """The project's budget for all months of the plan, in the plan's currency."""
    if not project.budget:
        return None
    months = int(plan.request.get("horizon_months", 36))
    shares = {
        BudgetPeriod.TOTAL: Decimal(1),
        BudgetPeriod.YEARLY: Decimal(months) / 12,
        BudgetPeriod.MONTHLY: Decimal(months),
    }
    return Decimal(project.budget) * shares[BudgetPeriod(project.budget_period)]


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
    findings = list(_portfolio_watch_find_problems(saved, before, now, last_total(subject)))
    revisions = {row.provider: row.revision for row in before.catalog}
    moves = list(list_price_moves(set(before.offers), revisions, catalog)) if findings else []
    alerts = create_alerts(subject, findings, list_causes(before.offers, moves))
    if alerts:
        current_budget().renew()
        store_repricing(saved, catalog)
    return alerts


def _portfolio_watch_find_problems(
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
