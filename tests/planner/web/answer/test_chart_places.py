"""Charts in a real browser: the plot keeps its height, every name and column its place."""

from __future__ import annotations

import pytest

from tests.planner.web.browser import DESK, PHONE, visit
from tests.planner.web.test_browser import PAGES, unfold
from tests.planner.workspace import market

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sweep,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]
HOURS_CURVE = "figure[aria-labelledby='chart-hours-curve-title']"
PLOT = """element => {
    const chart = window.echarts.getInstanceByDom(element);
    const plot = chart.getModel().getComponent("grid").coordinateSystem.getRect();
    const names = chart.getViewOfComponentModel(chart.getModel().getComponent("legend")).group;
    const legend = names.getBoundingRect().clone();
    legend.applyTransform(names.getComputedTransform());
    return { plot: plot.height, below: plot.y + plot.height, width: element.clientWidth,
        height: element.clientHeight, left: legend.x, right: legend.x + legend.width,
        top: legend.y, bottom: legend.y + legend.height };
}"""
TEN_LINES = """element => {
    const source = document.getElementById(element.dataset.chart);
    const doc = JSON.parse(source.textContent);
    const first = { ...doc.series[0], in_picture: true };
    doc.series = [...Array(10).keys()].map((i) => (
        { ...first, name: `Standard_NC80adis_H100_v5 in North Europe, savings plan ${i} months` }));
    source.textContent = JSON.stringify(doc);
    window.dispatchEvent(new Event("afterprint"));
}"""


@pytest.fixture
def base(live_server) -> str:
    market()
    return str(live_server.url)


@pytest.mark.parametrize("width", [DESK, 1280, PHONE])
def test_the_plot_keeps_its_height_above_a_legend_that_is_all_in_view(chromium, base, width):
    with visit(chromium, base, width=width) as here:
        page = here.open(PAGES["answer"])
        unfold(page)
        chart = page.locator(f"{HOURS_CURVE} [data-chart]")
        chart.scroll_into_view_if_needed()
        for lines in ("as served", "ten"):
            if lines == "ten":
                chart.evaluate(TEN_LINES)
            chart.locator("canvas").wait_for()
            at = chart.evaluate(PLOT)
            assert at["plot"] >= 170, (lines, at)
            assert at["below"] < at["top"] < at["bottom"] <= at["height"] + 1, (lines, at)
            assert 0 <= at["left"] < at["right"] <= at["width"], (lines, at)
        assert here.problems == []


@pytest.mark.parametrize("width", [1280, PHONE])
def test_the_numbers_scroll_in_their_own_box_beside_a_first_column_in_view(chromium, base, width):
    with visit(chromium, base, width=width) as here:
        page = here.open(PAGES["answer"])
        unfold(page)
        page.locator(f"{HOURS_CURVE} summary").click()
        box = page.locator(f"{HOURS_CURVE} .table-responsive")
        widths = box.locator("thead th").evaluate_all("all => all.map(one => one.offsetWidth)")
        assert widths[0] >= 75, widths
        assert min(widths[2:]) >= 85, widths
        assert here.overflow() <= 0
        box.evaluate("one => { one.scrollLeft = one.scrollWidth; }")
        at, first = box.bounding_box(), box.locator("tbody th").first.bounding_box()
        assert (first or {})["x"] == pytest.approx((at or {})["x"], abs=2)


def test_a_chart_is_drawn_anew_where_the_window_changes(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["answer"])
        unfold(page)
        chart = page.locator(f"{HOURS_CURVE} [data-chart]")
        chart.scroll_into_view_if_needed()
        chart.locator("canvas").wait_for()
        page.set_viewport_size({"width": PHONE, "height": 900})
        page.wait_for_timeout(300)
        chart.scroll_into_view_if_needed()
        chart.locator("canvas").wait_for()
        at = chart.evaluate(PLOT)
        assert at["right"] <= at["width"] <= PHONE, at
        assert at["plot"] >= 170, at


def test_on_paper_no_chart_is_split_over_two_pages(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["answer"])
        unfold(page)
        page.emulate_media(media="print")
        splits = page.locator("figure").evaluate_all(
            "all => all.map(one => getComputedStyle(one).breakInside)"
        )
        assert len(splits) >= 6
        assert set(splits) == {"avoid"}
