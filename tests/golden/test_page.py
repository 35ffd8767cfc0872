"""Page and print view: every figure is the answer's, and every figure of the answer is there."""

import re
from typing import Any
from xml.etree.ElementTree import Element

import pytest

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import ScenarioAnswer
from tests.golden import expected_page as expected
from tests.golden.answers import REQUESTS, answered
from tests.golden.expected_charts import best_rented, charts, spent, without_plan
from tests.golden.expected_scenarios import scenarios
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
from tests.golden.shown import money, number, plain, short_month

pytestmark = pytest.mark.xdist_group("golden")
"""One process answers the nine requests once for all of them."""

VIEWS = [
    (name, shown)
    for name in REQUESTS
    for shown in ("", "on_prem", "cloud")
    if not shown or name not in ("nothing feasible", "capacity blocks")
]
views = pytest.mark.parametrize(("name", "shown"), VIEWS)
requests = pytest.mark.parametrize("name", REQUESTS)
NOT_FIGURES = (
    "(p10, p50, p90)",
    "p10 to p90",
    "8 of 10 cases",
    "8 of 10 simulated cases",
    *("p10", "p50", "p90", "CO2e"),
)
"""Words with digits that the templates hold."""
COMPARED_WHOLE = {
    "answer-bar",
    "decision",
    "to-do",
    "facts",
    "beside-parts",
    "verdict-figures",
    "alternatives",
}
"""Parts of the page that tests compare whole, by class."""


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


@pytest.mark.one_in(3)
@requests
def test_the_line_of_hours_holds_the_demand_s_figures(name: str) -> None:
    assert expected.demand(answered(name)) in text(page(name))


@pytest.mark.one_in(3)
@views
def test_every_scenario_stands_in_a_row_with_its_total_and_range(name: str, shown: str) -> None:
    answer = answered(name)
    rows = [[" ".join(cell.split()) for cell in row] for row in scenarios(answer)]
    assert tables(page(name, shown))["Scenarios"] == rows


@requests
def test_the_bars_of_the_scenarios_lie_where_their_figures_are_on_one_axis(name: str) -> None:
    answer = answered(name)
    shown = [one for one in expected.groups(answer) if one[0].feasible]
    bars = [svg for svg in page(name).iter("svg") if "span" in classes(svg)]
    assert len(bars) == len(shown)
    ends = [_ends(answer, group[0]) for group in shown]
    low, high = (pick([0.0, *(one for row in ends for one in row)]) for pick in (min, max))
    for svg, row in zip(bars, ends, strict=True):
        at = [100 * (one - low) / (high - low) for one in row]
        drawn = {classes(rect)[0]: rect for rect in svg}
        assert float(drawn["span-total"].get("x", "")) == pytest.approx(at[0], abs=0.01)
        assert ("span-range" in drawn) == (len(at) == 3)
        if len(at) == 3:
            bar = drawn["span-range"]
            assert float(bar.get("x", "")) == pytest.approx(at[1], abs=0.01)
            assert float(bar.get("width", "")) == pytest.approx(at[2] - at[1], abs=0.02)


def _ends(answer: ComparisonAnswer, one: ScenarioAnswer) -> list[float]:
    spread = getattr(answer.risk, one.key, None)
    known = [spread.total_p10, spread.total_p90] if spread and spread.total_p10 is not None else []
    return [float(figure) for figure in (one.require_total(), *known)]


@requests
def test_the_bar_that_stays_in_view_holds_the_expected_cost_and_its_range(name: str) -> None:
    answer = answered(name)
    told = answer.verdict
    total = "No plan within these limits"
    if answer.recommended and told:
        total = f"Expected {money(told.expected, answer.currency)}"
        if told.range:
            low, high = (number(one) for one in (told.range.p10, told.range.p90))
            total += f" {low} – {high} in 8 of 10 cases"
    (bar,) = find_all(printed(name), "answer-bar")
    assert text(bar) == total


@requests
def test_the_mark_of_the_payback_is_the_advised_plan_s(name: str) -> None:
    """From the month marked on, and no earlier one, the advised plan has cost less than the best
    that buys nothing."""
    answer = answered(name)
    chart = documents(name).get("cumulative")
    told = answer.verdict and answer.verdict.payback
    if not told:
        assert not chart or chart["marks"] == []
        return
    assert chart
    (mark,) = chart["marks"]
    named = short_month(told, 0)
    assert mark["x"] == (named if named in chart["x"] else "end")
    best, rented = answer.recommended, best_rented(answer)
    assert best
    assert rented
    own, other = spent(answer, best), spent(answer, rented)
    at = chart["x"].index(mark["x"])
    assert mark["y"] == pytest.approx(own[at], abs=0.006)
    assert all(mine < theirs for mine, theirs in zip(own[at:], other[at:], strict=True))
    assert at == 0 or own[at - 1] >= other[at - 1]


def test_some_of_the_requests_pay_back_within_the_plan() -> None:
    marked = [documents(name).get("cumulative", {}).get("marks") for name in REQUESTS]
    assert any(marks and marks[0]["x"] != "end" for marks in marked)


@pytest.mark.one_in(3)
@views
def test_every_table_holds_the_answer_s_rows(name: str, shown: str) -> None:
    answer = answered(name)
    one = plan(answer, shown)
    found = tables(page(name, shown))
    for label in ("Age of the prices", "Assumptions", "Scenarios"):
        assert found.pop(label)
    found.pop("Known prices", None)
    found = {label: rows for label, rows in found.items() if not label.endswith(", numbers")}
    assert found == (expected.tables(answer, one) if one else {})


@views
def test_every_chart_is_drawn_from_the_answer(name: str, shown: str) -> None:
    answer = answered(name)
    one = plan(answer, shown)
    drawn = documents(name, shown)
    wanted = charts(answer, one) if one else without_plan(answer)
    assert set(drawn) == set(wanted)
    for key, (labels, series) in wanted.items():
        assert drawn[key]["x"] == labels
        values = {line["name"]: line["values"] for line in drawn[key]["series"]}
        assert set(values) == set(series)
        for title, numbers in series.items():
            assert values[title] == pytest.approx(numbers, abs=0.006), (key, title)


@views
def test_the_table_of_a_chart_shows_what_its_picture_shows(name: str, shown: str) -> None:
    root = page(name, shown)
    found = tables(root)
    for document in documents(name, shown).values():
        rows = found[f"{document['title']}, numbers"]
        lines = [line["values"] for line in document["series"]]
        assert rows == [
            [
                x if isinstance(x, str) else plain(x),
                *(number(values[i], document["digits"]) for values in lines),
            ]
            for i, x in enumerate(document["x"])
        ]


@requests
def test_every_assumption_stands_with_its_source(name: str) -> None:
    rows = tables(page(name))["Assumptions"]
    told = [r for r in answered(name).assumptions if not r.field.startswith("exchange_rates.")]
    asked, rows = rows[: -len(told)], rows[-len(told) :]
    assert asked == expected.asked(answered(name))
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
    found = tables(root)
    assert not [label for label in found if label.endswith(", numbers")]
    on_screen = {k: v for k, v in tables(page(name)).items() if not k.endswith(", numbers")}
    assert found == on_screen
    told = text(root)
    for sentence in expected.sentences(answer, plan(answer, "")):
        assert sentence in told
    for action in ("Print", "Copy the link", "Sign in"):
        assert action not in told


@pytest.mark.one_in(3)
@views
def test_no_figure_is_on_the_page_that_no_field_accounts_for(name: str, shown: str) -> None:
    answer = answered(name)
    one = plan(answer, shown)
    root = page(name, shown)
    summaries = [chart["summary"] for chart in documents(name, shown).values()]
    assert all(one in text(root) for one in summaries)
    _remove_what_is_compared_whole(root)
    told = text(root)
    known = [*expected.sentences(answer, one), *summaries, expected.demand(answer)]
    if answer.verdict and answer.verdict.range:
        known.append(answer.verdict.range.note)
    for sentence in sorted({*known, *NOT_FIGURES}, key=len, reverse=True):
        told = told.replace(sentence, " ")
    assert re.findall(r"\S*\d\S*", told) == []


def _remove_what_is_compared_whole(root: Element) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            is_grid = "grid-table" in classes(parent)
            is_table = child.tag == "tbody" or (child.tag == "thead" and not is_grid)
            if is_table or set(classes(child)) & COMPARED_WHOLE:
                remove(parent, child)


@pytest.mark.parametrize("name", ["samples with a range, risk", "risk, limits"])
def test_the_ranges_are_in_the_order_of_their_percentiles(name: str) -> None:
    answer = answered(name)
    assert answer.risk
    for row in tables(page(name))["How sure is it"]:
        p10, p50, p90 = (_as_number(cell) for cell in row[1:4])
        assert p10 < p50 < p90
    best = answer.recommendation.scenario
    spread = answer.risk.range_of(best)  # type: ignore[arg-type]
    assert spread
    assert spread.p10 < spread.p50 < spread.p90
    assert spread.total_p10 < spread.total_p50 < spread.total_p90  # type: ignore[operator]
    assert money(spread.p10, "USD") in text(page(name))
