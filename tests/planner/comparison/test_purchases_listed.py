"""What the answer lists as bought, committed to and reserved: every cohort and renewal once."""

from collections import Counter
from decimal import Decimal

from planner.contract.answer.scenario import Purchase
from planner.web.answer.tables import purchase_rows
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100

GROWING = [4000.0] * 12 + [9000.0] * 12


def own(option: str, **fields: object) -> dict[str, object]:
    return {"label": "Ours", "accelerator": H100, "accelerator_count": 8, "purchase_option": option,
            **fields}  # fmt: skip


def rented(offer: dict[str, object], **fields: object) -> Compared:
    offers = [own("on_demand", usd_per_hour=90.0) | {"label": "On demand"}, offer]
    return compared(custom_offers=offers, use_catalog=False, on_prem={"servers": []}, **fields)


def purchases(one: Compared) -> list[Purchase]:
    return [row for row in one.answer.scenarios[1].purchases if row.kind == "commitment"]


def test_every_unit_that_starts_is_listed_once_at_the_price_of_its_month() -> None:
    offer = own("reserved", usd_per_hour=20.0, term_months=12)
    one = rented(offer, hours=GROWING, finance={"cloud_price_trend_per_year": -0.2})
    started = Counter[int]()
    for units in one.scenarios["cloud"].units_started.values():
        started.update({int(m): int(units[m]) for m in units.nonzero()[0]})
    assert {row.month: row.units for row in purchases(one)} == dict(started)
    for row in purchases(one):
        expected = Decimal(row.units) * 730 * 20 * Decimal(0.8 ** (row.month / 12))
        assert row.due_per_month is not None
        assert abs(row.due_per_month - expected) < Decimal("0.02") * 730


def test_what_is_due_at_the_start_is_what_the_lines_book() -> None:
    offer = own("reserved", usd_per_hour=1.0, upfront_usd=100_000.0, term_months=12)
    for scenario in rented(offer, hours=GROWING).answer.feasible:
        booked = [line for line in scenario.lines if line.category in ("upfront", "capex")]
        due = sum((row.due_at_start or Decimal(0) for row in scenario.purchases), Decimal(0))
        assert due == sum((line.amount for line in booked), Decimal(0))


def test_a_capacity_block_is_reserved_in_hours() -> None:
    """4,000 hours on a machine of eight, for the whole month."""
    one = rented(own("capacity_block", usd_per_hour=20.0), hours=4000)
    rows = [r for r in one.answer.scenarios[1].purchases if r.kind == "capacity_block"]
    assert rows
    assert {(row.unit, row.units) for row in rows} == {("node-hours", 730.0)}


def test_months_of_a_commitment_without_work_are_listed() -> None:
    offer = own("reserved", usd_per_hour=10.0, term_months=12)
    hours = [5840] * 3 + [0] * 2 + [5840] * 4 + [0] + [5840] * 2
    one = rented(offer, hours=hours, horizon_months=12)
    (row,) = purchases(one)
    assert (row.first, row.last, row.idle_months) == (0, 11, (3, 4, 9))
    answer = one.answer
    (shown,) = purchase_rows(answer, answer.scenarios[1])
    assert shown.idle == "April 2027 to May 2027, October 2027"
