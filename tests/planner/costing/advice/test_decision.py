"""The parts of a decision: what is done, how often, for how much, in the order of money."""

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import DecisionPart
from planner.costing.advice.decision import describe_orders, describe_parts, list_parts
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import H100, catalog, offer

RENT = offer("10", count=1)
TERM = offer("6", "reserved", count=1, term_months=12, payment_option="no_upfront")
YEAR: dict[str, Any] = {"horizon_months": 12, "on_prem": {"servers": []}}
WORK = {"kind": "accelerator_hours", "accelerator": H100}
SERVER = {"server": "hgx-h100-8", "unit_price": 200_000}
OWNING: dict[str, Any] = {
    "servers": [SERVER],
    "network_storage_rate": 0.125,
    "install_cost_rate": 0.04,
    "spare_rate": 0.03,
    "lead_time_months": 1,
}


def parts_of(key: str, *offers: Any, **fields: Any) -> tuple[DecisionPart, ...]:
    found = compared(catalog(*offers), **fields)
    plan = found.scenarios[ScenarioKey(key)]
    assert plan.feasible, plan.why_not
    return list_parts(plan, found.inputs, found.preparation.name_place, "USD")


def test_a_contract_is_told_with_its_term_number_and_sum() -> None:
    """730 h × 6 USD × 12 months = 52,560 USD."""
    (part,) = parts_of("cloud", RENT, TERM, hours=600, **YEAR)
    assert (part.action, part.units, part.accelerators, part.term_months) == ("commit", 1, 1, 12)
    assert (part.starts, part.last_start) == ("2027-01", "2027-01")
    assert (part.amount, part.due_at_start, part.share_of_hours) == (Decimal("52560"), None, 1)
    assert part.sentence == (
        "sign a 12-month reservation for 1 × p5.6xlarge (1 × H100) in AWS us-east-1 in January 2027"
    )


def test_a_local_zone_is_named_and_not_the_region_that_it_hangs_on() -> None:
    spot = offer("3", "spot", count=1, zone="use1-atl2-az1")
    work = WORK | {"hours_per_month": 600, "interruptible": True}
    (part,) = parts_of("cloud", RENT, spot, workload=work, **YEAR)
    assert part.place == "AWS us-east-1-atl-2"


def test_contracts_that_begin_in_several_months_are_told_with_each() -> None:
    """One machine from January on, another from July on: no year runs from January to July."""
    signed, _ = parts_of("cloud", RENT, TERM, hours=[600.0] * 6 + [1300.0] * 12,
                     horizon_months=18, on_prem={"servers": []})  # fmt: skip
    assert signed.sentence == (
        "sign a 12-month reservation for 2 × p5.6xlarge (1 × H100) in AWS us-east-1, "
        "1 in January 2027 and 1 in July 2027"
    )


def test_contracts_of_many_months_are_told_by_the_first_and_how_many_follow() -> None:
    """Three machines, each for a year, from January, May and September on."""
    steps = [h for h in (600.0, 1300.0, 2000.0, 1300.0, 600.0) for _ in range(4)]
    (signed,) = parts_of("cloud", RENT, TERM, hours=steps,
                         horizon_months=20, on_prem={"servers": []})  # fmt: skip
    assert signed.units == 3
    assert signed.sentence == (
        "sign a 12-month reservation for 1 × p5.6xlarge (1 × H100) in AWS us-east-1 "
        "in January 2027 (2 more by September 2027)"
    )


def test_what_is_paid_upfront_is_due_at_the_start() -> None:
    upfront = offer("2", "reserved", count=1, term_months=12, payment_option="partial_upfront",
                    upfront=Decimal(30_000))  # fmt: skip
    (part,) = parts_of("cloud", RENT, upfront, hours=600, **YEAR)
    assert (part.due_at_start, part.amount) == (Decimal(30_000), Decimal(30_000 + 2 * 730 * 12))


def test_rent_is_told_by_the_most_machines_at_once_and_the_months() -> None:
    """One machine until June, then two: up to 2; 6 × 500 h and 6 × 1,000 h at 10 USD."""
    (part,) = parts_of("on_demand", RENT, hours=[500.0] * 6 + [1000.0] * 6, **YEAR)
    assert (part.action, part.units, part.term_months) == ("rent", 2, None)
    assert part.amount == Decimal(90_000)
    assert part.sentence == (
        "rent up to 2 × p5.6xlarge (1 × H100) on demand in AWS us-east-1 for 9,000 machine-hours"
    )


def test_rent_tells_how_long_each_machine_works() -> None:
    """200 h on 1 card; 20 h of 4 cards at once are 5 h each; a fifth of an hour is 12 minutes; a
    machine that works all month needs no words."""
    one: dict[str, Any] = {"horizon_months": 1, "on_prem": {"servers": []}}
    for hours, at_once, words in (
        (200.0, 1, "for 200 hours in January 2027"),
        (20.0, 4, "for 5 hours each in January 2027"),
        (0.2, 1, "for 12 minutes in January 2027"),
        (730.0, 1, "in AWS us-east-1 in January 2027"),
    ):
        work = WORK | {"hours_per_month": [hours], "peak_accelerators": [at_once]}
        (part,) = parts_of("on_demand", RENT, workload=work, **one)
        assert part.sentence.endswith(words), part.sentence


def test_servers_are_told_with_their_invoice_and_come_before_what_costs_less() -> None:
    """2 × 200,000 USD × (1 + 0.125 + 0.04 + 0.03) = 478,000 USD; rent of one month of 24 serves
    1 / 24 = 4 % of the hours on two machines for 2 × 730 × 55.04 = 80,358.40 USD."""
    bought, rented = parts_of(
        "hybrid", offer("55.04"), hours=11_000, horizon_months=24, on_prem=OWNING
    )
    assert (bought.action, bought.units, bought.accelerators) == ("buy", 2, 16)
    assert bought.due_at_start == Decimal(478_000)
    assert bought.share_of_hours == pytest.approx(23 / 24)
    assert bought.sentence == "buy 2 × HGX H100 server in January 2027"
    assert (rented.action, rented.amount) == ("rent", Decimal("80358.40"))
    assert rented.share_of_hours == pytest.approx(1 / 24)
    assert rented.sentence.endswith("in AWS us-east-1 in January 2027")


def test_the_order_is_that_of_what_is_paid_and_not_of_what_is_left_after_resale() -> None:
    """Servers that fetch almost their price again still come first: they are paid for."""
    bought, rented = parts_of(
        "hybrid", offer("55.04"), hours=11_000, horizon_months=24,
        on_prem=OWNING | {"residual_rate": 0.99},
    )  # fmt: skip
    assert bought.action == "buy"
    assert rented.amount == Decimal("80358.40")


def test_servers_at_hand_are_kept() -> None:
    owned = [{"server": "hgx-h100-8", "units": 1, "bought": "2026-07"}]
    (part,) = parts_of("hybrid", offer("55.04"), hours=3000, horizon_months=12,
                       on_prem={"servers": [], "already_owned": owned})  # fmt: skip
    assert (part.action, part.units, part.accelerators) == ("keep", 1, 8)
    assert part.sentence == "keep 1 × HGX H100 server, already owned"


def test_a_contract_signed_again_at_its_end_is_told_as_renewed() -> None:
    """Two terms of a year one after the other hold one machine, not two."""
    years = YEAR | {"horizon_months": 24}
    (part,) = parts_of("cloud", RENT, TERM, hours=600, **years)
    assert (part.units, part.starts, part.last_start) == (2, "2027-01", "2028-01")
    assert "for 1 × p5.6xlarge" in part.sentence
    assert "in January 2027, renewed in January 2028" in part.sentence


def test_what_is_reserved_by_date_is_told_in_machines_and_days() -> None:
    """100 h are 5 days of one machine, whatever part of it works: 120 h at 30 USD."""
    block = offer("30", "capacity_block")
    (part,) = parts_of("cloud", block, hours=[100.0] + [0.0] * 11, **YEAR)
    assert (part.action, part.units, part.accelerators) == ("reserve", 1, 8)
    assert part.amount == Decimal(3600)
    assert part.sentence.endswith("in January 2027 for 5 days")
    (part,) = parts_of("cloud", block, hours=[100.0, 400.0, 400.0] + [0.0] * 9, **YEAR)
    assert part.amount == (120 + 2 * 408) * 30
    assert part.sentence.endswith("for 5 and 2 × 17 days, in blocks of at most 14 days")


@pytest.mark.parametrize(
    ("actions", "rest", "orders"),
    [
        (["buy", "rent"], "buy a and rent b", ""),
        (["buy", "commit", "keep", "rent", "rent"], "buy a, commit b, keep what is already there "
         "and rent the rest", "Orders: rent d (30.00 USD); rent e (40.00 USD)."),
        (["buy", "commit", "keep"], "buy a, commit b and keep c", ""),
        (["commit", "commit", "commit", "rent"], "commit a, commit b, place 1 further order and "
         "rent the rest", "Orders: commit c (1.00 USD); rent d (30.00 USD)."),
        (["buy", "buy", "buy", "buy"], "buy a, buy b and place 2 further orders",
         "Orders: buy c (1.00 USD); buy d (30.00 USD)."),
    ],
)  # fmt: skip
def test_parts_beyond_two_are_counted_and_listed_where_they_bind_or_cost_much(
    actions: list[str], rest: str, orders: str
) -> None:
    parts = [
        DecisionPart.model_construct(action=action, amount=Decimal(paid), starts="2027-01",
                                     sentence=f"{action} {letter}")
        for action, letter, paid in zip(actions, "abcde", (50, 45, 1, 30, 40), strict=False)
    ]  # fmt: skip
    assert describe_parts(parts) == rest[0].upper() + rest[1:]
    assert describe_orders(parts, "USD") == orders


def test_a_lease_beside_a_purchase_is_named_by_its_server() -> None:
    lease = {"method": "lease", "months": 24, "interest_rate_per_year": 0.0, "balloon_rate": 0.8}
    own = OWNING | {"servers": [SERVER, SERVER | {"financing": lease}], "lead_time_months": 0}
    part, *_ = parts_of("on_prem", offer("90"), hours=5840, on_prem=own)
    assert part.sentence == "lease 1 × HGX H100 server in January 2027 for 24 months"
