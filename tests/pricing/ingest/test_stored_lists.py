"""A list that has not changed is not fetched again, and never taken for another one."""

from __future__ import annotations

import hashlib
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from pricing.ingest.fetch import FetchResult, fetch
from pricing.ingest.provider import ProviderUnavailable
from pricing.market.offers import Offer
from pricing.providers.aws import provider
from tests.pricing.providers.aws_tools import bare, context, hide_own_settings, public_files
from tests.pricing.servers.aws import FakeAws
from tests.pricing.servers.aws_market import small
from tests.pricing.servers.base import Fault, Reply, Request


class TaggedAws(FakeAws):
    """Marks each file with what it holds, or with the day of its last change."""

    def __init__(self, header: str = "ETag") -> None:
        super().__init__(small())
        self.header, self.sent_bytes = header, 0

    def answer(self, request: Request) -> Reply:
        reply = super().answer(request)
        if reply.status != 200:
            return reply
        tag = f'"{hashlib.sha256(reply.body).hexdigest()}"'
        asked = {"ETag": "if-none-match", "Last-Modified": "if-modified-since"}[self.header]
        if request.headers.get(asked) == tag:
            return Reply(b"", 304, {self.header: tag})
        self.sent_bytes += len(reply.body)
        reply.headers = {**reply.headers, self.header: tag}
        return reply


@pytest.fixture(params=["ETag", "Last-Modified"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    hide_own_settings(monkeypatch)
    with TaggedAws(request.param) as running:
        yield running


def run(server: FakeAws, folder: Path) -> tuple[dict[str, Offer], FetchResult]:
    result = fetch(provider, context(public_files(server) | {"PRICE_LIST_FOLDER": str(folder)}))
    return {offer.id: bare(offer) for offer in result.offers}, result


def truth(server: FakeAws) -> dict[str, Offer]:
    return {offer.id: offer for offer in server.market.offers(account=False)}


def test_an_unchanged_list_is_read_from_what_is_stored(server: TaggedAws, tmp_path: Path) -> None:
    first, before = run(server, tmp_path)
    sent = server.sent_bytes
    second, after = run(server, tmp_path)
    assert first == second == truth(server)
    assert (before.unchanged, server.sent_bytes) == ((), sent)
    assert len(after.unchanged) == len(server.requests) // 2


def test_a_list_that_changed_is_fetched(server: TaggedAws, tmp_path: Path) -> None:
    run(server, tmp_path)
    server.market.regions["eu-west-1"] = "1.0625"
    offers, result = run(server, tmp_path)
    assert offers == truth(server)
    assert not any("eu-west-1" in name for name in result.unchanged)
    assert any("us-west-2" in name for name in result.unchanged)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("harm", ["cut", "emptied", "notes", "other address"])
def test_what_is_stored_and_spoilt_is_fetched_again(
    server: TaggedAws, tmp_path: Path, harm: str
) -> None:
    run(server, tmp_path)
    for path in (tmp_path / "aws").iterdir():
        if path.suffix == ".json" and harm == "notes":
            path.write_text("{")
        elif harm == "other address" and path.name.endswith(".gz.json"):
            path.write_text(json.dumps(json.loads(path.read_text()) | {"url": "https://x.example"}))
        elif path.suffix == ".gz" and harm in ("cut", "emptied"):
            path.write_bytes(path.read_bytes()[: 100 if harm == "cut" else 0])
    offers, result = run(server, tmp_path)
    assert offers == truth(server)
    assert not any(name.startswith("offers-us") for name in result.unchanged)


def test_a_list_that_is_not_understood_is_not_kept(server: TaggedAws, tmp_path: Path) -> None:
    server.faults.append(Fault(rewrite=lambda _body: b"<html>"))
    with pytest.raises(ProviderUnavailable):
        run(server, tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    server.faults.clear()
    assert run(server, tmp_path)[0] == truth(server)


def test_a_304_that_nobody_asked_for_is_no_list(server: TaggedAws, tmp_path: Path) -> None:
    server.faults.append(Fault(status=304, error_body=b""))
    with pytest.raises(ProviderUnavailable, match="304"):
        run(server, tmp_path)


@pytest.mark.one_in(2)
@pytest.mark.django_db
def test_the_report_says_what_was_not_fetched_again(
    server: TaggedAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (public_files(server) | {"PRICE_LIST_FOLDER": str(tmp_path)}).items():
        monkeypatch.setenv(name, value)
    reports = []
    for form in ((), ("--json",), ()):
        out = StringIO()
        call_command("refresh_prices", "aws", "--force", *form, stdout=out, stderr=StringIO())
        reports.append(out.getvalue())
    assert "not fetched again" not in reports[0]
    assert "offers-us-west-2.json.gz" in reports[1]
    assert "lists that did not change" in reports[2]
