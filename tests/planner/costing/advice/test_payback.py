"""Payback, capital to approve and contracts to sign, on lines that are summed in the head."""

from decimal import Decimal

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.advice.verdict import (
    best_without_buying,
    capital_to_approve,
    obligation_to_sign,
)
from planner.costing.results.entries import RESALE_TAX_UNIT
from planner.costing.results.scenario_result import Scenario, resale_value, total_without_resale
from tests.planner.costing.advice.scenarios_of import line, monthly, plan

INVOICE = (
    line(0, "capex", 1000),
    line(0, "network_storage", 150),
    line(0, "spares", 30),
    line(0, "install", 20),
)


def test_capital_holds_all_invoices_of_the_first_purchase_and_no_other() -> None:
    """1,000 + 150 + 30 + 20; neither the second purchase nor what is no invoice of servers."""
    later = [line(3, "capex", 1000), line(3, "network_storage", 150)]
    running = [line(0, "power", 7), line(0, "staff", 11), line(0, "upfront", 500, "offer")]
    assert capital_to_approve(plan(*INVOICE, *later, *running).lines) == Decimal("1200")


def test_the_first_purchase_may_come_late_and_network_alone_is_none() -> None:
    shifted = [one.model_copy(update={"month": 4}) for one in INVOICE]
    assert capital_to_approve(plan(line(0, "network_storage", 5), *shifted).lines) == Decimal(
        "1200"
    )
    assert capital_to_approve(plan(line(0, "network_storage", 5)).lines) is None


def test_resale_is_counted_after_the_tax_on_it() -> None:
    """400 of resale, 80 of tax on it, 30 of other tax that is none of resale's."""
    sold = plan(
        *INVOICE,
        line(12, "residual", -400),
        line(12, "tax", 80, unit=RESALE_TAX_UNIT),
        line(12, "tax", -30, unit="of the cost"),
    )
    assert resale_value(sold) == Decimal("320")
    assert sold.total_cost == Decimal("850")
    assert total_without_resale(sold) == Decimal("1170")


def test_the_plan_to_pay_back_against_is_the_cheapest_that_buys_nothing() -> None:
    owned = plan(line(0, "capex", 10), key="on_prem")
    dear = plan(line(0, "compute", 50, "offer"), key="on_demand")
    cheap = plan(line(0, "compute", 40, "offer"), key="cloud")
    broken = Scenario(ScenarioKey.HYBRID, False)
    every = {one.key: one for one in (owned, dear, cheap, broken)}
    assert best_without_buying(every) is cheap
    assert best_without_buying({owned.key: owned, broken.key: broken}) is None


def test_a_contract_is_owed_to_its_end_with_what_is_paid_upfront() -> None:
    """Six months of 100 and 50 upfront; data beside it is no obligation."""
    lines = [line(0, "upfront", 50, "c"), *monthly("commitment", [100] * 6, "c"),
             *monthly("storage", [9] * 6, "c"), *monthly("compute", [8] * 6, "rent")]  # fmt: skip
    signed = plan(*lines, units={"c": [1, 0, 0, 0, 0, 0]})
    assert obligation_to_sign(signed, {"c": 6}) == Decimal("650")


@pytest.mark.parametrize(
    ("units", "first"),
    [
        ([1, 0, 0, 1, 0, 0, 0, 0, 0], 600),
        ([2, 0, 0, 1, 0, 0, 0, 0, 0], 1200),
        ([1, 0, 0, 5, 0, 0, 0, 0, 0], 600),
        ([1, 1, 1, 1, 1, 1, 1, 1, 1], 600),
        ([0, 0, 1, 0, 2, 0, 0, 0, 0], 600),
        # Renewed as soon as it is over: the second term is not signed now.
        ([1, 0, 0, 0, 0, 0, 1, 0, 0], 600),
    ],
)
def test_of_staggered_commitments_the_first_alone_are_signed(units, first: int) -> None:
    """Each unit costs 100 in each of its six months, whatever others of its kind run beside it."""
    due = [
        100 * sum(n for start, n in enumerate(units) if start <= month < start + 6)
        for month in range(len(units) + 5)
    ]
    lines = [one for one in monthly("commitment", due, "c") if one.amount]
    assert obligation_to_sign(plan(*lines, units={"c": units}), {"c": 6}) == first


def test_upfront_payments_of_later_units_are_not_signed_now() -> None:
    lines = [line(0, "upfront", 50, "c"), line(3, "upfront", 50, "c")]
    assert obligation_to_sign(plan(*lines, units={"c": [1, 0, 0, 1]}), {"c": 6}) == Decimal("50")


def test_of_several_contracts_those_that_begin_first_are_signed() -> None:
    lines = [*monthly("commitment", [100] * 6, "a", 1), *monthly("commitment", [10] * 3, "b", 1),
             *monthly("commitment", [1000] * 3, "late", 2)]  # fmt: skip
    units = {"a": [0, 1, 0], "b": [0, 1, 0], "late": [0, 0, 1], "server:a": [1, 0, 0]}
    signed = plan(*lines, units=units)
    assert obligation_to_sign(signed, {"a": 6, "b": 3, "late": 3}) == Decimal("630")


def test_a_plan_without_contracts_signs_none() -> None:
    assert obligation_to_sign(plan(*INVOICE, units={"server:a": [1, 0]}), {}) is None
    assert obligation_to_sign(plan(units={"c": [0, 0]}), {"c": 6}) is None
