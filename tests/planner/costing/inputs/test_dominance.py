"""Which offers survive: nothing that another beats, everything that may matter."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.costing.inputs.dominance import (
    EligibleOffers,
    build_eligible_offers,
    undominated_commitments,
    undominated_rentals,
)
from planner.costing.inputs.offer_rules import Adjustment, Filters, QuotaRule
from pricing.market.offers import Offer
from tests.planner.costing.market_of import CATALOG, H100, catalog, offer
from tests.properties import examples

R = {H100: 1.0}


def market(
    *offers: Offer, quotas: tuple[QuotaRule, ...] = (), grids: tuple[tuple[str, str], ...] = ()
) -> EligibleOffers:
    table = catalog(*offers).offers
    return build_eligible_offers(table, Filters((H100,)).rows(table), R, quotas, grids=grids)


def ids(found: EligibleOffers, kept: list[int]) -> list[str]:
    return sorted(found.offer(i).id for i in kept)


def hourly(found: EligibleOffers, data: float | None = None) -> list[str]:
    cost = np.zeros(len(found)) if data is None else np.full(len(found), data)
    return ids(found, undominated_rentals(found, np.ones(len(found)), cost, peak=16))


def commitments(found: EligibleOffers, waiting: float = 0.95, **fields: bool) -> list[str]:
    return ids(found, undominated_commitments(found, waiting, np.zeros(len(found)), 16, **fields))


@pytest.mark.parametrize(
    ("offers", "staying"),
    [
        ([offer("50"), offer("60", region="eu-west-1"), offer("20", "spot")],
         ["p5.48xlarge:on_demand", "p5.48xlarge:spot"]),
        ([offer("50"), offer("6", count=1)], ["p5.6xlarge:on_demand"]),
        ([offer("48"), offer("6", count=1), offer("192", count=32)], ["p5.48xlarge:on_demand"]),
    ],
    ids=["each option", "by the accelerator", "the larger node within the peak"],
)  # fmt: skip
def test_the_cheapest_stays(offers: list[Offer], staying: list[str]) -> None:
    assert hourly(market(*offers)) == [f"aws:us-east-1:{one}" for one in staying]


@pytest.mark.parametrize("back", [False, True])
def test_of_equal_prices_a_region_stays_and_not_a_zone_beside_it(back: bool) -> None:
    names = ("us-east-1", "us-east-1-atl-1", "us-east-2")
    offers = [offer("50", region=name) for name in (names[::-1] if back else names)]
    assert hourly(market(*offers)) == ["aws:us-east-1:p5.48xlarge:on_demand"]


@pytest.mark.parametrize("back", [False, True])
def test_of_equal_prices_a_place_whose_grid_is_known_comes_first(back: bool) -> None:
    names = ("us-east-1", "us-east-1-atl-1", "us-east-2")
    offers = [offer("50", region=name) for name in (names[::-1] if back else names)]
    known = market(*offers, grids=(("aws", "us-east-2"), ("aws", "us-east-1-atl-1")))
    assert hourly(known) == ["aws:us-east-2:p5.48xlarge:on_demand"]
    dearer = market(*offers, offer("49", region="us-east-1-bos-1"), grids=(("aws", "us-east-2"),))
    assert hourly(dearer) == ["aws:us-east-1-bos-1:p5.48xlarge:on_demand"]


def test_prices_compare_by_the_useful_hour() -> None:
    """20 an hour of which 70 % is useful costs more than 22 of which 90 % is."""
    found = market(offer("20", "spot"), offer("22", "spot", region="eu-west-1"))
    regions = [found.offer(i).region for i in range(len(found))]
    goodput = np.array([0.7 if region == "us-east-1" else 0.9 for region in regions])
    (stays,) = undominated_rentals(found, goodput, np.zeros(len(found)), peak=16)
    assert regions[stays] == "eu-west-1"


def test_offers_under_different_quotas_stay() -> None:
    rule = QuotaRule("quota", "aws", "us-east-1", H100)
    found = market(offer("50"), offer("60", region="eu-west-1"), quotas=(rule,))
    assert len(hourly(found)) == 2


def test_commitments_of_each_term_and_size_stay() -> None:
    found = market(
        offer("30", "reserved", term_months=12),
        offer("31", "savings_plan", term_months=12),
        offer("20", "reserved", term_months=36),
        offer("4", "reserved", count=1, term_months=12),
    )
    assert commitments(found) == [
        "aws:us-east-1:p5.48xlarge:reserved:12m",
        "aws:us-east-1:p5.48xlarge:reserved:36m",
        "aws:us-east-1:p5.6xlarge:reserved:12m",
    ]


def test_a_node_that_smaller_ones_replace_for_less_goes() -> None:
    found = market(
        offer("30", "reserved", term_months=12),
        offer("3.7", "reserved", count=1, term_months=12),
        offer("15.2", "reserved", count=4, term_months=36),
    )
    assert commitments(found) == [
        "aws:us-east-1:p5.24xlarge:reserved:36m",
        "aws:us-east-1:p5.6xlarge:reserved:12m",
    ]


def test_paying_later_may_be_worth_more() -> None:
    ahead = offer(
        "0", "reserved", term_months=12, payment_option="all_upfront",
        upfront=Decimal(30 * 8760 - 1000),
    )  # fmt: skip
    monthly = offer("30", "reserved", term_months=12, payment_option="no_upfront")
    assert len(commitments(market(ahead, monthly), waiting=0.9)) == 2
    assert len(commitments(market(ahead, monthly), waiting=1.0)) == 1


def test_a_monthly_budget_keeps_every_way_of_paying() -> None:
    ahead = offer("0", "reserved", term_months=12, payment_option="all_upfront", upfront=Decimal(1))
    monthly = offer("30", "reserved", term_months=12, payment_option="no_upfront")
    assert len(commitments(market(ahead, monthly))) == 1
    assert len(commitments(market(ahead, monthly), keep_payments=True)) == 2


def test_adjustments_multiply() -> None:
    rules = [Adjustment(0.5, provider="aws"), Adjustment(0.5, family="p5", region="us-east-1")]
    table = CATALOG.offers
    found = build_eligible_offers(table, Filters((H100,)).rows(table), R, adjustments=rules)
    by_id = {found.offer(i).id: found.multiplier[i] for i in range(len(found))}
    assert by_id["aws:us-east-1:p5.48xlarge:on_demand"] == 0.25
    assert by_id["aws:eu-west-1:p5.48xlarge:on_demand"] == 0.5
    assert by_id["azure:westus3:ND12:on_demand"] == 1.0


@examples(50, 1000)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_no_commitment_left_out_is_cheaper_anywhere(prices: list[tuple[int, int]]) -> None:
    """Whatever the average discount factor of the months, the best one is on the shortlist."""
    offers = [
        offer(str(hour), "reserved", term_months=12, region=f"r{i}", upfront=Decimal(8760 * up))
        for i, (hour, up) in enumerate(prices)
    ]
    found = market(*offers)
    kept = undominated_commitments(found, 0.8, np.zeros(len(found)), 16)
    for rho in np.linspace(0.8, 1.0, 9):
        cost = found.upfront_usd / 12 + 730 * rho * found.usd_per_hour
        assert cost[kept].min() <= cost.min() * (1 + 1e-6)
