"""A simulation that runs as a job, and who may look at what came of it."""

from __future__ import annotations

import pytest
from django.urls import reverse

from planner.models import Job, Membership, Role
from planner.services.teams import teams
from tests.planner.workspace import Workspace

PLAN = (
    "workload.kind=accelerator_hours&workload.accelerator=nvidia-h100-80gb-sxm"
    "&workload.hours_per_month=4000&horizon_months=6&risk.samples=600"
)


@pytest.mark.parametrize("leaves", [False, True])
def test_who_left_the_team_sees_nothing_of_its_prices(
    client, work: Workspace, leaves: bool
) -> None:
    """The answer holds the team's own prices, and the address of the job is still in the visit."""
    client.force_login(work.users[Role.VIEWER])
    client.get(reverse("dashboard", args=["alpha"]))
    client.post(reverse("samples-start"), {"plan": PLAN})
    job = Job.objects.get()
    assert job.team == work.team
    if leaves:
        member = Membership.objects.get(team=work.team, role=Role.VIEWER)
        teams.remove_member(work.access(), member)
    shown = client.get(reverse("samples", args=[job.pk]))
    assert shown.status_code == (404 if leaves else 200)
