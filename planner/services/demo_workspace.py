"""A workspace to look around in: people of every role, a project with plans and actuals."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from planner.contract.amounts import add_months, format_month
from planner.models import Membership, Role, SavedComparison, Team, access_of
from planner.services.actuals import actuals
from planner.services.projects import projects
from planner.services.teams import teams
from pricing import catalog as catalogs

NAME, SLUG = "Demo workspace", "demo-workspace"
PEOPLE = {
    "demo-owner": Role.OWNER,
    "demo-approver": Role.APPROVER,
    "demo-editor": Role.EDITOR,
    "demo-viewer": Role.VIEWER,
}
MONTHS_PAST = 3
"""Months of the approved plan that lie behind us, for which there are actuals."""
_TRAINING = {
    "kind": "training",
    "parameters": 13_000_000_000,
    "tokens": 600_000_000_000,
    "precision": "bf16",
    "sequence_length": 4096,
    "accelerator": "nvidia-h100-80gb-sxm",
    "experiments_factor": 1.5,
}
_TEAM_RATES: dict[str, Any] = {
    "price_adjustments": [
        {"provider": "aws", "family": "p5", "purchase_option": "on_demand", "multiplier": 0.92}
    ],
    "defaults": {
        "on_prem": {"electricity_per_kwh": 0.14, "pue": 1.35},
        "finance": {"discount_rate_per_year": 0.07},
    },
}


def exists() -> bool:
    return bool(Team.objects.filter(slug=SLUG).exists())


@transaction.atomic
def make(password: str) -> Team:
    """The workspace, all of it or nothing."""
    people = {role: _person(name, password) for name, role in PEOPLE.items()}
    team = teams.create_team(access_of(people[Role.OWNER]), NAME, SLUG)
    for role in (Role.APPROVER, Role.EDITOR, Role.VIEWER):
        Membership.objects.create(team=team, user=people[role], role=role)
    owner, approver, editor, _ = (access_of(person) for person in people.values())
    team = teams.change_settings(owner, team, _TEAM_RATES)
    today = timezone.now().date()

    def month(later: int) -> str:
        return format_month(add_months(today, later))

    runs = [
        {"start": month(first), "deadline": month(first + 4)}
        for first in range(-MONTHS_PAST, 24 - MONTHS_PAST, 6)
    ]
    values = {
        "name": "Domain language model",
        "description": "Train a 13B model on our documents, and again every half year.",
        "workload": _TRAINING | {"runs": runs},
        "assumptions": {"start": month(-MONTHS_PAST), "horizon_months": 24},
        "budget": "1000000",
        "watched": True,
    }
    project = projects.create_project(editor, team, values)
    plan, _ = (
        projects.submit(
            editor, projects.save_comparison(editor, project, name=name, pinned=catalogs.current())
        )
        for name in ("Plan of record", "Next year's plan")
    )
    plan = projects.approve(approver, plan)
    actuals.load_actuals(editor, project, io.BytesIO(_billed(plan).encode()), "billed.csv")
    return team


def _person(name: str, password: str) -> Any:
    users = get_user_model().objects
    person, _ = users.get_or_create(username=name, defaults={"email": f"{name}@example.org"})
    person.set_password(password)
    person.save()
    return person


def _billed(plan: SavedComparison) -> str:
    """What the first months were billed at: a little dearer than planned."""
    answer = plan.read_plan()
    rows = ["month,cost,category", f"{answer.start},1250.00,support"]
    for line in actuals.recommended_lines(answer):
        if line.month < MONTHS_PAST:
            cost = (line.amount * Decimal("1.06")).quantize(actuals.CENT)
            rows.append(f"{format_month(answer.month(line.month))},{cost:f},{line.category.value}")
    return "\n".join(rows)
