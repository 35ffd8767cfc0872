"""When prices and deliveries of servers are unsure: defaults, what is given, answers of before."""

from typing import Any

import pytest

from planner.contract.request.comparison import read_request
from planner.costing.assumptions.reference_servers import all_servers
from planner.costing.cost_model.ownership import DeliveryRisk, PriceRange, ServerToBuy
from pricing.common.invalid_input import InvalidInput
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import request_of

BOX = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8,
       "unit_price": 100_000, "power_kw": 10}  # fmt: skip
HGX = {"server": "hgx-h100-8"}
QUOTES = [{"unit_price": 90_000, "quoted": "2026-01"}, {"unit_price": 120_000, "quoted": "2026-02"}]
OLD = [{"unit_price": 50_000, "quoted": "2023-01"}, *QUOTES]


def bought(server: dict[str, Any], **own: Any) -> ServerToBuy:
    (one,) = compared(on_prem={"servers": [server], **own}).inputs.servers.to_buy
    return one


@pytest.mark.parametrize(
    ("server", "own", "expected"),
    [
        (BOX, {}, None),
        ({**BOX, "quotes": QUOTES}, {}, PriceRange(0.9, 1.2, 2)),
        ({**BOX, "quotes": OLD}, {}, PriceRange(0.9, 1.2, 2)),
        ({**BOX, "quotes": QUOTES[1:]}, {}, None),
        ({**HGX, "unit_price": 1.0}, {}, None),
        (HGX, {"server_price_spread": 0}, None),
        ({**BOX, "quotes": QUOTES}, {"server_price_spread": 0}, PriceRange(0.9, 1.2, 2)),
        ({"server": "server-8x-l40s"}, {}, PriceRange(0.8, 1.2)),
        ({"server": "server-8x-l40s"}, {"server_price_spread": 0.3}, PriceRange(0.7, 1.3)),
    ],
)
def test_between_which_prices_a_server_is_bought(
    server: dict[str, Any], own: dict[str, Any], expected: PriceRange | None
) -> None:
    names = {"accelerator": "L40S"} if "l40s" in server["server"] else {}
    work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 4000} | names
    (one,) = compared(workload=work, on_prem={"servers": [server], **own}).inputs.servers.to_buy
    assert one.price_range == expected


def test_the_lowest_quote_of_three_months_is_the_price_where_none_is_given() -> None:
    own = {name: value for name, value in BOX.items() if name != "unit_price"}
    assert bought({**own, "quotes": QUOTES}).unit_price == 90_000
    assert bought({**HGX, "quotes": OLD}).unit_price == 90_000
    later = {"unit_price": 110_000, "quoted": "2026-04"}
    assert bought({**HGX, "quotes": [*QUOTES, later]}).unit_price == 110_000
    assert bought({**BOX, "quotes": QUOTES}).unit_price == 100_000


def test_reference_servers_lie_between_quotes_in_the_currency_of_the_request() -> None:
    (hgx,) = (server for server in all_servers() if server.slug == "hgx-h100-8")
    recent = [q.unit_price_usd for q in hgx.quotes if q.quoted >= "2024-08"]
    low, high = min(recent) / hgx.unit_price_usd, max(recent) / hgx.unit_price_usd
    ends = min(low, 0.8), max(high, 1.2)
    in_euros = compared(
        currency="EUR", exchange_rates={"EUR": 0.5}, on_prem={"servers": [HGX]}
    ).inputs
    for one in (bought(HGX), in_euros.servers.to_buy[0]):
        assert one.price_range is not None
        assert (one.price_range.low, one.price_range.high) == pytest.approx(ends)
        assert one.price_range.quotes == len(recent)


@pytest.mark.parametrize(
    ("server", "own", "expected"),
    [
        (HGX, {}, DeliveryRisk.quoted(7)),
        (BOX, {}, DeliveryRisk.quoted(7)),
        ({**HGX, "lead_time_months": 3}, {}, None),
        (HGX, {"lead_time_months": 3}, None),
        (HGX, {"lead_time_months": 3, "late_delivery_probability": 0.5}, DeliveryRisk(4, 0.5)),
        (HGX, {"late_delivery_months": 2}, DeliveryRisk(2, 0.2)),
        (HGX, {"late_delivery_probability": 0}, None),
        ({**HGX, "late_delivery": {"probability": 0.1, "months": 1}},
         {"late_delivery_probability": 0.5}, DeliveryRisk(1, 0.1)),
        ({**HGX, "late_delivery": {"p10_months": 1, "p90_months": 5}}, {},
         DeliveryRisk(5, None, 1)),
    ],
)  # fmt: skip
def test_how_late_a_server_may_come(
    server: dict[str, Any], own: dict[str, Any], expected: DeliveryRisk | None
) -> None:
    assert bought(server, **own).delivery == expected


@pytest.mark.parametrize(
    ("server", "says"),
    [
        ({"late_delivery": {"probability": 0.1}}, "late_delivery.months: is required"),
        ({"late_delivery": {"p10_months": 3, "p90_months": 1}}, "p90_months: 1 is less than"),
        ({"late_delivery": {"p10_months": 3, "p90_months": 4, "months": 1}},
         "months: has no meaning with p10_months and p90_months"),
        ({"late_delivery": {}}, "probability: is required"),
        ({"quotes": [{"unit_price": 1}]}, "quotes.0.quoted"),
        ({"unit_price": None}, "unit_price: is required of a custom server"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(server: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_request(request_of(on_prem={"servers": [BOX | server]}))
    assert says in "; ".join(map(str, (refused.value, *refused.value.others)))
