"""Every page of a team and how it is called: one row for each address and method."""

from __future__ import annotations

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
UNSEEN: dict[str, tuple[str, ...]] = {
    "person": (),
    "writer": (),
    "operator": (),
    "token": ("viewer", "approver", "stranger", "operator"),
}
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
        return f"{self.method} {self.name}"

    def address(self, world: World, **instead: Any) -> str:
        values = {name: world.ids.get(kept, kept) for name, kept in self.ids.items()}
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
    return {"name": "Kept", "project": "new:beta", "new_project": "P", "kind": "comparison"}


WORK = "?workload.kind=accelerator_hours&workload.accelerator=H100&workload.hours_per_month=100"

PAGES = (
    Page("team", "person", in_team=False),
    Page("team-new", "person", in_team=False),
    _post("team-new", "person", in_team=False, data=lambda w: NAMED),
    Page("dashboard", "view"),
    Page("portfolio", "view", query="?plan=1"),
    _post("portfolio-save", "edit", data=lambda w: {"name": "All"}),
    Page("project-new", "edit"),
    _post("project-new", "edit", data=lambda w: {**EDITED, "name": "Another"}),
    Page("project", "view", ids=PROJECT),
    Page("project-completion", "view", ids=PROJECT),
    Page("project-edit", "edit", ids=PROJECT),
    _post("project-edit", "edit", ids=PROJECT, data=lambda w: EDITED),
    _post("project-archive", "edit", ids=PROJECT),
    _post("project-delete", "edit", ids={"pk": "empty_project"}),
    _post("project-save", "edit", ids=PROJECT, data=lambda w: {"name": "Kept"}),
    _post("project-upload", "edit", ids=PROJECT, data=_file),
    _post("upload-delete", "edit", ids={**PROJECT, "upload": "upload"}),
    _post("alert-acknowledge", "edit", ids={"pk": "alert"}),
    Page("team-settings", "view"),
    _post("team-settings", "own", data=lambda w: NAMED),
    Page("team-prices", "view"),
    _post("team-prices", "own", data=lambda w: {"finance.tax_rate~pct": "20"}),
    Page("team-members", "view"),
    _post("team-members", "own", data=lambda w: {"role": "viewer", "days": "3"}),
    _post("member-role", "own", ids={"pk": "member"}, data=lambda w: {"role": "editor"}),
    _post("member-remove", "leave", ids={"pk": "member"}),
    _post("invitation-revoke", "own", ids={"pk": "invitation"}),
    Page("team-servers", "view"),
    _post("team-servers", "edit", data=lambda w: QUOTE),
    Page("quote", "edit", ids={"pk": "quote"}),
    _post("quote", "edit", ids={"pk": "quote"}, data=lambda w: QUOTE),
    _post("quote-remove", "edit", ids={"pk": "quote"}),
    Page("team-tokens", "view"),
    _post("team-tokens", "view", data=lambda w: {
        "name": "T", "kind": "personal", "scopes": ["read"], "days": "3"}),
    _post("token-revoke", "token", ids={"pk": "token"}),
    Page("team-alerts", "view"),
    _post("team-alerts", "own", data=lambda w: {
        "url": "jsons://hooks.test/c", "events": ["project.price_moved"]}),
    _post("alert-target-test", "own", ids={"pk": "webhook"}),
    _post("alert-target-remove", "own", ids={"pk": "webhook"}),
    Page("team-audit", "view"),
    Page("team-delete", "own"),
    _post("team-delete", "own", data=_without_jobs),
    Page("account", "person", in_team=False),
    Page("save", "writer", in_team=False, query=WORK),
    _post("save", NOBODY, in_team=False, query=WORK, data=_saves),
    Page("comparison", "view", in_team=False, ids={"pk": "draft"}),
    Page("comparison-since", "view", in_team=False, ids={"pk": "draft"}),
    Page("comparison-pack", "view", in_team=False, ids={"pk": "draft"}),
    _post("comparison-edit", "edit", in_team=False, ids={"pk": "draft"}, data=lambda w: NAMED),
    _post("comparison-submit", "edit", in_team=False, ids={"pk": "draft"}),
    _post("comparison-send-back", "edit", in_team=False, ids={"pk": "submitted"}),
    _post("comparison-approve", "approve", in_team=False, ids={"pk": "submitted"}),
    _post("comparison-delete", "edit", in_team=False, ids={"pk": "draft"}),
    Page("comparison-export", "view", in_team=False, ids={"pk": "draft", "form": "csv"}),
    Page("saved-portfolio", "view", in_team=False, ids={"pk": "portfolio"}),
    _post("saved-portfolio-approve", "approve", in_team=False, ids={"pk": "portfolio"}),
    _post("saved-portfolio-delete", "edit", in_team=False, ids={"pk": "portfolio"}),
    Page("saved-portfolio-export", "view", in_team=False,
         ids={"pk": "portfolio", "form": "csv"}),
    Page("job", "view", in_team=False, ids={"pk": "job"}),
    _post("job-cancel", "edit", in_team=False, ids={"pk": "job"}),
    Page("operator", "operator", in_team=False),
    _post("operator-refresh", "operator", in_team=False, data=lambda w: {"providers": ["aws"]}),
    _post("quarantined-prices", "operator", in_team=False,
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
