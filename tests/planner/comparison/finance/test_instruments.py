"""The examples of the guide to instruments, computed as it says and reckoned by hand here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.market.snapshot import Region
from tests.planner.costing.market_of import TODAY, catalog, offer

PAGE = (Path(settings.BASE_DIR) / "docs" / "guides" / "instruments.md").read_text()
INTRODUCTION, *PARTS = PAGE.split("\n## ")
SECTIONS = {part.splitlines()[0]: part for part in PARTS}
BLOCK = re.compile(r"```json\n(.*?)```", re.DOTALL)
BASE = json.loads(BLOCK.findall(INTRODUCTION)[0])
MONTH = 730 * 40
YEAR_COMMITTED = 60_000 + 12 * 730 * 20
OWNED = 300_000 + 24 * 730 * 5
INSTALMENT = (270_000 - 60_000 / 1.01**24) * 0.01 / (1 - 1.01**-24) / 1.01
OREGON, IRELAND = "us-west-2", "eu-west-1"
PRICE_LIST = replace(
    catalog(offer("40", region=OREGON), offer("40", region=IRELAND), offer("9", "spot", count=1,
            region=OREGON)),
    regions={("aws", OREGON): Region("north-america", "US", latitude=45.8, longitude=-119.7),
             ("aws", IRELAND): Region("europe", "IE", latitude=53.35, longitude=-6.26)},
)  # fmt: skip
"""What the sections on price lists say of them; every other one leaves them aside."""
Figure = Callable[[ComparisonAnswer], object]


def merged(plain: Any, change: Any) -> Any:
    """A JSON merge patch (RFC 7396)."""
    if not isinstance(change, dict):
        return change
    target = dict(plain) if isinstance(plain, dict) else {}
    for name, value in change.items():
        target[name] = merged(target.get(name), value)
    return {name: value for name, value in target.items() if value is not None}


@cache
def answer(title: str = "", more: str = "{}") -> ComparisonAnswer:
    """The answer to the example of a section, changed further by `more`."""
    change = json.loads(BLOCK.findall(SECTIONS[title])[0]) if title else {}
    request = merged(merged(BASE, change), json.loads(more))
    request["sensitivity"] = title == "A price between quotes"
    return compare(request, PRICE_LIST, today=TODAY)


def total(key: str) -> Figure:
    return lambda found: found.by_key[key].total_cost


def owed(found: ComparisonAnswer) -> object:
    return found.by_key["committed"].owed_after


def category(key: str, name: str) -> Figure:
    return lambda found: abs(found.by_key[key].cost_by_category[name])


def cash(key: str, fiscal_year: int) -> Figure:
    def figure(found: ComparisonAnswer) -> object:
        finance = found.by_key[key].finance
        assert finance is not None
        return next(y.cash for y in finance.fiscal_years if y.fiscal_year == fiscal_year)

    return figure


def bar(name: str) -> Figure:
    def figure(found: ComparisonAnswer) -> object:
        (row,) = (r for r in found.sensitivity if r.field == "on_prem.servers.unit_price")
        return getattr(row, name)

    return figure


def late_cost(found: ComparisonAnswer) -> object:
    assert found.verdict is not None
    assert found.verdict.late_delivery is not None
    return found.verdict.late_delivery.cost


ON_DEMAND, COMMITTED, ON_PREM = (total(key) for key in ("on_demand", "committed", "on_prem"))
FIGURES: Mapping[str, list[tuple[Figure, float]]] = {
    "A reservation that outlasts the plan": [
        (COMMITTED, 2 * YEAR_COMMITTED), (owed, 3 * 730 * 20),
    ],
    "Machines reserved by date": [
        (category("committed", "upfront"), 3 * 730 * 30), (COMMITTED, 21 * MONTH + 3 * 730 * 30),
    ],
    "An existing commitment": [
        (category("on_demand", "commitment"), 120_000), (ON_DEMAND, 120_000 + 18 * MONTH),
    ],
    "A contract discount": [(ON_DEMAND, 0.9 * 0.95 * 24 * MONTH)],
    "Equal prices": [(ON_DEMAND, 24 * MONTH)],
    "A server on lease": [
        (category("on_demand", "lease"), 54_000), (category("on_demand", "power"), 6 * 730 * 5),
        (ON_DEMAND, 54_000 + 6 * 730 * 5 + 18 * MONTH),
    ],
    "Servers you already own": [
        (category("on_demand", "power"), 12 * 730 * 5), (ON_DEMAND, 12 * 730 * 5 + 12 * MONTH),
    ],
    "A credit": [
        (category("on_demand", "credit"), 3 * MONTH), (ON_DEMAND, 21 * MONTH),
        (COMMITTED, 2 * YEAR_COMMITTED - 100_000),
    ],
    "Hire purchase with a balloon": [
        (category("on_prem", "interest"), 24 * INSTALMENT - 210_000),
        (ON_PREM, OWNED + 24 * INSTALMENT - 210_000),
    ],
    "Bills paid later": [
        (cash("on_demand", 2027), 11 * MONTH), (cash("on_demand", 2029), MONTH),
    ],
    "Capital by fiscal year": [(total("hybrid"), 2 * YEAR_COMMITTED)],
    "Tax and depreciation": [
        (ON_PREM, 0.75 * OWNED), (COMMITTED, 0.75 * 2 * YEAR_COMMITTED),
        (cash("on_prem", 2027), 343_800 - 0.25 * (43_800 + 150_000)),
    ],
    "Prices that move": [
        (ON_DEMAND, sum(MONTH * 0.81 ** (t / 12) for t in range(24))),
        (COMMITTED, 1.81 * YEAR_COMMITTED),
    ],
    "A support plan by name": [
        (category("on_demand", "support"), 24 * (0.09 * 10_000 + 0.07 * (MONTH - 10_000))),
    ],
    "A price between quotes": [
        (ON_PREM, OWNED), (bar("total_at_low"), OWNED - 20_000),
        (bar("total_at_high"), OWNED + 45_000),
    ],
    "A late delivery": [(ON_PREM, OWNED), (late_cost, 3 * (MONTH - 3_650))],
    "Insurance": [(category("on_prem", "insurance"), 6_000)],
    "Data in the cloud": [
        (category("on_demand", "storage"), 24 * 10_000 * 0.08),
        (category("on_demand", "egress"), 24 * 2_000 * 0.09),
    ],
    "Budgets": [(COMMITTED, 2 * YEAR_COMMITTED)],
    "A quota": [(ON_PREM, 2 * OWNED)],
    "Another currency": [(ON_DEMAND, 0.9 * 24 * MONTH), (ON_PREM, OWNED)],
}  # fmt: skip
"""Section of the guide → its figures, each read from the answer and reckoned by hand."""


def says(text: str, amount: float, unit: str = "USD") -> bool:
    return f"{amount:,.2f}".removesuffix(".00") + f" {unit}" in text


def test_every_example_has_its_figures() -> None:
    assert set(SECTIONS) == set(FIGURES)


def test_the_plan_that_they_change() -> None:
    plain = answer()
    by_hand = {"on_demand": 24 * MONTH, "committed": 2 * YEAR_COMMITTED, "on_prem": OWNED}
    for key, amount in by_hand.items():
        assert plain.by_key[key].total_cost == amount
        assert says(INTRODUCTION, amount)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("title", FIGURES)
def test_an_example(title: str) -> None:
    unit = "EUR" if title == "Another currency" else "USD"
    for figure, by_hand in FIGURES[title]:
        found = figure(answer(title))
        assert float(found) == pytest.approx(by_hand, abs=0.06)  # type: ignore[arg-type]
        assert says(SECTIONS[title], float(found), unit), found  # type: ignore[arg-type]


def test_what_the_examples_say_besides() -> None:
    year_end = answer("Bills paid later", '{"finance": {"cash_timing": "year_end", '
                      '"payment_terms_days": 0}}')  # fmt: skip
    worth = year_end.by_key["on_demand"].net_present_cost
    assert float(worth or 0) == pytest.approx(12 * MONTH / 1.1 + 12 * MONTH / 1.21, abs=0.1)
    assert says(SECTIONS["Bills paid later"], float(worth or 0))
    macrs = answer("Tax and depreciation", '{"finance": {"depreciation": "macrs_5"}}')
    assert cash("on_prem", 2027)(macrs) == 343_800 - 0.25 * (43_800 + 60_000)
    assert says(SECTIONS["Tax and depreciation"], 343_800 - 0.25 * (43_800 + 60_000))


def test_tax_saved_on_what_is_owed_is_taken_off_it_from_the_first_month_on() -> None:
    """Three months of 14,600 after the plan, and with a quarter of it that of the 60,000 paid
    upfront for a year, 1,250 a month."""
    taxed = answer("A reservation that outlasts the plan",
                   '{"finance": {"tax_rate": 0.25}, "on_prem": {"servers": []}}')  # fmt: skip
    committed = taxed.by_key["committed"]
    assert committed.owed_after == 3 * 14_600 - 3 * (3_650 + 1_250)
    assert committed.within_horizon == committed.total_cost - 29_100
    assert taxed.verdict is not None
    assert "29,100 USD of the cost is owed after September 2028" in taxed.verdict.sentence


def test_the_range_of_a_price_between_quotes() -> None:
    title = "A price between quotes"
    found = answer(title, '{"risk": {"demand_growth_sd": 0, "slip_months_sd": 0}}').risk
    assert found is not None
    assert found.on_prem is not None
    for end in (found.on_prem.total_p10, found.on_prem.total_p90):
        assert f"{round(end or 0):,} USD" in SECTIONS[title]
    assert f"{found.samples:,} outcomes" in SECTIONS[title]


def test_a_delay_that_is_certain_is_part_of_the_plan() -> None:
    request = merged(BASE, json.loads(BLOCK.findall(SECTIONS["A late delivery"])[0]))
    request["on_prem"]["servers"][0]["late_delivery"]["probability"] = 1
    found = compare(request, PRICE_LIST, today=TODAY).by_key["on_prem"].total_cost
    assert float(found) == OWNED + 3 * (MONTH - 3_650)
    assert says(SECTIONS["A late delivery"], float(found))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("title", "change", "key", "words"),
    [
        ("Capital by fiscal year", "{}", "on_prem", "of fiscal year 2027 of at least 300,000 USD"),
        ("Budgets", "{}", "on_demand", "a total budget of at least 700,800 USD"),
        ("Budgets", '{"constraints": {"total_budget": null, "monthly_budget": 30000}}', "on_prem",
         "303,650 USD"),
        ("Budgets", '{"constraints": {"total_budget": null, "capex_budget": 200000}}', "on_prem",
         "at least 300,000 USD"),
        ("A quota", "{}", "on_demand", "at least 16 accelerators instead of 8"),
    ],
)  # fmt: skip
def test_what_is_in_the_way(title: str, change: str, key: str, words: str) -> None:
    found = answer(title, change)
    assert not found.by_key[key].feasible
    assert words in " ".join(found.by_key[key].why_not)
    if "monthly_budget" in change:
        assert found.by_key["hybrid"].total_cost == 24 * MONTH


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("title", "change", "region"),
    [
        ("A contract discount", "{}", IRELAND),
        ("A contract discount", '{"price_adjustments": [{"provider": "aws", "multiplier": 0.9}]}',
         OREGON),
        ("Equal prices", "{}", IRELAND),
        ("Equal prices", '{"constraints": null}', OREGON),
        ("Equal prices", '{"constraints": {"near_country": null, "place_order": 1}}', IRELAND),
    ],
)  # fmt: skip
def test_where_the_work_goes(title: str, change: str, region: str) -> None:
    plan = answer(title, change).by_key["on_demand"]
    assert {line.region for line in plan.lines if line.category == "compute"} == {region}


CERTAIN = {"demand_growth_sd": 0, "slip_months_sd": 0, "price_sd": 0, "residual_sd": 0}


def range_of(title: str, samples: int, **server: Any) -> tuple[float, ...]:
    """p10, p50 and p90 of owning, where nothing but its purchase is uncertain."""
    change = json.loads(BLOCK.findall(SECTIONS[title])[0])
    change["on_prem"]["servers"][0] |= server
    risk = json.dumps({**change, "risk": {**CERTAIN, "samples": samples}})
    found = answer(title, risk).by_key["on_prem"], answer(title, risk).risk
    assert found[1] is not None
    assert found[1].on_prem is not None
    ends = found[1].on_prem
    return tuple(float(one or 0) for one in (ends.total_p10, ends.total_p50, ends.total_p90))


def test_half_of_the_outcomes_pay_more_than_the_newest_quote() -> None:
    low, middle, high = range_of("A price between quotes", 20_000)
    assert low == pytest.approx(OWNED - 20_000, rel=0.003)
    assert middle == pytest.approx(OWNED, rel=0.003)
    assert high == pytest.approx(OWNED + 45_000, rel=0.003)
    (box,) = answer("A price between quotes").servers
    assert (box.unit_price_p10, box.unit_price_p90, box.price_quotes) == (280_000, 345_000, 3)
    firm = range_of("A price between quotes", 100, unit_price=300_000, quotes=[])
    assert firm == (OWNED, OWNED, OWNED)


def test_the_range_knows_how_often_servers_come_late() -> None:
    """One in four is more than one in ten; of 0 to 4 months the middle is 2."""
    assert range_of("A late delivery", 2_000) == (OWNED, OWNED, OWNED + 3 * (MONTH - 3_650))
    rare = range_of("A late delivery", 2_000, late_delivery={"probability": 0.05, "months": 3})
    assert rare == (OWNED, OWNED, OWNED)
    spread = {"p10_months": 0, "p90_months": 4}
    months = [(one - OWNED) / (MONTH - 3_650)
              for one in range_of("A late delivery", 2_000, late_delivery=spread)]  # fmt: skip
    assert months == pytest.approx([0, 2, 4])


def test_the_advice_names_a_late_delivery() -> None:
    told = answer("A late delivery").verdict
    assert told is not None
    assert told.late_delivery is not None
    assert told.late_delivery.sentence == (
        "If the servers arrive 3 months late (25% of cases), renting in the meantime costs "
        "76,650 USD more."
    )
    assert told.late_delivery.sentence in answer("A late delivery").advice
    assert (told.late_delivery.months, told.late_delivery.probability) == (3, 0.25)
    on_time = answer().verdict
    assert on_time is not None
    assert on_time.late_delivery is None
