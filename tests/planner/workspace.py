"""A small market and a team at work in it, for tests of services, exports and the API."""

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model

from planner.models import (
    ALL_SCOPES,
    Access,
    Membership,
    Project,
    Role,
    SavedComparison,
    SavedPortfolio,
    Scope,
    Team,
    access_of,
)
from planner.services.portfolio import portfolios
from planner.services.projects import projects
from planner.services.teams import teams
from pricing.market.offers import Offer
from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish
from tests.planner.costing.market_of import H100, offer

SEEN = dt.date(2026, 11, 1)
WORKLOAD: dict[str, Any] = {
    "kind": "accelerator_hours",
    "accelerator": H100,
    "hours_per_month": 4000,
    "peak_accelerators": 8,
}
"""A whole machine of eight for 500 hours a month."""
PLAIN: dict[str, Any] = {
    "start": "2027-01",
    "horizon_months": 6,
    "sensitivity": False,
    "cheaper_if": False,
}
"""Half a year without the tornado and what would be cheaper, which take most of an answer's time;
a test that looks at them asks for them."""
WHOLE: dict[str, Any] = {"sensitivity": True, "cheaper_if": True}
"""Laid over a request: the tornado and what would be cheaper too."""
REQUEST: dict[str, Any] = PLAIN | {"workload": WORKLOAD}
ROLES = (Role.VIEWER, Role.EDITOR, Role.APPROVER, Role.OWNER)


def market(on_demand: str = "55.04", as_of: dt.date = SEEN, *more: Offer) -> None:
    """Publishes a few AWS prices as the next revision."""
    rows = (
        offer(on_demand, as_of=as_of),
        offer("22.00", "spot", zone="us-east-1a", as_of=as_of),
        offer("34.00", "reserved", term_months=12, payment_option="no_upfront", as_of=as_of),
        offer(
            "0",
            "reserved",
            term_months=12,
            payment_option="all_upfront",
            upfront=Decimal(290_000),
            as_of=as_of,
        ),
        *more,
    )
    done = publish(OfferBatch("aws", rows, as_of=as_of), force=True, today=as_of)
    assert done.outcome == "published", done


def person(name: str, **fields: Any) -> Any:
    return get_user_model().objects.create_user(name, password="pass word 4711", **fields)


@dataclass
class Workspace:
    """One team with a member of each role, and one of everything that it can keep."""

    slug: str
    team: Team = field(init=False)
    users: dict[Role, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.team = Team.objects.create(name=self.slug.title(), slug=self.slug)
        for role in ROLES:
            user = person(f"{role.value}-of-{self.slug}", email=f"{role.value}@{self.slug}.test")
            Membership.objects.create(team=self.team, user=user, role=role)
            self.users[role] = user

    def access(self, role: Role = Role.OWNER) -> Access:
        return access_of(self.users[role])

    def token(self, *scopes: Scope, role: Role = Role.OWNER, service: bool = True) -> str:
        giver = Access(
            user_id=self.users[Role.OWNER].pk,
            roles={self.team.pk: Role.OWNER},
            scopes=ALL_SCOPES,
            is_operator=True,
        )
        _, secret = teams.create_token(
            giver,
            self.team,
            name="-".join(scopes),
            scopes=scopes,
            days=30,
            is_service=service,
            role=role,
        )
        return secret

    def project(self, **values: Any) -> Project:
        plain = {"name": self._free_name(), "workload": WORKLOAD, "assumptions": PLAIN}
        return projects.create_project(self.access(), self.team, {**plain, **values})

    def _free_name(self) -> str:
        """Model A, then Model A 2 and so on."""
        count = Project.objects.filter(team=self.team, name__startswith="Model A").count()
        return f"Model A {count + 1}" if count else "Model A"

    def saved(self, project: Project | None = None, **values: Any) -> SavedComparison:
        project = project or self.project()
        return projects.save_comparison(self.access(), project, name="First plan", **values)

    def portfolio(self, role: Role = Role.OWNER, **values: Any) -> SavedPortfolio:
        plain = {
            "start": PLAIN["start"],
            "horizon_months": PLAIN["horizon_months"],
            "projects": [{"name": "A", "workload": WORKLOAD}],
        }
        fields = {"name": "All projects", "request": plain, **values}
        return portfolios.save_portfolio(self.access(role), self.team, **fields)
