"""A team that grows: one more of everything that lists and pages show."""

from typing import Any

from planner.models import Job, Project, Role, WebhookEndpoint
from planner.services.teams import teams
from planner.services.webhooks import webhooks
from pricing.models import QuarantinedPart, RefreshRun
from tests.planner.api.world import SERVER
from tests.planner.workspace import Workspace, person


def grow(work: Workspace, name: str) -> dict[str, Any]:
    """One more of everything that the team has; the ids of its project and webhook."""
    owner = work.access()
    project = work.project(name=name)
    work.portfolio()
    Job.objects.create(team=work.team, kind="comparison")
    member = person(name)
    member.memberships.create(team=work.team, role=Role.VIEWER)
    teams.invite(owner, work.team, Role.VIEWER)
    teams.create_token(owner, work.team, name=name, scopes=["read"], days=3)
    teams.add_quote(owner, work.team, {"slug": name, "label": name, "server": SERVER})
    hook = webhooks.add_endpoint(
        owner, work.team, {"url": "jsons://a.example.com/", "events": ["project.price_moved"]}
    )
    grow_within(work, project, hook, name)
    return {"project": project.pk, "webhook": hook.pk}


def grow_within(work: Workspace, project: Project, hook: WebhookEndpoint, name: str) -> None:
    """One more of everything that a project and a webhook have."""
    work.saved(project)
    project.alerts.create(team=work.team, kind="price_move", message=name, currency="USD")
    project.uploads.create(
        team=work.team, format="csv", rows=1, digest=name, currency="USD",
        uploaded_by=work.users[Role.OWNER],
    )  # fmt: skip
    hook.deliveries.create(team=work.team, event="test", payload={}, state="failed")


def grow_refreshes(name: str) -> None:
    """One more failed run and quarantined part of AWS."""
    RefreshRun.objects.create(provider="aws", outcome="failed", message=name)
    QuarantinedPart.objects.create(
        provider="aws", purchase_option="spot", reason=name, offer_count=1, digest=name, payload=b""
    )
