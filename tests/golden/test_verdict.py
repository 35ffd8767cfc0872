"""The advice on the page, and what is known of its prices: `kept_advice.json` holds, by request,
every figure and sentence of it. To record them anew, run this file by pytest under RECORD=1."""

import datetime as dt
from decimal import Decimal
from functools import cache
from xml.etree.ElementTree import Element

import pytest

from planner.contract.answer.comparison import ComparisonAnswer, PriceAge, PriceCoverage
from planner.contract.answer.verdict import BudgetUse, CostInterval
from planner.web.answer.verdict import first_facts, payback_words
from tests.golden.answers import REQUESTS, answered
from tests.golden.kept import assert_kept
from tests.golden.page import (
    ON_HOVER,
    drop,
    find_all,
    lists_below,
    render,
    render_answer,
    rows,
    table_head,
    tables,
    text,
)
from tests.golden.shown import money

pytestmark = pytest.mark.xdist_group("golden")
"""One process answers the nine requests once for all of them."""

SERVERS = "servers bought in several months, sensitivity"
PARTS = (
    *("answer-bar", "facts", "to-do", "decision", "beside-parts", "chip", "alternatives"),
    *("alert-warning", "money-sentence"),
)


def figures(root: Element) -> list[list[str]]:
    return [row for block in find_all(root, "figure-rows") for row in rows(block)]


@pytest.mark.parametrize("shown", ["", "on_prem", "spot"])
@pytest.mark.parametrize("name", REQUESTS)
def test_the_advice_keeps_its_figures_and_words(name: str, shown: str) -> None:
    """Whatever scenario is laid out below, the advice is that of the recommended one."""
    root = drop(render(name, shown), ON_HOVER)
    found, lists, cells = {}, lists_below(root, "h3"), tables(root)
    for part in PARTS:
        found[part] = [
            text(one) for block in find_all(root, part) for one in list(block) or [block]
        ]
    for title in ("Why", "What would change it"):
        found[title] = lists.get(title, [])
    prices = [table_head(root, "Known prices"), *cells["Known prices"]]
    ages = cells["Age of the prices"]
    assert_kept("kept_advice.json", name, {
        "headline": text(next(root.iter("h2"))), "figures": figures(root), **found,
        "prices": prices, "ages": ages,
    })  # fmt: skip


def test_the_requests_fill_every_part_of_the_advice() -> None:
    """A part that no request fills is a part that no test above holds."""
    told = [answered(name).verdict for name in REQUESTS]
    for part in ("range", "capital_to_approve", "obligation_to_sign", "resale", "payback",
                 "against", "budget", "reasons", "expected", "risk_allowance",
                 "confidence"):  # fmt: skip
        assert any(getattr(one, part) for one in told), part
    assert any(answered(name).cheaper_if for name in REQUESTS)


@cache
def made_up(owed: int, budget: str) -> ComparisonAnswer:
    """An answer whose advice has another amount in every field."""
    answer = answered(SERVERS)
    assert answer.verdict
    kinds = ("total", "capital", "monthly")
    verdict = answer.verdict.model_copy(
        update={
            "total": Decimal("1234567.89"),
            "within_horizon": Decimal("1034567.89"),
            "owed_after": Decimal(owed),
            "present_value": Decimal("1134567.40"),
            "range": CostInterval(p10=Decimal("934567.10"), p90=Decimal("2034567.20")),
            "capital_to_approve": Decimal("334567.30"),
            "obligation_to_sign": Decimal("434567.40"),
            "expected": Decimal("1250000.00"),
            "risk_allowance": {"hours": Decimal("20000.00"), "resale": Decimal("-4567.80")},
            "resale": Decimal("99001.20"),
            "payback": "2028-03",
            "confidence": 0.614,
            "budget": tuple(
                BudgetUse(
                    kind=kind,
                    budget=Decimal(500_000 + 1000 * i),
                    planned=Decimal(400_000),
                    headroom=Decimal(budget) + 1000 * i,
                )
                for i, kind in enumerate(kinds)
            ),
            "oldest_price": dt.date(2026, 3, 9),
        }
    )
    amounts = {"owed": Decimal("134567.10"), "resale": Decimal("77001.30")}
    stops = tuple(
        row.model_copy(update=amounts if row.months == 12 else {}) for row in answer.stops
    )
    return answer.model_copy(update={"verdict": verdict, "stops": stops})


@pytest.mark.parametrize(("owed", "budget"), [(200_000, "100000"), (-2_000, "-5000")])
def test_each_amount_stands_under_its_own_title(owed: int, budget: str) -> None:
    answer = made_up(owed, budget)
    shown = figures(drop(render_answer(answer), ON_HOVER))
    left = [money(int(budget) + extra, "USD") for extra in (0, 1000, 2000)]
    assert shown[: 20 + (owed < 0)] == [
        ["Total", "1,234,568 USD"],
        ["In today's money", "1,134,567 USD"],
        ["Expected cost", "1,250,000 USD"],
        ["Risk allowance: hours", "20,000 USD"],
        ["Risk allowance: resale", "−4,568 USD"],
        ["8 of 10 cases, from", "934,567 USD"],
        ["8 of 10 cases, to", "2,034,567 USD"],
        ["Capital to approve first", "334,567 USD"],
        ["Contracts to sign first", "434,567 USD"],
        ["Due within the plan", "1,034,568 USD"],
        ["Owed afterwards", "200,000 USD" if owed > 0 else "0 USD"],
        *([["Tax saved afterwards", "2,000 USD"]] if owed < 0 else []),
        ["Owed if it stops after 12 months", "134,567 USD"],
        ["Resale counted", "99,001 USD"],
        ["Pays back in", "March 2028"],
        ["Stays the cheapest", "61% of cases"],
        ["Oldest rental price paid", "9 March 2026"],
        ["Budget, left", left[0]],
        ["Capital budget, left", left[1]],
        ["Monthly budget, left", left[2]],
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("month", "words"),
    [("2028-03", "March 2028"), ("2040-01", "only with the resale at the end"),
     (None, "not within the plan")],
)  # fmt: skip
def test_when_it_pays_back_is_said_in_words(month: str | None, words: str) -> None:
    answer = made_up(0, "100000")
    verdict = answer.verdict.model_copy(update={"payback": month})  # type: ignore[union-attr]
    assert payback_words(answer.model_copy(update={"verdict": verdict})) == words


def test_every_state_of_a_price_is_told_from_the_others() -> None:
    day, later = dt.date(2026, 3, 9), dt.date(2026, 6, 18)
    place = {"accelerator": "nvidia-h100-80gb-sxm", "provider": "aws"}
    states = (
        PriceCoverage(**place, purchase_option="on_demand", state="priced", count=1200,
                      oldest=day, newest=later, undated=7),
        PriceCoverage(**place, purchase_option="spot", state="sold_price_unknown"),
        PriceCoverage(**place, purchase_option="reserved", state="not_sold"),
        PriceCoverage(**place, purchase_option="savings_plan", state="unknown"),
        PriceCoverage(**place, purchase_option="capacity_block", state="priced", count=1,
                      undated=1),
        PriceCoverage(**(place | {"provider": "gcp"}), purchase_option="spot", state="priced",
                      count=3, oldest=day, newest=day),
    )  # fmt: skip
    answer = answered(SERVERS).model_copy(update={"coverage": states})
    shown = tables(drop(render_answer(answer), ON_HOVER))["Known prices"]
    assert shown == [
        ["H100 SXM5 80 GB", "AWS", "1,200 prices, 9 March 2026 to 18 June 2026, 7 undated",
         "sold, price not known", "not sold", "not known", "1 price, undated"],
        ["H100 SXM5 80 GB", "Google Cloud", "not sold", "3 prices, 9 March 2026", "not sold",
         "not sold", "not sold"],
    ]  # fmt: skip


def test_each_part_of_the_prices_has_its_own_age() -> None:
    """A young spot price must not make an old list price look young."""
    answer = answered(SERVERS)
    parts = (
        PriceAge(part="on_demand", count=5, undated=0, median_age_days=155, oldest_age_days=300,
                 last_confirmed=dt.date(2026, 6, 18)),
        PriceAge(part="spot", count=2, undated=0, median_age_days=3, oldest_age_days=3,
                 last_confirmed=dt.date(2026, 11, 17)),
        PriceAge(part="commitments", count=4, undated=4, median_age_days=None,
                 oldest_age_days=None, last_confirmed=None),
    )  # fmt: skip
    row = answer.catalog[0].model_copy(update={"parts": parts})
    answer = answer.model_copy(update={"catalog": (row,)})
    shown = tables(drop(render_answer(answer), ON_HOVER))["Age of the prices"]
    assert shown[0][-1] == (
        "on demand 155 days (oldest 300 days), 18 June 2026; spot 3 days, 17 November 2026; "
        "commitments undated, undated"
    )


def test_with_one_plan_to_advise_nothing_is_said_to_stay_the_cheapest() -> None:
    answer = answered(SERVERS)
    alone = tuple(
        one if one.key == answer.recommended.key else one.model_copy(update={"allowed": False})  # type: ignore[union-attr]
        for one in answer.scenarios
    )
    facts = first_facts(answer.model_copy(update={"scenarios": alone}))
    assert "Stays the cheapest" not in [one.title for one in facts]
