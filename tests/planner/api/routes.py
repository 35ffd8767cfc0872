"""Every route and method of the API: how it is called, and who may.

One row per operation. `needs` names a column of EXPECTED; `stranger` is what the owner of
another team gets, who has signed in but is no member.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.planner.api.world import SERVER, World
from tests.planner.workspace import REQUEST

PORTFOLIO = {
    "start": REQUEST["start"],
    "horizon_months": REQUEST["horizon_months"],
    "projects": [{"name": "A", "workload": REQUEST["workload"]}],
}

PRINCIPALS = (
    "anonymous",
    "viewer",
    "editor",
    "approver",
    "owner",
    "stranger",
    "token-read",
    "token-write",
    "token-approve",
    "token-refresh",
)
OK = 0
"""Stands for the operation's own success."""
EXPECTED: dict[str, tuple[int, ...]] = {
    # anonymous, viewer, editor, approver, owner, -, read, write, approve, refresh
    "market": (OK, OK, OK, OK, OK, OK, OK, 403, 403, 403),
    "anyone": (401, OK, OK, OK, OK, OK, OK, OK, OK, OK),
    "view": (401, OK, OK, OK, OK, OK, OK, 403, 403, 403),
    "edit": (401, 403, OK, OK, OK, OK, 403, OK, 403, 403),
    "approve": (401, 403, 403, OK, OK, OK, 403, 403, OK, 403),
    "own": (401, 403, 403, 403, OK, OK, 403, OK, 403, 403),
    "refresh": (401, 403, 403, 403, 403, 403, 403, 403, 403, OK),
}


@dataclass(frozen=True)
class Operation:
    """One method of one route, called in a way that succeeds for whoever may."""

    route: str
    method: str
    needs: str
    ok: int = 200
    stranger: int | None = None
    """None: like anyone; 404, 400 or 200 (without our things) otherwise."""
    where: dict[str, str] | None = None
    """Keyword of the address → key of World.ids, or a literal after '='."""
    body: Callable[[World], Any] | None = None
    content_type: str = "application/json"

    def __str__(self) -> str:
        return f"{self.method} {self.route}"

    def expected(self, principal: str) -> int:
        if principal == "stranger" and self.stranger is not None:
            return self.stranger
        status = EXPECTED[self.needs][PRINCIPALS.index(principal)]
        return self.ok if status == OK else status

    def address(self, world: World, **instead: Any) -> str:
        keys = {}
        for name, key in (self.where or {}).items():
            keys[name] = key[1:] if key.startswith("=") else world.ids[key]
        return reverse(f"{self.route}", kwargs=keys | instead)

    def call(self, world: World, principal: str, **instead: Any) -> Any:
        client = world.clients[principal]
        address = self.address(world, **instead)
        send = getattr(client, self.method)
        if self.method == "get":
            return send(address)
        body = self.body(world) if self.body else None
        if self.content_type != "application/json":
            return send(address, body, content_type=self.content_type)
        return send(address, body, format="json")


def op(route: str, method: str, needs: str, ok: int = 200, **more: Any) -> Operation:
    prefix = "" if route in MARKET else "api:"
    return Operation(prefix + route, method, needs, ok, **more)


MARKET = {
    "offers",
    "price-history",
    "accelerators",
    "accelerator",
    "revisions",
    "revision",
    "refresh-runs",
    "freshness",
    "catalog",
    "coverage",
    "exchange-rates",
    "regions",
}
ALPHA = {"team": "=alpha"}


def body(value: Any) -> Callable[[World], Any]:
    return lambda world: value


def nested(key: str) -> dict[str, str]:
    return {**ALPHA, "pk": key}


def crud(name: str, key: str, needs: str = "edit", **bodies: Any) -> Iterator[Operation]:
    """List, read, create, edit and delete under /teams/alpha/."""
    reads = bodies.pop("reads", "view")
    yield op(f"{name}-list", "get", reads, where=ALPHA, stranger=404)
    if bodies.pop("detail", True):
        yield op(f"{name}-detail", "get", reads, where=nested(key), stranger=404)
    if "post" in bodies:
        yield op(f"{name}-list", "post", needs, 201, where=ALPHA, stranger=404,
                 body=body(bodies["post"]))  # fmt: skip
    if "patch" in bodies:
        yield op(f"{name}-detail", "patch", needs, where=nested(key), stranger=404,
                 body=body(bodies["patch"]))  # fmt: skip
    if bodies.get("delete", True):
        yield op(f"{name}-detail", "delete", needs, 204, where=nested(key), stranger=404)


def flat(name: str, key: str, **bodies: Any) -> Iterator[Operation]:
    """List, read, create, edit and delete of things found by their id alone."""
    yield op(f"{name}-list", "get", "view", stranger=200)
    yield op(f"{name}-detail", "get", "view", where={"pk": key}, stranger=404)
    if "post" in bodies:
        yield op(f"{name}-list", "post", "edit", 201, stranger=400, body=bodies["post"])
        yield op(f"{name}-detail", "patch", "edit", where={"pk": key}, stranger=404,
                 body=body(bodies["patch"]))  # fmt: skip
        gone = {"pk": bodies.get("gone", key)}
        yield op(f"{name}-detail", "delete", "edit", 204, where=gone, stranger=404)


def act(route: str, method: str, needs: str, key: str, ok: int = 200, **more: Any) -> Operation:
    return op(route, method, needs, ok, where={"pk": key}, stranger=404, **more)


def of_project(world: World) -> dict[str, Any]:
    return {"project": str(world.ids["project"]), "name": "Another"}


OPERATIONS = (
    *(op(name, "get", "market") for name in sorted(MARKET - {"price-history", "accelerator",
                                                             "revision"})),
    op("price-history", "get", "market", 400),
    op("accelerator", "get", "market", where={"name": "=nvidia-h100-80gb-sxm"}),
    op("revision", "get", "market", where={"provider": "=aws", "number": "=1"}),
    op("comparisons", "post", "market", body=body(REQUEST)),
    op("portfolios", "post", "market", body=body(PORTFOLIO)),
    op("estimates", "post", "market", body=body({"workload": REQUEST["workload"]})),
    op("usage", "post", "market", content_type="text/csv",
       body=body(b"month,accelerator_hours\n2026-01,100\n")),
    op("schema", "get", "market"),
    op("docs", "get", "market"),
    op("root", "get", "market"),
    op("me", "get", "anyone"),
    op("refreshes", "post", "refresh", 202, body=body({"providers": []})),
    op("team-list", "get", "view"),
    op("team-detail", "get", "view", where={"slug": "=alpha"}, stranger=404),
    op("team-detail", "patch", "own", where={"slug": "=alpha"}, stranger=404,
       body=body({"name": "Alpha 2"})),
    op("team-focus", "get", "view", where={"slug": "=alpha"}, stranger=404),
    *crud("server-quote", "quote", post={"slug": "other", "label": "Other", "server": SERVER},
          patch={"supplier": "ACME"}),
    *crud("audit-entry", "audit", detail=False, delete=False),
    *crud("webhook", "webhook", "own", reads="own", detail=False,
          post={"url": "jsons://hooks.test/b", "events": ["project.budget_overrun"]}),
    op("webhook-test", "post", "own", 202, where=nested("webhook"), stranger=404),
    *flat("project", "project", post=body({"team": "alpha", "name": "B"}),
          patch={"description": "More"}, gone="empty_project"),
    act("project-variance", "get", "view", "project"),
    op("actuals-list", "get", "view", where={"project": "project"}, stranger=404),
    op("actuals-list", "post", "edit", 201, where={"project": "project"}, stranger=404,
       content_type="text/csv", body=body(b"month,cost\n2027-02,1.50\n")),
    op("actuals-detail", "delete", "edit", 204, stranger=404,
       where={"project": "project", "pk": "upload"}),
    *flat("saved-comparison", "draft", post=of_project, patch={"note": "Why"}),
    act("saved-comparison-submit", "post", "edit", "draft"),
    act("saved-comparison-send-back", "post", "edit", "submitted",
        body=body({"reason": "Too dear."})),
    act("saved-comparison-approve", "post", "approve", "submitted"),
    act("saved-comparison-reprice", "post", "view", "draft"),
    op("saved-comparison-export", "get", "view", stranger=404,
       where={"pk": "draft", "form": "=csv"}),
    op("saved-portfolio-list", "get", "view", stranger=200),
    op("saved-portfolio-list", "post", "edit", 201, stranger=400,
       body=body({"team": "alpha", "name": "All", "request": PORTFOLIO})),
    act("saved-portfolio-detail", "get", "view", "portfolio"),
    act("saved-portfolio-detail", "delete", "edit", "portfolio", 204),
    act("saved-portfolio-approve", "post", "approve", "portfolio"),
    op("saved-portfolio-export", "get", "view", stranger=404,
       where={"pk": "portfolio", "form": "=csv"}),
    *flat("job", "job"),
    op("sweep-list", "post", "edit", 202, stranger=202, body=body({"requests": [REQUEST]})),
    act("sweep-rows", "get", "view", "sweep"),
    act("job-cancel", "post", "edit", "job"),
    op("alert-list", "get", "view", stranger=200),
    act("alert-acknowledge", "post", "edit", "alert"),
)  # fmt: skip


def routes_of_the_api() -> set[tuple[str, str]]:
    """Every (route name, method) that answers under /api/v1/."""
    return {
        (f"{namespace}{pattern.name}", method)
        for path, namespace, pattern in _walk(get_resolver().url_patterns)
        if path.startswith("api/v1/") and pattern.name != "missing"
        for method in _methods(pattern)
    }


def _walk(
    patterns: list[Any], prefix: str = "", namespace: str = ""
) -> Iterator[tuple[str, str, URLPattern]]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from _walk(pattern.url_patterns, path, inner)
        else:
            yield path, namespace, pattern


def _methods(pattern: URLPattern) -> set[str]:
    view: Any = pattern.callback
    if actions := getattr(view, "actions", None):
        return set(actions) - {"head"}
    known = getattr(view, "cls", None) or view.view_class
    return {m for m in ("get", "post", "put", "patch", "delete") if hasattr(known, m)}
