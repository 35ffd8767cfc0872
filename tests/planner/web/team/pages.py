"""Every page of a team and how it is called: one row for each address and method."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import URLPattern, URLResolver, reverse

from planner.models import Job
from planner.web.team import urls
from tests.planner.api.world import World

PRINCIPALS = ("anonymous", "viewer", "editor", "approver", "owner", "stranger", "operator")
NOBODY = "nobody"
REACHES: dict[str, tuple[str, ...]] = {
    "view": ("viewer", "editor", "approver", "owner"),
    "edit": ("editor", "approver", "owner"),
    "approve": ("approver", "owner"),
    "own": ("owner",),
    "person": ("viewer", "editor", "approver", "owner", "stranger", "operator"),
    "writer": ("editor", "approver", "owner", "stranger", "operator"),
    "operator": ("operator",),
    "token": ("editor", "owner"),
    "leave": ("viewer", "owner"),
}
"""Who gets what was asked for."""
UNSEEN: dict[str, tuple[str, ...]] = {"person": (), "writer": (), "operator": ()}
"""Who is told that there is nothing; the strangers, where it is not said."""


@dataclass(frozen=True)
class Page:
    """One address with one method. `ids` names the things in the address, by World.ids."""

    name: str
    need: str
    method: str = "get"
    ids: dict[str, str] = field(default_factory=dict)
    in_team: bool = True
    data: Callable[[World], dict[str, Any]] = lambda world: {}
    refused: int = 403
    """What those get who may see the thing and not do this."""
    query: str = ""

    def __str__(self) -> str:
        action = " ".join(self.ids[one] for one in ("rows", "action") if one in self.ids)
        form = self.query.removeprefix("?form=") if self.method == "post" else ""
        return " ".join(filter(None, (self.method, self.name, form.partition("?")[0], action)))

    def address(self, world: World, **instead: Any) -> str:
        values = {
            name: kept if name in ("rows", "action") else world.ids.get(kept, kept)
            for name, kept in self.ids.items()
        }
        if self.in_team:
            values["slug"] = world.alpha.slug
        return reverse(self.name, kwargs={**values, **instead}) + self.query

    def expected(self, principal: str) -> int:
        """Status class: 2 for done (or a redirect to what was made), 302 to sign in, 403, 404."""
        if principal == "anonymous":
            return 302
        if principal in REACHES[self.need]:
            return 2
        unseen = UNSEEN.get(self.need, ("stranger", "operator"))
        if principal in unseen:
            return 404
        return self.refused


def _post(name: str, need: str, **more: Any) -> Page:
    return Page(name, need, "post", **more)


def _act(rows: str, pk: str, action: str, need: str, **more: Any) -> Page:
    return _post("act", need, ids={"rows": rows, "pk": pk, "action": action}, **more)


PROJECT = {"pk": "project"}
QUOTE = {"label": "B", "slug": "b", "server": "dgx-h100", "unit_price": "300000"}
NAMED = {"name": "Named", "currency": "USD"}
EDITED = {"name": "Model A", "budget_period": "total", "watch_threshold": "5"}


def _without_jobs(world: World) -> dict[str, str]:
    """A team whose job is running stays."""
    Job.objects.filter(team=world.alpha.team, state="running").update(state="cancelled")
    return {"confirm": world.alpha.slug}


def _file(world: World) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("paid.csv", b"month,cost\n2027-02,10\n")}


def _saves(world: World) -> dict[str, Any]:
    return {"name": "Kept", "team": "beta", "project": "P"}


WORK = "?workload.kind=accelerator_hours&workload.accelerator=H100&workload.hours_per_month=100"

PAGES = (
    Page("team", "person", in_team=False),
    Page("team-new", "person", in_team=False),
    _post("team-new", "person", in_team=False, data=lambda w: NAMED),
    Page("dashboard", "view"),
    Page("portfolio", "view", query="?plan=1"),
    _post("portfolio", "edit", query="?form=save", data=lambda w: {"name": "All"}),
    Page("project-new", "edit"),
    _post("project-new", "edit", data=lambda w: {**EDITED, "name": "Another"}),
    Page("project", "view", ids=PROJECT),
    Page("project-completion", "view", ids=PROJECT),
    Page("project-edit", "edit", ids=PROJECT),
    _post("project-edit", "edit", ids=PROJECT, data=lambda w: EDITED),
    _post("project", "edit", ids=PROJECT, query="?form=save", data=lambda w: {"name": "Kept"}),
    _post("project", "edit", ids=PROJECT, query="?form=upload", data=_file),
    _act("projects", "project", "archive", "edit"),
    _act("projects", "project", "unarchive", "edit"),
    _act("projects", "empty_project", "delete", "edit"),
    _act("uploads", "upload", "delete", "edit"),
    _act("alerts", "alert", "acknowledge", "edit"),
    Page("team-settings", "view"),
    _post("team-settings", "own", query="?form=team", data=lambda w: NAMED),
    _post("team-settings", "own", query="?form=members",
          data=lambda w: {"role": "viewer", "days": "3"}),
    _post("team-settings", "view", query="?form=tokens", data=lambda w: {
        "name": "T", "kind": "personal", "scopes": ["read"], "days": "3"}),
    _post("team-settings", "own", query="?form=alerts", data=lambda w: {
        "url": "jsons://hooks.test/c", "events": ["project.price_moved"]}),
    _post("team-settings", "own", query="?form=delete", data=_without_jobs),
    _act("members", "member", "role", "own", data=lambda w: {"role": "editor"}),
    _act("members", "member", "remove", "leave"),
    _act("invitations", "invitation", "revoke", "own"),
    _act("tokens", "token", "revoke", "token"),
    _act("webhooks", "webhook", "test", "own"),
    _act("webhooks", "webhook", "remove", "own"),
    Page("team-prices", "view"),
    _post("team-prices", "own", query="?form=rates", data=lambda w: {"finance.tax_rate~pct": "20"}),
    _post("team-prices", "edit", query="?form=quote", data=lambda w: QUOTE),
    Page("quote", "view", ids={"pk": "quote"}),
    _post("quote", "edit", ids={"pk": "quote"}, query="?form=quote", data=lambda w: QUOTE),
    _act("quotes", "quote", "remove", "edit"),
    Page("account", "person", in_team=False),
    Page("save", "writer", in_team=False, query=WORK),
    _post("save", NOBODY, in_team=False, query=WORK, data=_saves),
    Page("comparison", "view", in_team=False, ids={"pk": "draft"}),
    Page("comparison-since", "view", in_team=False, ids={"pk": "draft"}),
    Page("comparison-pack", "view", in_team=False, ids={"pk": "draft"}),
    _post("comparison", "edit", in_team=False, ids={"pk": "draft"}, query="?form=note",
          data=lambda w: NAMED),
    _post("comparison", "edit", in_team=False, ids={"pk": "submitted"}, query="?form=back"),
    _act("comparisons", "draft", "submit", "edit"),
    _act("comparisons", "submitted", "approve", "approve"),
    _act("comparisons", "draft", "delete", "edit"),
    Page("comparison-export", "view", in_team=False, ids={"pk": "draft", "form": "csv"}),
    Page("saved-portfolio", "view", in_team=False, ids={"pk": "portfolio"}),
    _act("portfolios", "portfolio", "approve", "approve"),
    _act("portfolios", "portfolio", "delete", "edit"),
    Page("saved-portfolio-export", "view", in_team=False,
         ids={"pk": "portfolio", "form": "csv"}),
    Page("job", "view", in_team=False, ids={"pk": "job"}),
    _post("job-cancel", "edit", in_team=False, ids={"pk": "job"}),
    Page("operator", "operator", in_team=False),
    _post("operator", "operator", in_team=False, query="?form=refresh",
          data=lambda w: {"providers": ["aws"]}),
    _post("operator", "operator", in_team=False, query="?form=decide",
          data=lambda w: {"decision": "reject", "part": w.ids["quarantined"]}),
)  # fmt: skip
BY_OTHER_MEANS = {"join"}
"""Reached by holding a secret, not by a role; see test_people.py."""
REACHES[NOBODY] = ()
UNSEEN[NOBODY] = ()


def names_of_all(patterns: Any = urls.urlpatterns) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from names_of_all(pattern.url_patterns)
        elif isinstance(pattern, URLPattern):
            yield str(pattern.name)
