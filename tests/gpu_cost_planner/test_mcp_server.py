"""A stock MCP client: lists the tools, gets a verdict in one call, a refusal, nothing written.

Runs where the extra mcp is installed; `tests/test_dependencies.py` says what is installed here.
"""

import sys
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import Any

import pytest

from gpu_cost_planner import compare
from gpu_cost_planner.assistants.tools import TOOLS
from gpu_cost_planner.command_line import main
from pricing.bundled.catalog import bundled_catalog
from tests.gpu_cost_planner.own_loop import in_own_loop
from tests.gpu_cost_planner.test_assistant_tools import EUROPE

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="the extra mcp is not installed")


def ask(talk: Callable[[Any], Awaitable[Any]], server: Any = None) -> Any:
    from mcp import Client

    from gpu_cost_planner.assistants.server import build_server

    async def run() -> Any:
        async with Client(server or build_server(bundled_catalog())) as client:
            return await talk(client)

    return in_own_loop(run())


def test_it_lists_tools_that_only_read() -> None:
    listed = ask(lambda client: client.list_tools())
    tools = listed.tools
    assert [tool.name for tool in tools] == [tool.name for tool in TOOLS]
    assert len(listed.model_dump_json(exclude_none=True, by_alias=True)) < 8_000
    assert all(tool.annotations.read_only_hint for tool in tools)


def test_one_call_gives_the_verdict_to_the_cent() -> None:
    result = ask(lambda client: client.call_tool("compare", EUROPE))
    whole = compare(EUROPE)
    assert not result.is_error
    assert result.content[0].text.startswith(whole.answer.advice[0])
    assert result.structured_content["verdict"] == whole.to_json()["verdict"]


def test_a_refusal_is_an_answer_that_says_what_to_change() -> None:
    result = ask(lambda client: client.call_tool("compare", {"horizon_months": 200}))
    assert result.is_error
    assert "horizon_months: 200 is not allowed" in result.content[0].text


def test_a_tool_that_is_not_there() -> None:
    result = ask(lambda client: client.call_tool("buy", {}))
    assert result.is_error
    assert ", ".join(tool.name for tool in TOOLS) in result.content[0].text


@pytest.mark.sweep
def test_the_command_serves_a_client_over_standard_input_and_output() -> None:
    from mcp import StdioServerParameters

    server = StdioServerParameters(command=sys.executable, args=["-m", "gpu_cost_planner", "mcp"])
    result = ask(lambda client: client.call_tool("offers", {"limit": 1}), server)
    assert "of" in result.content[0].text


def test_the_command_hands_the_tools_to_a_server_over_http(monkeypatch: Any) -> None:
    from starlette.testclient import TestClient

    served: list[tuple[Any, dict[str, Any]]] = []
    monkeypatch.setattr("uvicorn.run", lambda app, **options: served.append((app, options)))
    assert main(["mcp", "--http", "--port", "8123"]) == 0
    ((application, options),) = served
    assert (options["host"], options["port"]) == ("127.0.0.1", 8123)
    call = {"name": "offers", "arguments": {"limit": 1}}
    question = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accepted = {"Accept": "application/json, text/event-stream"}
    with TestClient(application, base_url="http://127.0.0.1:8123") as client:
        answer = client.post("/mcp", json=question, headers=accepted)
    assert "of" in answer.json()["result"]["content"][0]["text"]
