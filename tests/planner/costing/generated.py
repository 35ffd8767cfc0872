"""Random requests on random small markets, for the properties that every answer must have."""

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from pricing.market.offers import Offer
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import H100, offer


def price(low: float, high: float) -> st.SearchStrategy[Decimal]:
    return st.floats(low, high).map(lambda x: Decimal(str(round(x, 4))))


@st.composite
def markets(draw: st.DrawFn) -> list[Offer]:
    """On demand in one or two sizes, spot below it, commitments with and without upfront."""
    hour = float(draw(price(2, 12)))
    offers = []
    for count in draw(st.sampled_from([(8,), (1, 8), (2,), (4, 8)])):
        offers.append(offer(f"{hour * count:.4f}", count=count))
    if draw(st.booleans()):
        share = draw(st.floats(0.2, 0.9))
        offers.append(offer(f"{8 * hour * share:.4f}", "spot", zone="us-east-1a"))
    for months in draw(st.sampled_from([(), (12,), (36,), (12, 36), (3,)])):
        share = draw(st.floats(0.3, 1.05))
        effective = 8 * hour * share
        upfront = draw(st.sampled_from([0.0, 0.5, 1.0]))
        offers.append(
            offer(
                f"{effective * (1 - upfront):.4f}",
                "reserved",
                term_months=months,
                payment_option="no_upfront" if not upfront else "partial_upfront",
                upfront=Decimal(f"{effective * upfront * 730 * months:.2f}"),
            )
        )
    return offers


@st.composite
def servers(draw: st.DrawFn) -> list[dict[str, Any]]:
    server: dict[str, Any] = {
        "server": "custom",
        "accelerator": H100,
        "accelerator_count": draw(st.sampled_from([4, 8])),
        "unit_price": draw(st.integers(20_000, 500_000)),
        "power_kw": draw(st.sampled_from([3.0, 10.2])),
    }
    if draw(st.booleans()):
        server["running_cost_per_hour"] = draw(st.sampled_from([0, 0.87, 5]))
    return draw(st.sampled_from([[], [server], [server]]))


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    months = draw(st.integers(1, 24))
    one = st.floats(0, 12_000).map(lambda x: round(x, 2))
    flat = st.floats(10, 12_000).map(lambda x: round(x, 2))
    hours = draw(st.one_of(flat, st.lists(one, min_size=months, max_size=months).filter(any)))
    request: dict[str, Any] = {
        "start": "2027-01",
        "horizon_months": months,
        "workload": {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": hours},
        "on_prem": {
            "servers": draw(servers()),
            "lead_time_months": draw(st.integers(0, 4)),
            "useful_life_months": draw(st.sampled_from([6, 24, 60])),
            "utilisation_ceiling": draw(st.sampled_from([0.5, 0.9, 1.0])),
        },
        "finance": {
            "discount_rate_per_year": draw(st.sampled_from([0.0, 0.05, 0.3])),
            "cloud_price_trend_per_year": draw(st.sampled_from([0.0, -0.2, 0.1])),
            "tax_rate": draw(st.sampled_from([0.0, 0.0, 0.25])),
            "depreciation": draw(st.sampled_from(["straight_line", "macrs_5", "none"])),
        },
        "term_end": draw(st.sampled_from(["within", "full", "full"])),
        **{"sensitivity": False, "cheaper_if": False, "decide_every_months": 0},
    }
    if draw(st.booleans()):
        request["data"] = {"storage_gib": 1000, "egress_gib_per_month": 50}
    limits = draw(st.sampled_from([{}, {}, {"max_spot_share": 0.4}, {"capex_budget": 400_000}]))
    return request | {"constraints": limits}


def catalog_on_date(offers: list[Offer]) -> Catalog:
    return Catalog.of(offers)
