"""The MCP server: the tools over standard input and output, or over HTTP with the product's tokens.

Needs the extra mcp. Comparisons run in a thread, so that other calls are answered meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from gpu_cost_planner.assistants.tools import TOOLS, Answer
from gpu_cost_planner.version import read_version
from pricing.common.problems import PROBLEM_JSON, problem_body
from pricing.market.snapshot import Catalog

if TYPE_CHECKING:
    from pricing.market.snapshot import Catalog


INSTRUCTIONS = (
    "Answers what deep-learning accelerators should cost: rented, committed, owned or mixed. Call "
    "`compare` for a verdict, `explain` for one table of it, `estimate` for a training whose hours "
    "are not known, `portfolio` for all projects of a team, `usage` for a bill or a log, `offers` "
    "for prices, `fields` for what a section of a request takes. Figures are computed, with dated "
    "prices; do not round or add to them. A refusal names the fields to change."
)
_READ_ONLY = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
_TOOLS = {tool.name: tool for tool in TOOLS}


def build_server(catalog: Catalog) -> Server[object]:
    """The server at the prices of `catalog`; nothing that it offers writes anything."""

    async def list_tools(
        _context: ServerRequestContext[object], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    title=tool.title,
                    description=tool.description,
                    input_schema=tool.schema,
                    annotations=_READ_ONLY,
                )
                for tool in TOOLS
            ]
        )

    async def call_tool(
        _context: ServerRequestContext[object], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = _TOOLS.get(params.name)
        if tool is None:
            known = ", ".join(_TOOLS)
            text = f"{params.name!r} is no tool; there are {known}"
            return _to_result(Answer(text, {"errors": []}, is_error=True))
        call = partial(tool.call, params.arguments or {}, catalog)
        return _to_result(await anyio.to_thread.run_sync(call))

    return Server(
        "gpu-cost-planner",
        version=read_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def serve_stdio(catalog: Catalog) -> None:
    """Serve one assistant over standard input and output until it goes."""
    server = build_server(catalog)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


def _to_result(answer: Answer) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)],
        structured_content=answer.data,
        is_error=answer.is_error,
    )


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

    def __init__(self, application: Application, server: str) -> None:
        self._application = application
        self._url = f"{server.rstrip('/')}{PATH}"
        self._known: dict[str, tuple[float, HTTPStatus]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on, or answer 401, 403 or 502 with what is wrong."""
        status = HTTPStatus.OK
        if scope["type"] == "http":
            texts = (text.decode("latin-1") for name, text in scope["headers"]
                    if name.lower() == b"authorization")  # fmt: skip
            scheme, _, token = next(texts, "").partition(" ")
            status = await self._check(token.strip() if scheme.lower() == "bearer" else "")
        if status == HTTPStatus.OK:
            await self._application(scope, receive, send)
            return
        headers = [(b"content-type", PROBLEM_JSON.encode())]
        if status == HTTPStatus.UNAUTHORIZED:
            headers.append((b"www-authenticate", b'Bearer realm="mcp"'))
        body = json.dumps(problem_body(status, _WORDS[status])).encode()
        await send({"type": "http.response.start", "status": status.value, "headers": headers})
        await send({"type": "http.response.body", "body": body})

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
            async with httpx.AsyncClient(timeout=10) as client:
                code = (await client.get(self._url, headers=headers)).status_code
        except (httpx.HTTPError, UnicodeEncodeError):
            return HTTPStatus.BAD_GATEWAY
        settled = (HTTPStatus.OK, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
        return HTTPStatus(code) if code in settled else HTTPStatus.BAD_GATEWAY


_WORDS = {
    HTTPStatus.UNAUTHORIZED: "Send Authorization: Bearer with a token of the planner "
    "(Team → Settings); this one is absent, unknown, expired or revoked.",
    HTTPStatus.FORBIDDEN: "The token needs the scope read.",
    HTTPStatus.BAD_GATEWAY: "The planner's server cannot be asked about the token; try again.",
}
