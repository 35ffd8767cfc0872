"""Sentences of the team's pages that depend on the state of what they describe."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from allauth.account.adapter import get_adapter
from django import template
from django.template import Context
from django.urls import reverse

from planner import models
from planner.contract.amounts import name_day
from planner.contract.labels import category_title
from planner.services.alerts.alerts import (
    PriceListChange,
    ToApprove,
    budget_over_horizon,
    comparable_budget,
    excess_over_budget,
)
from planner.services.projects.projects import project_currency
from planner.web.common.choices import server_title, value_words
from planner.web.common.formatting import money, words
from planner.web.common.views import get_access, my_teams
from planner.web.team.forms import SendBackForm

register = template.Library()
register.filter(category_title)
register.filter(server_title)


@register.filter
def job_title(job: models.Job) -> str:
    return value_words("job", job.kind)


@register.filter
def job_state(job: models.Job) -> str:
    """What became of a job; of a refresh that ended, at how many providers it published nothing."""
    if job.kind != "price_refresh" or job.state != models.JobState.SUCCEEDED:
        return str(job.state)
    outcomes = [str(row["outcome"]) for row in (job.result or {}).get("results", [])]
    short = Counter(one for one in outcomes if one != "published")
    if len(outcomes) == 1 and short:
        return outcomes[0]
    return ", ".join(f"{count} {one}" for one, count in short.items()) or str(job.state)


@register.filter
def budget_line(project: models.Project, currency: str) -> str:
    """`Budget 12,000 USD a year`, or that none is set."""
    if not project.budget:
        return "No budget set"
    period = value_words("budget_period", project.budget_period)
    return f"Budget {money(project.budget, currency)} {period}"


def budget_of_project(saved: models.SavedComparison) -> str:
    """What a plan leaves of the budget of its project; empty where there is none, or no plan."""
    project, summary = saved.project, saved.read_summary()
    budget, own = budget_over_horizon(project, saved), project_currency(project)
    if budget is not None and own != summary.currency:
        return f"The budget of {money(project.budget, own)} is in another currency than this plan."
    return headroom_sentence("The plan comes to", summary.total_cost, budget, own)


def headroom_sentence(
    subject: str, cost: Decimal | None, budget: Decimal | None, currency: str
) -> str:
    """What a budget leaves of a cost; empty without either."""
    if budget is None or cost is None:
        return ""
    left = f"{money(abs(budget - cost), currency)} {'left' if budget >= cost else 'over'}"
    limit = f"{money(budget, currency)} for all months"
    return f"{subject} {money(cost, currency)} against a budget of {limit}: {left}."


@register.simple_tag
def over_budget(saved: models.SavedComparison) -> str:
    """By how much a plan is over the budget of its project; empty where it is not."""
    excess = excess_over_budget(saved.project, saved)
    return f"{money(excess, saved.read_summary().currency)} over budget" if excess else ""


@register.filter
def approval_line(row: ToApprove) -> str:
    summary, budget = row.saved.read_summary(), comparable_budget(row.saved.project, row.saved)
    total, currency = summary.total_cost, summary.currency
    parts = ["no feasible plan" if total is None else money(total, currency)]
    if budget is not None and total is not None:
        side = "over" if total > budget else "within"
        parts.append(f"{side} the budget of {money(budget, currency)}")
    if row.replaces is not None:
        before = row.replaces.read_summary()
        parts.append(f"replaces {row.replaces.name} ({money(before.total_cost, before.currency)})")
    return ", ".join(parts)


@register.filter
def history_line(saved: models.SavedComparison) -> str:
    steps: tuple[tuple[str, dt.date | None, object], ...] = (
        ("Answered", saved.answered_on, saved.created_by),
        ("sent back", saved.sent_back_at, saved.sender),
        ("submitted", saved.submitted_at, saved.submitter),
        ("approved", saved.approved_at, saved.approver),
    )
    return " · ".join(
        f"{verb} {name_day(day)}" + (f" by {person}" if person else "")
        for verb, day, person in steps
        if day
    )


@register.filter
def revision_moves(moves: Iterable[PriceListChange]) -> str:
    return ", ".join(f"{move.provider} revision {move.used} → {move.now}" for move in moves)


@register.filter
def audit_action(action: str) -> str:
    thing, _, verb = action.partition(".")
    return f"{value_words('audit', verb).lower()} the {words(thing)}"


_BADGES = {
    "failed": "bg-red-lt",
    models.State.DRAFT: "bg-secondary-lt",
    models.State.SUBMITTED: "bg-azure-lt",
    models.State.APPROVED: "bg-green-lt",
    models.State.SUPERSEDED: "bg-secondary-lt",
    "succeeded": "bg-green-lt",
    "published": "bg-green-lt",
    "quarantined": "bg-orange-lt",
    "interrupted": "bg-orange-lt",
    "running": "bg-azure-lt",
}
TABS = (
    ("projects", "Projects", "dashboard"),
    ("portfolio", "Portfolio", "portfolio"),
    ("prices", "Prices", "team-prices"),
    ("settings", "Settings", "team-settings"),
)


@register.simple_tag(takes_context=True)
def signup_is_open(context: Context) -> bool:
    return bool(get_adapter().is_open_for_signup(context["request"]))


@register.inclusion_tag("team/parts/tabs.html", takes_context=True)
def team_tabs(context: Context, team: models.Team | None, active: str) -> dict[str, Any]:
    request = context["request"]
    access = get_access(request)
    tabs = [
        {"title": title, "url": reverse(name, args=[team.slug]), "active": key == active}
        for key, title, name in TABS
        if team is not None and access.has_role(team.pk, models.Role.VIEWER)
    ]
    return {
        "team": team,
        "teams": my_teams(request),
        "tabs": tabs,
        "role": access.roles.get(team.pk) if team else None,
        "is_operator": access.is_operator,
    }


@register.simple_tag
def send_back_form(
    saved: models.SavedComparison, typed: SendBackForm | None = None
) -> SendBackForm:
    return typed or SendBackForm(auto_id=f"back-{saved.pk}-%s")


@register.filter
def badge(state: str) -> str:
    """The colour of a state, of several the worst."""
    return next((css for name, css in _BADGES.items() if name in state), "bg-secondary-lt")
