"""A server's catalog by address and token: the same figures, and errors that say what to do."""

import datetime as dt
import json
from http import HTTPStatus

import httpx
import pytest
from django.test import Client

from gpu_cost_planner import InvalidInput, compare, server_catalog
from pricing import catalog
from pricing.bundled.catalog import bundled_catalog
from pricing.market.offer_rows import from_document, to_document
from tests.planner.workspace import REQUEST, Workspace, market

TODAY = dt.date(2026, 11, 20)
URL = "https://planner.example"


@pytest.fixture
def served(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls by httpx go to the application itself."""

    def get(url: str, headers: dict[str, str], timeout: float) -> httpx.Response:
        assert url.startswith(f"{URL}/api/")
        answer = client.get(url.removeprefix(URL), headers=headers)
        return httpx.Response(answer.status_code, content=answer.content)

    monkeypatch.setattr(httpx, "get", get)


def test_a_catalog_is_the_same_after_json() -> None:
    before = bundled_catalog()
    after = from_document(json.loads(json.dumps(to_document(before))))
    assert tuple(after.offers.offers) == tuple(before.offers.offers)
    assert after.revisions == before.revisions
    assert after.regions == before.regions
    assert after.exchange_rates == before.exchange_rates


@pytest.mark.django_db
@pytest.mark.usefixtures("served")
def test_a_server_s_catalog_gives_the_server_s_figures(client: Client) -> None:
    market()
    carried = server_catalog(f"{URL}/")
    assert carried.revisions == catalog.current().revisions
    here = compare(REQUEST, catalog=carried).to_json()
    there = client.post(
        "/api/v1/comparisons/?include=all", REQUEST, content_type="application/json"
    ).json()
    assert here["scenarios"] == there["scenarios"]
    assert here["catalog"] == there["catalog"]


@pytest.mark.django_db
@pytest.mark.usefixtures("served")
def test_a_closed_server_asks_for_a_token(settings: object) -> None:
    settings.LOGIN_REQUIRED = True  # type: ignore[attr-defined]
    market()
    with pytest.raises(InvalidInput, match="a token with the scope `read`"):
        server_catalog(URL)
    token = Workspace("alpha").token("read")
    assert len(server_catalog(URL, token).offers) == 4


@pytest.mark.parametrize(
    ("status", "content", "words"),
    [
        (HTTPStatus.NOT_FOUND, b"", "404 .*check the address"),
        (HTTPStatus.BAD_GATEWAY, b"", "502 .*see the server's log"),
        (HTTPStatus.OK, b"<html>", "is no catalog"),
        (HTTPStatus.OK, b"[]", "is no catalog"),
        (HTTPStatus.OK, b'{"form": 2}', "form 1 can be read"),
    ],
)
def test_an_answer_that_is_no_catalog_is_refused(
    monkeypatch: pytest.MonkeyPatch, status: HTTPStatus, content: bytes, words: str
) -> None:
    monkeypatch.setattr(httpx, "get", lambda *_, **__: httpx.Response(status, content=content))
    with pytest.raises(InvalidInput, match=words) as caught:
        server_catalog(URL)
    assert caught.value.field == "catalog"


def test_a_server_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise httpx.ConnectError("refused")

    monkeypatch.setattr(httpx, "get", fail)
    with pytest.raises(InvalidInput, match="cannot be reached: refused"):
        server_catalog(URL)
    with pytest.raises(InvalidInput, match="begins with https"):
        server_catalog("planner.example")


def test_a_document_that_is_damaged_is_refused() -> None:
    document = to_document(bundled_catalog())
    with pytest.raises(InvalidInput, match="cannot be read"):
        from_document({**document, "exchange_rates": [["EUR", "yesterday", "1", ""]]})
