"""One region, or one optional part of AWS, fails: everything else comes, and is the truth."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from pricing.market.offers import Offer
from pricing.providers.aws import provider
from tests.pricing.isolation.after_publication import kept_after
from tests.pricing.providers.aws_tools import (
    account,
    bare,
    context,
    fetch,
    hide_own_settings,
)
from tests.pricing.servers.aws import FakeAws, region_of
from tests.pricing.servers.aws_market import Market, small
from tests.pricing.servers.base import Fault, Request

LONG = os.environ.get("FAULTS") == "1"
REGION = "eu-west-1"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAws]:
    hide_own_settings(monkeypatch)
    with FakeAws(small()) as running:
        yield running


def spoilt(body: bytes) -> Callable[[], Fault]:
    return lambda: Fault(rewrite=lambda _body: body)


def refused(status: int, code: str) -> Callable[[], Fault]:
    """As each of the protocols says it."""
    text = (
        f'{{"__type": "{code}", "message": "no"}}'
        if code.endswith("Exception")
        else f"<Response><Errors><Error><Code>{code}</Code><Message>no</Message></Error></Errors>"
        "</Response>"
    )
    return lambda: Fault(
        status=status, headers={"x-amzn-ErrorType": code}, error_body=text.encode()
    )


WAYS: dict[str, Callable[[], Fault]] = {
    "throttled, asked to wait": lambda: Fault.burst(None, retry_after="7"),
    "throttled": lambda: Fault.error(None, status=429),
    "throttled by code": refused(503, "RequestLimitExceeded"),
    "throttled by exception": refused(400, "ThrottlingException"),
    "500": lambda: Fault.error(None),
    "502": lambda: Fault.error(None, status=502),
    "503": lambda: Fault.error(None, status=503),
    "504": lambda: Fault.error(None, status=504),
    "404": lambda: Fault.error(None, status=404),
    "time-out": lambda: Fault.time_out(0.5, times=None),
    "cut early": lambda: Fault.truncated(keep=0.1),
    "cut": lambda: Fault.truncated(keep=0.6),
    "cut late": lambda: Fault.truncated(keep=0.97),
    "lost at once": lambda: Fault.lost(at=0.0),
    "lost half-way": lambda: Fault.lost(at=0.5),
    "empty body": spoilt(b""),
    "a web page": spoilt(b"<html><body>Service health</body></html>"),
    "another document": spoilt(b'{"items": []}'),
    "a list": spoilt(b"[]"),
    "no text": spoilt(bytes(range(256))),
    "access denied": refused(403, "UnauthorizedOperation"),
    "token expired": refused(400, "ExpiredTokenException"),
    "token expired, as EC2 says it": refused(400, "ExpiredToken"),
}


def asks_ec2(action: str) -> Callable[[Request], bool]:
    return lambda r: f"Action={action}&".encode() in r.body and region_of(r) == REGION


PARTS: dict[str, tuple[Callable[[Request], bool], frozenset[str]]] = {
    "spot": (asks_ec2("DescribeSpotPriceHistory"), frozenset({"spot"})),
    "blocks": (asks_ec2("DescribeCapacityBlockOfferings"), frozenset({"capacity_block"})),
    "plans": (
        lambda r: b"instanceFamily" in r.body and REGION.encode() in r.body,
        frozenset({"savings_plan"}),
    ),
    "sold": (asks_ec2("DescribeInstanceTypeOfferings"), frozenset({"spot", "capacity_block"})),
    "machines": (asks_ec2("DescribeInstanceTypes"), frozenset()),
}
SHORT = (
    ("throttled", "spot"),
    ("500", "blocks"),
    ("time-out", "machines"),
    ("cut", "plans"),
    ("lost half-way", "sold"),
    ("a web page", "spot"),
    ("access denied", "blocks"),
    ("token expired", "plans"),
)
"""Each kind of fault once and each part; every way with every part is the long form."""
CASES = tuple((way, part) for way in WAYS for part in PARTS) if LONG else SHORT
SHORT_OF_FILES = ("500", "cut")


def truth(market: Market, *, with_account: bool = True) -> dict[str, Offer]:
    return {offer.id: offer for offer in market.offers(account=with_account)}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("part", PARTS)
def test_a_fault_that_strikes_within_a_part_leaves_no_half_of_it(
    server: FakeAws, part: str
) -> None:
    fault = Fault.error(None, after=1)
    fault.matches = PARTS[part][0]
    server.faults.append(fault)
    kept, _ = kept_after(provider.fetch(context(account(server))), truth(server.market), bare)
    places = {key.split(":")[1].split("/")[0] for key in kept}
    assert places <= {REGION}


@pytest.mark.parametrize("after", range(0, 28, 2 if LONG else 18))
def test_a_token_that_expires_half_way_loses_nothing(server: FakeAws, after: int) -> None:
    fault = refused(400, "ExpiredTokenException")()
    fault.after = after
    fault.matches = lambda request: request.method == "POST"
    server.faults.append(fault)
    rows = list(provider.fetch(context(account(server))))
    listed = truth(server.market)
    if not any("AWS refused" in getattr(row, "reason", "") for row in rows):
        kept_after(rows, listed, bare)
        return
    offers = {row.id: bare(row) for row in rows if isinstance(row, Offer)}
    assert offers == truth(server.market, with_account=False)


def test_a_failure_is_recorded_and_replayed(server: FakeAws) -> None:
    fault = Fault.error(None)
    fault.matches = PARTS["spot"][0]
    server.faults.append(fault)
    kept: dict[str, bytes] = {}
    live = fetch(account(server), record=kept.__setitem__)
    again = fetch({}, replay=kept.get)
    assert (again.prices(), again.not_read) == (live.prices(), live.not_read)


def test_refused_credentials_fall_back_to_the_public_list(server: FakeAws) -> None:
    server.refuses.add("pricing")
    kept: dict[str, bytes] = {}
    found = fetch(account(server), record=kept.__setitem__)
    assert found.prices() == truth(server.market, with_account=False)
    (part,) = found.not_read
    assert part.purchase_options == ("spot", "capacity_block")
    assert "AWS refused the credentials" in part.reason
    assert "AccessDenied" in part.reason
    again = fetch({}, replay=kept.get)
    assert (again.prices(), again.not_read) == (found.prices(), found.not_read)
