"""FOCUS: what is paid is a line of the answer, what is booked its write-off and its use."""

import csv
import io
from collections import defaultdict
from decimal import Decimal
from functools import cache

import pytest

from planner.contract.answer.scenario import CostLine, ScenarioAnswer
from planner.exports import FORMATS, Context
from tests.golden.answers import FEASIBLE, answered
from tests.golden.shown import first_day

pytestmark = pytest.mark.xdist_group("golden")
"""One process answers the nine requests once for all of them."""

Row = dict[str, str]
KEYS = [(name, key) for name, keys in FEASIBLE.items() for key in keys]
plans = pytest.mark.parametrize(("name", "key"), KEYS)
CAPITAL = ("capex", "install", "network_storage", "spares")
COMMITTED = ("commitment", "upfront")


@cache
def rows(name: str, key: str) -> list[Row]:
    """Read once for all tests, which change none."""
    raw = FORMATS["focus"].make(answered(name), Context(scenario=key)).decode()
    return list(csv.DictReader(io.StringIO(raw)))


def scenario(name: str, key: str) -> ScenarioAnswer:
    return next(one for one in answered(name).scenarios if one.key == key)


def is_booking(row: Row) -> bool:
    """Whether the row books what another one paid."""
    is_use = row["CommitmentDiscountStatus"] in ("Used", "Unused")
    return is_use or row["ChargeDescription"].startswith("Write-off: ")


def period(name: str, month: int) -> tuple[str, str]:
    start = answered(name).start
    return tuple(f"{first_day(start, at)}T00:00:00Z" for at in (month, month + 1))  # type: ignore[return-value]


def paid(name: str, line: CostLine) -> tuple[object, ...]:
    start, end = period(name, line.month)
    unpriced = line.category in ("tax", "residual")
    later = line.category in (*COMMITTED, *CAPITAL)
    return (
        start,
        end,
        line.category.value,
        line.label,
        *(line.region, line.region, line.amount),
        Decimal(0) if later else line.amount,
        line.amount if unpriced else Decimal(str(line.quantity)) * line.unit_price,
        None if unpriced else line.unit_price,
        None if unpriced else Decimal(str(line.quantity)),
    )


def shown(row: Row) -> tuple[object, ...]:
    assert row["BillingPeriodStart"] == row["ChargePeriodStart"]
    assert row["BillingPeriodEnd"] == row["ChargePeriodEnd"]
    return (
        row["ChargePeriodStart"],
        row["ChargePeriodEnd"],
        row["x_Category"],
        row["ChargeDescription"],
        *(row["RegionId"], row["RegionName"]),
        Decimal(row["BilledCost"]),
        Decimal(row["EffectiveCost"]),
        Decimal(row["ContractedCost"]),
        Decimal(row["ContractedUnitPrice"]) if row["ContractedUnitPrice"] else None,
        Decimal(row["PricingQuantity"]) if row["PricingQuantity"] else None,
    )


@pytest.mark.parametrize("name", FEASIBLE)
def test_each_request_has_plans_in_the_scenarios_that_it_was_chosen_for(name: str) -> None:
    assert tuple(one.key.value for one in answered(name).feasible) == FEASIBLE[name]


@plans
def test_what_is_billed_are_the_lines_in_their_months(name: str, key: str) -> None:
    billed = [shown(row) for row in rows(name, key) if not is_booking(row)]
    lines = [paid(name, line) for line in scenario(name, key).lines]
    assert sorted(billed, key=str) == sorted(lines, key=str)


@plans
def test_the_list_price_is_the_price_before_the_contract_discount(name: str, key: str) -> None:
    offers = answered(name).offers
    for row in rows(name, key):
        offer = offers.get(row["SkuPriceId"])
        if row["ListUnitPrice"] and offer and not is_booking(row):
            is_discounted = row["x_Category"] in ("compute", *COMMITTED)
            multiplier = offer.multiplier if is_discounted else 1
            listed = Decimal(row["ContractedUnitPrice"]) / Decimal(str(multiplier))
            assert float(row["ListUnitPrice"]) == pytest.approx(float(listed), abs=1e-9)
            cost = Decimal(row["ListUnitPrice"]) * Decimal(row["PricingQuantity"])
            assert Decimal(row["ListCost"]) == cost
            if multiplier == 1:
                assert row["ListUnitPrice"] == row["ContractedUnitPrice"]


@plans
def test_what_is_booked_in_a_month_is_its_write_off_and_its_commitments(
    name: str, key: str
) -> None:
    one = scenario(name, key)
    told: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for line in one.lines:
        if line.category == "commitment":
            told[line.source, period(name, line.month)[0]] += line.amount
    for source, months in one.write_off.items():
        for month, amount in enumerate(months):
            told[source, period(name, month)[0]] += amount
    machines = {line.instance_type: line.source for line in one.lines}
    booked: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for row in rows(name, key):
        if is_booking(row):
            source = row["CommitmentDiscountId"] or machines[row["x_InstanceType"]]
            booked[source, row["ChargePeriodStart"]] += Decimal(row["EffectiveCost"])
            assert Decimal(row["BilledCost"]) == 0
    told, booked = ({k: v for k, v in one.items() if v} for one in (told, booked))
    assert booked == told


@plans
def test_commitments_are_used_as_the_capacity_says(name: str, key: str) -> None:
    answer, one = answered(name), scenario(name, key)
    hours: dict[tuple[str, str, str], float] = defaultdict(float)
    for row in rows(name, key):
        if status := row["CommitmentDiscountStatus"]:
            at = (row["CommitmentDiscountId"], row["ChargePeriodStart"], status)
            hours[at] += float(row["CommitmentDiscountQuantity"])
    committed = {line.source for line in one.lines if line.category in COMMITTED}
    checked = 0
    for given in one.capacity:
        if given.source not in committed:
            continue
        nodes = given.accelerators / float(answer.offers[given.source].accelerator_count)
        share = min(1.0, given.hours_used / given.hours_available)
        at = (given.source, period(name, given.month)[0])
        assert hours[*at, "Used"] == pytest.approx(nodes * 730 * share, abs=1e-4)
        assert hours[*at, "Unused"] == pytest.approx(nodes * 730 * (1 - share), abs=1e-4)
        checked += 1
    assert checked or not committed


@plans
def test_accelerator_hours_are_the_capacity_s(name: str, key: str) -> None:
    one = scenario(name, key)
    used = {(row.source, period(name, row.month)[0]): row.hours_used for row in one.capacity}
    sources = {line.offer_id: line.source for line in one.lines}
    for row in rows(name, key):
        if row["x_AcceleratorHours"]:
            at = (sources[row["SkuPriceId"]], row["ChargePeriodStart"])
            assert float(row["x_AcceleratorHours"]) == used.pop(at), "once, however it is paid"


@plans
def test_effective_and_billed_cost_both_sum_to_the_total(name: str, key: str) -> None:
    table = rows(name, key)
    total = scenario(name, key).total_cost
    assert sum(Decimal(row["BilledCost"]) for row in table) == total
    assert sum(Decimal(row["EffectiveCost"]) for row in table) == total
    assert {row["BillingCurrency"] for row in table} == {answered(name).currency}


@pytest.mark.parametrize(
    ("name", "nodes"),
    [("owed after the horizon", 2), ("servers bought in several months, sensitivity", 3)],
)
def test_hours_after_the_horizon_are_billed_or_written_off_and_lie_idle(
    name: str, nodes: int
) -> None:
    """Paid at the start or month by month, months 30 to 35 of a term of 36 are booked unused."""
    horizon = answered(name).horizon_months
    late = [
        row
        for row in rows(name, "cloud")
        if row["ChargePeriodStart"] >= period(name, horizon)[0] and is_booking(row)
    ]
    by_month: dict[str, float] = defaultdict(float)
    for row in late:
        by_month[row["ChargePeriodStart"]] += float(row["CommitmentDiscountQuantity"])
    assert {row["CommitmentDiscountStatus"] for row in late} == {"Unused"}
    assert len(by_month) > 0
    assert max(by_month.values()) == pytest.approx(nodes * 730)
    assert scenario(name, "cloud").owed_after is not None


def test_a_commitment_is_never_used_for_more_than_its_hours() -> None:
    name = "most scenarios infeasible"
    answer = answered(name)
    one = scenario(name, "cloud")
    row = one.capacity[0]
    over = row.model_copy(update={"hours_used": row.hours_available * 1.001})
    changed = one.model_copy(update={"capacity": (over, *one.capacity[1:])})
    scenarios = tuple(changed if s.key == one.key else s for s in answer.scenarios)
    raw = FORMATS["focus"].make(
        answer.model_copy(update={"scenarios": scenarios}), Context(scenario="cloud")
    )
    first = [
        booked
        for booked in csv.DictReader(io.StringIO(raw.decode()))
        if booked["CommitmentDiscountStatus"]
        and booked["ChargePeriodStart"] == period(name, row.month)[0]
    ]
    assert [booked["CommitmentDiscountStatus"] for booked in first] == ["Used"]
    nodes = row.accelerators / float(answer.offers[row.source].accelerator_count)
    assert float(first[0]["CommitmentDiscountQuantity"]) == pytest.approx(nodes * 730)
