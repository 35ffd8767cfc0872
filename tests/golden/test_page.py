"""Page and print view: every figure is the answer's, and every figure of the answer is there."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element

import pytest

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from tests.golden import expected_page as expected
from tests.golden.answers import REQUESTS, answered
from tests.golden.expected_charts import charts
from tests.golden.page import (
    NOT_PRINTED,
    ON_HOVER,
    classes,
    documents,
    drop,
    find_all,
    remove,
    render,
    tables,
    text,
)
from tests.golden.shown import money, number

pytestmark = pytest.mark.xdist_group("golden")
"""One process answers the eight requests once for all of them."""

VIEWS = [
    (name, shown)
    for name in REQUESTS
    for shown in ("", "on_prem", "committed")
    if not shown or name not in ("nothing feasible", "capacity blocks")
]
views = pytest.mark.parametrize(("name", "shown"), VIEWS)
requests = pytest.mark.parametrize("name", REQUESTS)
NOT_FIGURES = (
    "(p10, p50, p90)",
    "p10 to p90",
    "Average of the worst 10 % (CVaR)",
    *("p10", "p50", "p90", "CO2e"),
)
"""Words with digits that the templates hold."""


def page(name: str, shown: str = "") -> Element:
    return drop(render(name, shown), ON_HOVER)


def printed(name: str) -> Element:
    root = drop(render(name), NOT_PRINTED)
    for figure in list(root.iter("figure")):
        for parent in list(figure.iter()):
            for child in [one for one in parent if one.tag == "details"]:
                remove(parent, child)
    return root


def plan(answer: ComparisonAnswer, shown: str) -> ScenarioAnswer | None:
    """The scenario whose plan is laid out; the recommended one where the other has none."""
    one = answer.by_key[shown] if shown else answer.recommended  # type: ignore[index]
    return one if one and one.feasible else None


@requests
def test_the_headline_holds_the_recommended_plan_s_figures(name: str) -> None:
    answer, told = answered(name), text(page(name))
    assert expected.demand(answer) in told
    if answer.recommended:
        assert expected.headline(answer) in told


@requests
def test_every_card_holds_its_scenario_s_figures(name: str) -> None:
    answer = answered(name)
    cards = [text(one) for one in find_all(page(name), "scenario-card")]
    assert cards == [" ".join(expected.card(answer, one).split()) for one in answer.scenarios]


@views
def test_every_table_holds_the_answer_s_rows(name: str, shown: str) -> None:
    answer = answered(name)
    one = plan(answer, shown)
    found = tables(page(name, shown))
    for label in ("Age of the prices", "Assumptions"):
        assert found.pop(label)
    found = {label: rows for label, rows in found.items() if not label.endswith(", numbers")}
    assert found == (expected.tables(answer, one) if one else {})


@views
def test_every_chart_is_drawn_from_the_answer(name: str, shown: str) -> None:
    answer = answered(name)
    one = plan(answer, shown)
    drawn = documents(page(name, shown))
    tornado = drawn.pop("tornado", None)
    wanted = charts(answer, one) if one else {}
    assert set(drawn) == set(wanted)
    for key, (labels, series) in wanted.items():
        assert drawn[key]["x"] == labels
        values = {line["name"]: line["values"] for line in drawn[key]["series"]}
        assert set(values) == set(series)
        for title, numbers in series.items():
            assert values[title] == pytest.approx(numbers, abs=0.006), (key, title)
    assert (tornado is not None) == bool(one and answer.sensitivity)


@views
def test_the_table_of_a_chart_shows_what_its_picture_shows(name: str, shown: str) -> None:
    root = page(name, shown)
    found = tables(root)
    for document in documents(root).values():
        rows = found[f"{document['title']}, numbers"]
        lines = [line["values"] for line in document["series"]]
        assert rows == [
            [str(x), *(number(values[i], document["digits"]) for values in lines)]
            for i, x in enumerate(document["x"])
        ]


def test_the_tornado_holds_the_totals_at_both_ends_the_widest_first() -> None:
    name = "servers bought in several months, sensitivity"
    answer, chart = answered(name), documents(page(name))["tornado"]
    ends = [(float(row.total_at_low or 0), float(row.total_at_high or 0))
            for row in answer.sensitivity if row.effect]  # fmt: skip
    ends.sort(key=lambda pair: abs(pair[1] - pair[0]), reverse=True)
    low, high = (line["values"] for line in chart["series"])
    assert [line["name"] for line in chart["series"]] == ["at low", "at high"]
    assert list(zip(low, high, strict=True)) == ends[:12]
    assert len(ends) > 5
    assert chart["base"] == float(answer.recommended.total_cost)  # type: ignore[union-attr]


def test_the_curve_marks_where_lines_cross() -> None:
    marked = 0
    for name in REQUESTS:
        chart = documents(page(name)).get("hours-curve")
        crossings = answered(name).cost_curve.crossings if chart else ()
        marks = [(m["x"], m["y"], m["label"]) for m in chart["marks"]] if chart else []
        assert marks == [
            (c.hours_per_month, float(c.cost), f"{number(c.hours_per_month)} h") for c in crossings
        ]
        marked += len(marks)
    assert marked > 3


@requests
def test_the_ages_of_the_prices_are_the_answer_s(name: str) -> None:
    rows = [
        [row.provider, str(row.revision), str(row.as_of), str(row.oldest_price_as_of),
         f"{row.age_days} days"]
        for row in answered(name).catalog
    ]  # fmt: skip
    assert tables(page(name))["Age of the prices"] == rows or not rows


@requests
def test_every_assumption_stands_with_its_source(name: str) -> None:
    rows = tables(page(name))["Assumptions"]
    told = answered(name).assumptions
    assert [row[4] for row in rows] == [" ".join(row.source.split()) for row in told]
    for row, one in zip(rows, told, strict=True):
        assert _as_number(row[1]) == pytest.approx(_in_shown_unit(one.value, row[2]), rel=1e-9)
        assert (row[3] == "given") == (one.given and row[3] != "fixed")


def _as_number(shown: str) -> Any:
    digits = shown.split(" ")[0].replace(",", "")
    return float(digits) if re.fullmatch(r"-?\d+(\.\d+)?", digits) else 0.0


def _in_shown_unit(value: Any, unit: str) -> float:
    try:
        figure = float(value)
    except (TypeError, ValueError):
        return 0.0
    return figure * 100 if unit.startswith("%") else figure


@requests
def test_the_print_view_holds_the_same_figures(name: str) -> None:
    answer, root = answered(name), printed(name)
    cards = [text(one) for one in find_all(root, "scenario-card")]
    assert cards == [" ".join(expected.card(answer, one).split()) for one in answer.scenarios]
    found = tables(root)
    assert not [label for label in found if label.endswith(", numbers")]
    on_screen = {k: v for k, v in tables(page(name)).items() if not k.endswith(", numbers")}
    assert found == on_screen
    told = text(root)
    for sentence in expected.sentences(answer, plan(answer, "")):
        assert sentence in told
    for action in ("Print", "Copy the link", "Sign in"):
        assert action not in told


@views
def test_no_figure_is_on_the_page_that_no_field_accounts_for(name: str, shown: str) -> None:
    answer = answered(name)
    one = plan(answer, shown)
    root = page(name, shown)
    for chart in documents(root).values():
        assert chart["summary"] in text(root)
    summaries = [chart["summary"] for chart in documents(root).values()]
    _remove_tables_and_cards(root)
    told = text(root)
    known = [*expected.sentences(answer, one), *summaries, expected.demand(answer)]
    if answer.recommended and one:
        known.append(expected.headline(answer))
    for sentence in sorted({*known, *NOT_FIGURES}, key=len, reverse=True):
        told = told.replace(sentence, " ")
    assert re.findall(r"\S*\d\S*", told) == []


def _remove_tables_and_cards(root: Element) -> None:
    """Parts that other tests compare whole."""
    for parent in list(root.iter()):
        for child in list(parent):
            is_grid = "grid-table" in classes(parent)
            is_table = child.tag == "tbody" or (child.tag == "thead" and not is_grid)
            if is_table or "scenario-card" in classes(child):
                remove(parent, child)


@pytest.mark.parametrize("name", ["samples with a range, risk", "risk, robust plan, limits"])
def test_the_ranges_are_in_the_order_of_their_percentiles(name: str) -> None:
    answer = answered(name)
    assert answer.risk
    for row in tables(page(name))["How sure is it"]:
        p10, p50, p90, worst = (_as_number(cell) for cell in row[1:5])
        assert p10 < p50 < p90 < worst
    best = answer.recommendation.scenario
    spread = answer.risk.range_of(best)  # type: ignore[arg-type]
    assert spread
    assert spread.p10 < spread.p50 < spread.p90
    assert money(spread.p10, "USD") in text(page(name))
