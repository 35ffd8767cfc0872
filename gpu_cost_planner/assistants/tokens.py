"""Who may call over HTTP: the holder of a token that the planner's own server accepts.

The server is asked, so that roles, scopes, expiry and revocation stay its business; what it said
of a token holds for a minute.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

import httpx

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
PATH = "/api/v1/freshness/"
"""Open to every token that may read."""
HOLDS_S = 60.0
MOST_TOKENS = 1000
"""Tokens whose state is remembered."""


class TokenGate:
    """An ASGI application before another: calls without an accepted token are refused."""

    def __init__(self, application: Application, server: str, *, timeout_s: float = 10) -> None:
        self._application = application
        self._url = f"{server.rstrip('/')}{PATH}"
        self._timeout_s = timeout_s
        self._known: dict[str, tuple[float, HTTPStatus]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on, or answer 401, 403 or 502 with what is wrong."""
        if scope["type"] == "http":
            status = await self._check(_read_token(scope))
            if status != HTTPStatus.OK:
                await _refuse(status, send)
                return
        await self._application(scope, receive, send)

    async def _check(self, token: str) -> HTTPStatus:
        if not token:
            return HTTPStatus.UNAUTHORIZED
        key = hashlib.sha256(token.encode()).hexdigest()
        checked, status = self._known.get(key, (float("-inf"), HTTPStatus.UNAUTHORIZED))
        if time.monotonic() - checked < HOLDS_S:
            return status
        status = await self._ask(token)
        if status != HTTPStatus.BAD_GATEWAY:
            while len(self._known) >= MOST_TOKENS:
                self._known.pop(next(iter(self._known)))
            self._known[key] = (time.monotonic(), status)
        return status

    async def _ask(self, token: str) -> HTTPStatus:
        """What the server says of a token: OK, UNAUTHORIZED, FORBIDDEN; else BAD_GATEWAY."""
        headers = {"Authorization": f"Bearer {token}"}
        try:
            async with httpx.AsyncClient(timeout=self._timeout_s) as client:
                code = (await client.get(self._url, headers=headers)).status_code
        except (httpx.HTTPError, UnicodeEncodeError):
            return HTTPStatus.BAD_GATEWAY
        settled = (HTTPStatus.OK, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
        return HTTPStatus(code) if code in settled else HTTPStatus.BAD_GATEWAY


_WORDS = {
    HTTPStatus.UNAUTHORIZED: "Send Authorization: Bearer with a token of the planner "
    "(Team → Tokens); this one is absent, unknown, expired or revoked.",
    HTTPStatus.FORBIDDEN: "The token needs the scope read.",
    HTTPStatus.BAD_GATEWAY: "The planner's server cannot be asked about the token; try again.",
}


def _read_token(scope: Scope) -> str:
    """The bearer token of a call; empty where it has none."""
    for name, value in scope["headers"]:
        if name.lower() == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            return token.strip() if scheme.lower() == "bearer" else ""
    return ""


async def _refuse(status: HTTPStatus, send: Send) -> None:
    body = json.dumps({"status": status.value, "title": status.phrase, "detail": _WORDS[status]})
    headers = [(b"content-type", b"application/problem+json")]
    if status == HTTPStatus.UNAUTHORIZED:
        headers.append((b"www-authenticate", b'Bearer realm="mcp"'))
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})
