"""What goes wrong on the way: either the whole truth comes, or nothing does."""

import json
from collections.abc import Callable

import pytest

from pricing.ingest.http import MAX_CALLS
from pricing.ingest.provider import ProviderUnavailable
from tests.pricing.providers.aws_tools import account, fetch
from tests.pricing.servers.aws import FakeAws, ec2_xml
from tests.pricing.servers.base import Fault, Reply, Request

pytestmark = pytest.mark.usefixtures("own_settings")


def asks(action: str) -> Callable[[Request], bool]:
    return lambda request: (
        action.encode() in request.body
        or request.headers.get("x-amz-target", "").endswith(action)
        or action.lower() in request.path.lower()
    )


LASTING = {
    "429": lambda: Fault.burst(None),
    "500": lambda: Fault.error(None),
    "torn": lambda: Fault.truncated(None),
    "lost half-way": lambda: Fault.lost(None),
}


@pytest.mark.one_in(4)
@pytest.mark.faults
@pytest.mark.parametrize("fault", LASTING.values(), ids=LASTING)
def test_a_fault_of_the_price_list_that_lasts_ends_the_fetch(
    server: FakeAws, fault: Callable[[], Fault]
) -> None:
    one = fault()
    one.matches = asks("GetProducts")
    server.faults.append(one)
    with pytest.raises(ProviderUnavailable, match="5 times in a row"):
        fetch(account(server))
    assert one.seen == MAX_CALLS


EMPTY = b'{"FormatVersion":"aws_v1","PriceList":[],"NextToken":"page:1"}'


def test_an_empty_page_before_the_last_is_asked_for_again(server: FakeAws) -> None:
    server.price_page = 5
    server.faults.append(
        Fault(times=2, after=1, matches=asks("GetProducts"), rewrite=lambda _body: EMPTY)
    )
    assert fetch(account(server)).prices() == {o.id: o for o in server.market.offers()}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("row", ["{", "[]", "{}", "null", '{"product": 1}'])
def test_a_row_that_is_no_product_ends_the_fetch(server: FakeAws, row: str) -> None:
    page = json.dumps({"FormatVersion": "aws_v1", "PriceList": [row]}).encode()
    server.faults.append(Fault(matches=asks("GetProducts"), rewrite=lambda _body: page))
    with pytest.raises(ProviderUnavailable, match="row of the price list cannot be read"):
        fetch(account(server))


def test_an_empty_page_of_ec2_is_not_the_end(server: FakeAws) -> None:
    whole = server._ec2
    asked = iter([True])

    def empty_first(request: Request) -> Reply:
        spot = b"Action=DescribeSpotPriceHistory" in request.body
        if spot and next(asked, False):
            answer = {"SpotPriceHistory": [], "NextToken": "0"}
            return Reply(ec2_xml("DescribeSpotPriceHistory", answer).encode())
        return whole(request)

    server._ec2 = empty_first  # type: ignore[method-assign]
    assert fetch(account(server)).prices() == {o.id: o for o in server.market.offers()}


def test_pages_that_go_round_in_circles_end_the_fetch(server: FakeAws) -> None:
    server.price_page = 5
    server.faults.append(
        Fault(matches=asks("GetProducts"), rewrite=lambda body: body.replace(b"page:2", b"page:1"))
    )
    with pytest.raises(ProviderUnavailable, match="repeats itself"):
        fetch(account(server))
