"""Tools over HTTP are for holders of the planner's tokens; the server is asked about each."""

import json
from argparse import Namespace
from typing import Any

import httpx
import pytest

from gpu_cost_planner import InvalidInput
from gpu_cost_planner.assistants import command, server
from tests.gpu_cost_planner.own_loop import in_own_loop

SERVER = "https://planner.example"


class Planner:
    """A server that knows three tokens, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked_for: list[str] = []
        self.is_up = True

    def __call__(self, request: httpx.Request) -> httpx.Response:
        assert str(request.url) == f"{SERVER}/api/v1/freshness/"
        self.asked_for.append(request.headers["authorization"])
        if not self.is_up:
            raise httpx.ConnectError("refused")
        states = {"Bearer good": 200, "Bearer writer": 403, "Bearer broken": 500}
        return httpx.Response(states.get(self.asked_for[-1], 401))


@pytest.fixture
def planner(monkeypatch: pytest.MonkeyPatch) -> Planner:
    planner, client = Planner(), httpx.AsyncClient
    transport = httpx.MockTransport(planner)
    monkeypatch.setattr(httpx, "AsyncClient", lambda **o: client(transport=transport, **o))
    return planner


def call(gate: server.TokenGate, authorization: str | None) -> tuple[int, dict[str, Any]]:
    headers = [] if authorization is None else [(b"Authorization", authorization.encode())]
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    in_own_loop(gate({"type": "http", "headers": headers}, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


async def application(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b'{"detail": "through"}'})


@pytest.mark.parametrize(
    ("authorization", "status", "words"),
    [
        ("Bearer good", 200, "through"),
        ("bearer  good", 200, "through"),
        (None, 401, "Send Authorization"),
        ("Basic good", 401, "Send Authorization"),
        ("Bearer other", 401, "Send Authorization"),
        ("Bearer writer", 403, "scope read"),
        ("Bearer broken", 502, "try again"),
    ],
)
@pytest.mark.usefixtures("planner")
def test_only_accepted_tokens_pass(authorization: str | None, status: int, words: str) -> None:
    answer = call(server.TokenGate(application, SERVER), authorization)
    assert answer[0] == status
    assert words in answer[1]["detail"]


def test_what_the_server_said_holds_for_a_minute(
    planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(server.time, "monotonic", lambda: now[0])
    gate = server.TokenGate(application, SERVER)
    for _ in range(3):
        assert call(gate, "Bearer good")[0] == 200
    assert len(planner.asked_for) == 1
    now[0] += server.HOLDS_S + 1
    assert call(gate, "Bearer good")[0] == 200
    assert len(planner.asked_for) == 2


def test_a_server_that_cannot_be_reached_lets_nobody_through_and_is_asked_again(
    planner: Planner,
) -> None:
    planner.is_up = False
    gate = server.TokenGate(application, SERVER)
    assert call(gate, "Bearer good")[0] == 502
    planner.is_up = True
    assert call(gate, "Bearer good")[0] == 200


@pytest.mark.usefixtures("planner")
def test_no_more_tokens_are_remembered_than_is_bearable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_TOKENS", 2)
    gate = server.TokenGate(application, SERVER)
    for number in range(5):
        assert call(gate, f"Bearer {number}")[0] == 401
    assert len(gate._known) == 2


def test_an_address_that_others_reach_needs_a_server_with_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda _name: object())
    options = Namespace(http=True, host="0.0.0.0", server=None)
    with pytest.raises(InvalidInput, match="can be reached by others"):
        command.check_options(options)
    command.check_options(Namespace(http=True, host="0.0.0.0", server=SERVER))
    command.check_options(Namespace(http=True, host="127.0.0.1", server=None))


def test_without_its_package_the_command_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda _name: None)
    with pytest.raises(InvalidInput, match=r"gpu-cost-planner\[mcp\]"):
        command.check_options(Namespace(http=False, host="", server=None))
