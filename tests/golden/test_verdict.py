"""The advice on the page, and what is known of its prices: figure by figure."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from functools import cache
from xml.etree.ElementTree import Element

import pytest

from planner.contract.answer.comparison import ComparisonAnswer, PriceAge, PriceCoverage
from planner.contract.answer.verdict import BudgetUse, CostInterval
from planner.contract.labels import comes_first
from planner.web.answer.verdict import first_facts, payback_words
from planner.web.common.fields import with_labels
from tests.golden import expected_verdict as expected
from tests.golden.answers import REQUESTS, answered
from tests.golden.page import (
    ON_HOVER,
    drop,
    find_all,
    lists_below,
    pairs,
    render,
    render_answer,
    rows,
    table_head,
    tables,
    text,
)

pytestmark = pytest.mark.xdist_group("golden")
"""One process answers the nine requests once for all of them."""

views = pytest.mark.parametrize(
    ("name", "shown"), [(name, shown) for name in REQUESTS for shown in ("", "on_prem", "spot")]
)
requests = pytest.mark.parametrize("name", REQUESTS)
SERVERS = "servers bought in several months, sensitivity"


def page(name: str, shown: str = "") -> Element:
    return drop(render(name, shown), ON_HOVER)


def figures(root: Element) -> list[list[str]]:
    return [row for block in find_all(root, "figure-rows") for row in rows(block)]


@views
def test_the_figures_of_the_advice_are_the_answer_s(name: str, shown: str) -> None:
    """Whatever scenario is laid out below, the advice is that of the recommended one."""
    wanted = expected.figures(answered(name))
    assert figures(page(name, shown))[: len(wanted)] == wanted


@pytest.mark.one_in(3)
@views
def test_the_advice_is_said_word_for_word(name: str, shown: str) -> None:
    answer, root = answered(name), page(name, shown)
    assert answer.verdict
    assert text(next(root.iter("h2"))) == answer.verdict.headline
    assert answer.verdict.sentence.removeprefix(answer.verdict.headline).strip() in text(root)
    found = lists_below(root, "h3")
    titles = ("Why", "What would change it")
    shown_lists = {title: found[title] for title in titles if title in found}
    assert shown_lists == expected.lists(answer)
    warnings = [text(one) for one in find_all(root, "alert-warning")]
    first = [with_labels(one) for one in answer.warnings if comes_first(one)]
    assert warnings == first


@pytest.mark.one_in(3)
@views
def test_what_to_do_stands_by_money_with_what_each_part_costs(name: str, shown: str) -> None:
    answer = answered(name)
    parts = [text(one) for block in find_all(page(name, shown), "decision") for one in block]
    assert parts == expected.decision(answer)
    amounts = [one.amount for one in answer.verdict.decision]  # type: ignore[union-attr]
    assert amounts == sorted(amounts, reverse=True)
    beside = [text(one) for one in find_all(page(name, shown), "beside-parts")]
    assert beside == expected.beside_parts(answer)


@requests
def test_the_first_screen_says_what_to_do_and_what_is_signed_each_amount_once(name: str) -> None:
    answer, root = answered(name), page(name)
    told = answer.verdict
    assert told
    lists = [one for one in find_all(root, "to-do") if one.tag == "ul"]
    said = [text(item) for one in lists for item in one]
    assert said == [f"{one.sentence[:1].upper()}{one.sentence[1:]}" for one in told.decision]
    facts = [pair for block in find_all(root, "facts") for pair in pairs(block)]
    assert facts == expected.first_facts(answer)
    first = find_all(root, "answer-bar") + find_all(root, "facts")
    amounts = re.findall(r"\d{1,3}(?:,\d{3})+", " ".join(map(text, first)))
    assert sorted(amounts) == sorted(set(amounts))


@requests
def test_each_rule_that_could_be_lifted_is_a_chip_with_its_saving(name: str) -> None:
    root = page(name)
    chips, behind = expected.alternatives(answered(name))
    assert [text(one) for one in find_all(root, "chip")] == chips
    blocks = find_all(root, "verdict-alternatives")
    said = [text(one) for block in blocks for one in block.findall("./details/ul/li")]
    assert said == [" ".join(one.replace("\u00a0", " ").split()) for one in behind]


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
    left = [f"{int(budget) + extra:,} USD" for extra in (0, 1000, 2000)]
    assert shown[: len(expected.figures(answer))] == expected.figures(answer)
    assert shown[: len(expected.figures(answer))] == [
        ["Total", "1,234,568 USD"],
        ["In today's money", "1,134,567 USD"],
        ["Expected cost", "1,250,000 USD"],
        ["Risk allowance: hours", "20,000 USD"],
        ["Risk allowance: resale", "-4,568 USD"],
        ["8 of 10 cases, from", "934,567 USD"],
        ["8 of 10 cases, to", "2,034,567 USD"],
        ["Capital to approve now", "334,567 USD"],
        ["Contracts to sign now", "434,567 USD"],
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


# Prices ---------------------------------------------------------------------------------------


@requests
def test_each_cell_of_the_known_prices_is_the_answer_s(name: str) -> None:
    root, wanted = page(name), expected.coverage(answered(name))
    assert wanted
    assert [table_head(root, "Known prices"), *tables(root)["Known prices"]] == wanted


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
    assert shown == expected.coverage(answer)[1:]
    assert shown == [
        ["H100 SXM5 80 GB", "AWS", "1,200 prices, 9 March 2026 to 18 June 2026, 7 undated",
         "sold, price not known", "not sold", "not known", "1 price, undated"],
        ["H100 SXM5 80 GB", "Google Cloud", "not sold", "3 prices, 9 March 2026", "not sold",
         "not sold", "not sold"],
    ]  # fmt: skip


@requests
def test_the_ages_of_the_prices_are_the_answer_s(name: str) -> None:
    assert tables(page(name))["Age of the prices"] == expected.ages(answered(name))


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
    assert shown == expected.ages(answer)
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
