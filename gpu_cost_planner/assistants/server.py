"""The MCP server: the tools over standard input and output, or over HTTP with the product's tokens.

Needs the extra mcp. Comparisons run in a thread, so that other calls are answered meanwhile.
"""

from __future__ import annotations

from functools import partial

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from gpu_cost_planner.assistants.answers import Answer
from gpu_cost_planner.assistants.tools import TOOLS
from gpu_cost_planner.version import read_version
from pricing.market.snapshot import Catalog

INSTRUCTIONS = (
    "Answers what deep-learning accelerators should cost: rented, committed, owned or mixed. Call "
    "`estimate` for a training whose hours are not known, `compare` for a verdict, `explain` for "
    "one table of it, `offers` for prices. Figures are computed, with dated prices; do not round "
    "or add to them. A refusal names the fields to change."
)
_READ_ONLY = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_TOOLS = {tool.name: tool for tool in TOOLS}


def build_server(catalog: Catalog) -> Server[object]:
    """The server at the prices of `catalog`; nothing that it offers writes anything."""

    async def list_tools(
        _context: ServerRequestContext[object], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe(name) for name in _TOOLS])

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


def _describe(name: str) -> types.Tool:
    tool = _TOOLS[name]
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=_READ_ONLY,
    )


def _to_result(answer: Answer) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)],
        structured_content=answer.data,
        is_error=answer.is_error,
    )
