"""A workspace to look around in: people of every role, projects, an approved plan, actuals."""

from __future__ import annotations

import csv
import datetime as dt
import io
from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from planner.contract.amounts import add_months, format_month
from planner.models import Access, Project, Role, SavedComparison, Team, access_of
from planner.services.actuals import actuals
from planner.services.actuals.actuals import NODE_HOURS, Machines
from planner.services.actuals.bills import OWN_COLUMNS
from planner.services.projects import projects, saved_comparisons
from planner.services.teams import teams

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
_STEADY = {
    "kind": "accelerator_hours",
    "accelerator": "nvidia-h100-80gb-sxm",
    "hours_per_month": 2400,
}
_QUOTE = {
    "slug": "our-hgx-h100",
    "label": "HGX H100, quoted",
    "server": {
        "server": "custom",
        "unit_price": 265_000,
        "accelerator": "nvidia-h100-80gb-sxm",
        "accelerator_count": 8,
        "power_kw": 10.2,
        "idle_power_kw": 2.6,
    },
    "supplier": "A system house",
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
def make(password: str | None) -> Team:
    """The workspace, all of it or nothing; without a password nobody can sign in yet."""
    people = {role: _person(name, password) for name, role in PEOPLE.items()}
    owner = access_of(people[Role.OWNER])
    team = teams.create_team(owner, NAME, SLUG)
    for role in (Role.APPROVER, Role.EDITOR, Role.VIEWER):
        _, secret = teams.invite(access_of(people[Role.OWNER]), team, role)
        teams.accept(access_of(people[role]), secret)
    access = {role: access_of(person) for role, person in people.items()}
    team = teams.change_settings(access[Role.OWNER], team, _TEAM_RATES)
    teams.add_quote(access[Role.EDITOR], team, _QUOTE)
    _language_model(access, team)
    editor = access[Role.EDITOR]
    values = {
        "name": "Vision research",
        "description": "2,400 hours of H100 every month, some three GPUs around the clock.",
        "workload": _STEADY,
        "assumptions": {"horizon_months": 36},
        "budget": "20000",
        "budget_period": "monthly",
        "watched": True,
    }
    project: Project = projects.create_project(editor, team, values)
    only = {"name": "Rented only", "changes": {"on_prem": {"servers": []}}}
    variant = projects.create_variant(editor, project, only)
    saved_comparisons.save_comparison(editor, project, name="Rented only", variant=variant)
    plan = saved_comparisons.save_comparison(editor, project, name="Own or rent")
    saved_comparisons.submit(editor, plan)
    return team


def set_password(password: str) -> None:
    """The same new password for everybody of the workspace."""
    for person in get_user_model().objects.filter(username__in=PEOPLE):
        person.set_password(password)
        person.save()


def _person(name: str, password: str | None) -> Any:
    users = get_user_model().objects
    person, _ = users.get_or_create(username=name, defaults={"email": f"{name}@example.org"})
    person.set_password(password)  # None makes one that nobody can type.
    person.save()
    return person


def _language_model(access: dict[Role, Access], team: Team) -> None:
    today = timezone.now().date()
    editor = access[Role.EDITOR]
    starts = range(-MONTHS_PAST, 24 - MONTHS_PAST, 6)
    values = {
        "name": "Domain language model",
        "description": "Train a 13B model on our documents, and again every half year.",
        "workload": _TRAINING
        | {"runs": [{"start": _month(today, n), "deadline": _month(today, n + 4)} for n in starts]},
        "assumptions": {
            "start": _month(today, -MONTHS_PAST),
            "horizon_months": 24,
            "constraints": {"max_spot_share": 0.25},
        },
        "budget": "1000000",
        "watched": True,
        "watch_threshold": 0.03,
    }
    project = projects.create_project(editor, team, values)
    europe = {"name": "Only in Europe", "changes": {"constraints": {"geographies": ["europe"]}}}
    projects.create_variant(editor, project, europe)
    spot = {"name": "Without spot", "changes": {"constraints": {"max_spot_share": 0}}}
    projects.create_variant(editor, project, spot)
    plan = saved_comparisons.save_comparison(
        editor, project, name="Plan of record", note="For the board."
    )
    plan = saved_comparisons.submit(editor, plan)
    plan = saved_comparisons.approve(access[Role.APPROVER], plan)
    file = io.BytesIO(_billed(plan).encode())
    actuals.load_actuals(editor, project, file, "billed.csv")


def _billed(plan: SavedComparison) -> str:
    """What the first months were billed at: a little more hours and dearer than planned."""
    file = io.StringIO()
    rows = csv.DictWriter(file, OWN_COLUMNS, lineterminator="\n")
    rows.writeheader()
    answer = plan.read_plan()
    machines = Machines(answer)
    for line in actuals.recommended_lines(answer):
        if line.month < MONTHS_PAST:
            used = 1 + Decimal("0.04") * (line.month + 1)
            hours = machines.planned_hours(line) if line.unit == NODE_HOURS else None
            cost = (line.amount * used * Decimal("1.02")).quantize(actuals.CENT)
            row = line.model_dump(mode="json")
            rows.writerow(
                {name: row.get(name) or "" for name in OWN_COLUMNS}
                | {
                    "month": format_month(answer.month(line.month)),
                    "hours": f"{(hours or 0.0) * float(used):.2f}",
                    "cost": f"{cost:f}",
                }
            )
    rows.writerow({"month": answer.start, "cost": "1250.00", "category": "support"})
    return file.getvalue()


def _month(day: dt.date, months: int) -> str:
    return format_month(add_months(day, months))
