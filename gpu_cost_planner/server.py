"""The prices of a running planner: its catalog by address and token, computed with here."""

from __future__ import annotations

import os
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from gpu_cost_planner.planning import bundled_catalog
from pricing.common.invalid_input import InvalidInput

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pricing.market.snapshot import Catalog

PATH = "/api/v1/catalog/"
TIMEOUT_S = 60.0
_HINTS = {
    HTTPStatus.UNAUTHORIZED: "give a token with the scope `read` (Team → Settings)",
    HTTPStatus.FORBIDDEN: "give a token with the scope `read` (Team → Settings)",
    HTTPStatus.NOT_FOUND: "check the address; the planner there may be an older version",
    HTTPStatus.TOO_MANY_REQUESTS: "wait a minute, and keep the catalog between calls",
}


def server_catalog(url: str, token: str = "", *, timeout_s: float = TIMEOUT_S) -> Catalog:
    """The catalog in force on the server at `url`, for `catalog=` of every call.

    `token` is needed where the server asks for signing in. The team's own rates are not in it:
    put them into the request. Raises `InvalidInput` on `catalog` with what can be done.

    >>> server_catalog("planner.example")
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: catalog: 'planner.example' is no address; it begins
        with https:// or http://
    """
    import httpx

    if not url.startswith(("https://", "http://")):
        raise InvalidInput("catalog", f"{url!r} is no address; it begins with https:// or http://")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        response = httpx.get(f"{url.rstrip('/')}{PATH}", headers=headers, timeout=timeout_s)
    except httpx.HTTPError as error:
        raise InvalidInput("catalog", f"{url} cannot be reached: {error}") from None
    from pricing.market.offer_rows import from_document

    if response.status_code != HTTPStatus.OK:
        status = HTTPStatus(response.status_code)
        hint = _HINTS.get(status, "see the server's log")
        raise InvalidInput("catalog", f"{url} answers {status.value} ({status.phrase}); {hint}")
    try:
        document: Any = response.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise InvalidInput("catalog", f"{url}{PATH} is no catalog; check the address")
    return from_document(document)


TOKEN = "GPU_COST_PLANNER_TOKEN"  # noqa: S105 - the name of the variable that holds it


def add_server(parser: ArgumentParser) -> None:
    """The option that names where prices come from."""
    parser.add_argument(
        "--server",
        metavar="URL",
        help=f"prices of a running planner instead of the bundled ones; its token in {TOKEN}",
    )


def load_catalog(options: Namespace) -> Catalog:
    """The bundled prices, or those of the server that the options name."""
    if options.server:
        return server_catalog(options.server, os.environ.get(TOKEN, ""))
    return bundled_catalog()
