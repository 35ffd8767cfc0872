"""Charts as SVG: every figure lies where its value is, and is said when pointed at."""

import datetime as dt
from xml.etree.ElementTree import Element, fromstring

import pytest

from planner.web.common.chart import Chart, Mark, Series
from planner.web.common.chart_svg import LEFT, PLOT, RIGHT, ROW, TOP, Scale, draw_chart


def drawn(kind: str, series: list[Series], **more: object) -> Element:
    facts = {
        "key": "k",
        "title": "What?",
        "x_label": "month",
        "y_label": "USD",
        "x": ["a", "b", "c"],
    }
    return fromstring(draw_chart(Chart(kind=kind, series=series, **(facts | more))))  # type: ignore[arg-type]


def bars(root: Element) -> list[Element]:
    return [one for one in root.iter("rect") if "series" in one.get("class", "")]


def percent(one: Element, name: str) -> float:
    return float(one.get(name, "").removesuffix("%"))


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0, 97], (0, 20, 40, 60, 80, 100)),
        ([-30, 70], (-40, -20, 0, 20, 40, 60, 80)),
        ([5, 5], (5, 6)),
        ([0, 0], (0, 1)),
        ([0, 0.012], (0, 0.0025, 0.005, 0.0075, 0.01, 0.0125)),
    ],
)
def test_ticks_are_even_and_span_the_values(values, ticks):
    found = Scale.over(values).ticks
    assert found[0] <= min(values)
    assert found[-1] >= max(values)
    if values[0] != values[-1]:
        assert found == pytest.approx(ticks)


def test_a_line_goes_through_its_values_and_leaves_gaps_out():
    root = drawn("line", [Series("one", [0, 50, 100]), Series("two", [None, 20, 30])])
    apart = drawn("line", [Series("one", [100, None, 50])])
    assert [one.get("points") for one in apart.iter("polyline")] == ["0.0,0.0", "1000.0,500.0"]
    lines = [one.get("points") for one in root.iter("polyline")]
    assert lines == ["0.0,1000.0 500.0,500.0 1000.0,0.0", "500.0,800.0 1000.0,700.0"]
    said = [one.text for one in root.iter("title")]
    assert said == ["a\none: 0", "b\none: 50\ntwo: 20", "c\none: 100\ntwo: 30"]


def test_a_mark_stands_on_its_line_with_its_words():
    root = drawn("line", [Series("one", [0, 50, 100])], marks=[Mark("b", 50, "Paid off")])
    (circle,) = root.iter("circle")
    assert percent(circle, "cx") == pytest.approx((LEFT + RIGHT) / 2)
    assert float(circle.get("cy", "")) == pytest.approx(TOP + PLOT / 2)
    assert "Paid off" in [one.text for one in root.iter("text")]


def test_stacks_stand_on_each_other_and_a_dashed_series_steps_over_them():
    series = [Series("low", [20, 0, 40]), Series("high", [30, 10, 60]),
              Series("peak", [50, 10, 100], dashed=True)]  # fmt: skip
    root = drawn("bar", series)
    boxes = [(float(one.get("y", "")), float(one.get("height", ""))) for one in bars(root)]
    share = PLOT / 100
    foot = TOP + PLOT
    heights = [20, 40, 30, 10, 60]
    assert [height for _, height in boxes] == pytest.approx([one * share for one in heights])
    feet = [y + height for y, height in boxes]
    assert feet == pytest.approx([foot, foot, foot - 20 * share, foot, foot - 40 * share])
    (line,) = root.iter("polyline")
    assert "dashed" in line.get("class", "")
    assert line.get("points", "").split()[0] == "0.0,500.0"


def test_rows_stack_to_the_right_and_what_is_negative_to_the_left():
    series = [Series("cost", [80, 40]), Series("resale", [-20, None])]
    boxes = bars(drawn("hbar", series, x=["plan", "other"], unit="USD"))
    found = [(one.find("title").text, percent(one, "x"), percent(one, "width")) for one in boxes]
    unit = 97 / 125  # ticks from -25 to 100
    assert [said for said, _, _ in found] == ["cost: 80 USD", "resale: −20 USD", "cost: 40 USD"]
    assert [x for _, x, _ in found] == pytest.approx(
        [1 + 25 * unit, 1 + 5 * unit, 1 + 25 * unit], abs=0.01
    )
    assert [wide for _, _, wide in found] == pytest.approx(
        [80 * unit, 20 * unit, 40 * unit], abs=0.01
    )
    assert [float(one.get("y", "")) // ROW for one in boxes] == [0, 0, 1]


def test_a_price_holds_until_the_next_and_days_lie_to_scale():
    days = [dt.date(2026, 1, 1), dt.date(2026, 1, 11), dt.date(2026, 2, 10)]
    root = drawn("points", [Series("offer", [4.0, 2.0, 2.0])], x=days, digits=2, unit="USD")
    at = [percent(one, "cx") for one in root.iter("circle")]
    assert at == pytest.approx([LEFT, LEFT + 0.25 * (RIGHT - LEFT), RIGHT])
    (line,) = root.iter("polyline")
    assert line.get("points") == "0.0,0.0 250.0,0.0 250.0,500.0 1000.0,500.0 1000.0,500.0"
    assert "1 January 2026: 4.00 USD" in [one.text for one in root.iter("title")]


def test_names_cannot_break_out_of_the_picture():
    root = drawn("line", [Series('<b>&"', [1, 2, 3])], title="<script>")
    assert root.get("aria-label", "").startswith("<script>")
    assert not list(root.iter("script"))


def test_a_picture_is_told_in_words():
    root = drawn("line", [Series("one", [1, 2, 3])], summary="It rises.")
    assert (root.get("role"), root.get("aria-label")) == ("img", "What? It rises.")
