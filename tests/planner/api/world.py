"""Two teams with one of everything that a team can keep, and everybody who may call."""

import io
from dataclasses import dataclass, field
from typing import Any

from rest_framework.test import APIClient

from planner.models import (
    Access,
    Alert,
    ApiToken,
    AuditEntry,
    Job,
    Membership,
    Role,
    Scope,
    WebhookDelivery,
)
from planner.services.actuals import actuals
from planner.services.projects import projects
from planner.services.teams import teams
from planner.services.webhooks import webhooks
from tests.planner.workspace import ROLES, Workspace, market

SERVER = {"server": "custom", "unit_price": 250_000, "accelerator": "H100", "accelerator_count": 8,
          "power_kw": 10}  # fmt: skip


@dataclass
class World:
    """The team alpha, whose things are called for, and beta, whose owner is a stranger."""

    alpha: Workspace = field(init=False)
    beta: Workspace = field(init=False)
    clients: dict[str, APIClient] = field(default_factory=dict)
    ids: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        market()
        self.alpha, self.beta = Workspace("alpha"), Workspace("beta")
        self._fill(self.alpha, self.ids)
        self._let_in()

    def _fill(self, work: Workspace, ids: dict[str, Any]) -> None:
        owner = work.access()
        project = work.project()
        ids["project"] = project.pk
        ids["empty_project"] = work.project(name="Empty").pk
        ids["draft"] = work.saved(project).pk
        submitted = work.saved(project)
        ids["submitted"] = projects.submit(owner, submitted).pk
        stream = io.BytesIO(b"month,cost,hours\n2027-01,31000.50,500\n")
        ids["upload"] = actuals.load_actuals(owner, project, stream).pk
        quote = {"slug": "own-dgx", "label": "Own DGX", "server": SERVER}
        ids["quote"] = teams.add_quote(owner, work.team, quote).pk
        ids["invitation"] = teams.invite(owner, work.team, Role.EDITOR)[0].pk
        endpoint = webhooks.add_endpoint(
            owner, work.team, {"url": "jsons://hooks.test/a", "events": ["project.price_moved"]}
        )
        ids["webhook"] = endpoint.pk
        WebhookDelivery.objects.create(
            team=work.team, endpoint=endpoint, event="test", payload={}, state="failed"
        )
        ids["portfolio"] = work.portfolio(shown_to_all=True).pk
        ids["alert"] = Alert.objects.create(
            team=work.team, project=project, kind="price_move", message="It moved.", currency="USD"
        ).pk
        given = {"requests": [{}], "variations": None}
        sweep = Job.objects.create(
            team=work.team, kind="sweep", state="running", total=1, arguments=given
        )
        chunk = {"start": 0, "stop": 1}
        Job.objects.create(team=work.team, kind="sweep_chunk", parent=sweep, arguments=chunk)
        ids["sweep"] = sweep.pk
        ids["job"] = Job.objects.create(team=work.team, kind="comparison").pk
        ids["token"] = self._token(work.access(Role.EDITOR), work).pk
        ids["member"] = Membership.objects.get(team=work.team, role=Role.VIEWER).pk
        ids["audit"] = AuditEntry.objects.filter(team=work.team).first().pk

    def _token(self, access: Access, work: Workspace) -> ApiToken:
        token, _ = teams.create_token(access, work.team, name="mine", scopes=[Scope.READ], days=30)
        return token

    def _let_in(self) -> None:
        self.clients["anonymous"] = APIClient()
        for role in ROLES:
            self.clients[role.value] = self._session(self.alpha.users[role])
        self.clients["stranger"] = self._session(self.beta.users[Role.OWNER])
        for scope in Scope:
            client = APIClient()
            client.credentials(HTTP_AUTHORIZATION=f"Bearer {self.alpha.token(scope)}")
            self.clients[f"token-{scope.value}"] = client

    def _session(self, user: Any) -> APIClient:
        client = APIClient()
        client.force_login(user)
        return client
