"""Names at the ends of lines in a real browser: none lies on another."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.planner.web.browser import DESK, PHONE, visit
from tests.planner.web.test_browser import PAGES
from tests.planner.workspace import market

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
    pytest.mark.sweep,
]

CLOSE = {"Highest": 1754.0, "Estimate": 1710.0, "Lowest": 1665.0, "Plan": 1595.0, "Budget": 1000.0}
DRAWN = ("Budget", "Estimate", "Plan", "Lowest", "Highest")
"""From the first to the last, behind a line of what was paid that ends early."""
LINE = 12
"""Pixels that a name is high."""
REDRAW = """ends => {
    const source = document.getElementById(document.querySelector("[data-chart]").dataset.chart);
    const doc = JSON.parse(source.textContent);
    doc.series = Object.entries(ends).map(([name, end]) => (
        { ...doc.series[0], name, values: doc.x.map((_, i) => end * (i + 1) / doc.x.length) }));
    const paid = doc.series[0].values.map((value, i) => (i < 3 ? value : null));
    doc.series.unshift({ ...doc.series[0], name: "Paid", values: paid });
    doc.marks = [];
    source.textContent = JSON.stringify(doc);
    const chart = document.querySelector("[data-chart]");
    window.echarts.getInstanceByDom(chart)?.dispose();
    document.dispatchEvent(new Event("htmx:afterSwap"));
}"""
PLACES = """names => {
    const chart = window.echarts.getInstanceByDom(document.querySelector("[data-chart]"));
    const places = {};
    for (const shape of chart.getZr().storage.getDisplayList(true)) {
        const text = shape.parent?.style?.text;
        if (!names.includes(text) || places[text]) continue;
        const box = shape.parent.getBoundingRect().clone();
        box.applyTransform(shape.parent.getComputedTransform());
        places[text] = box.y;
    }
    return places;
}"""


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_names_of_close_lines_lie_below_each_other(chromium, live_server, width):
    market()
    with visit(chromium, live_server.url, width=width) as here:
        page = here.open(PAGES["answer"])
        page.locator("[data-chart]").first.scroll_into_view_if_needed()
        page.locator("[data-chart] canvas").first.wait_for()
        page.evaluate(REDRAW, {name: CLOSE[name] for name in DRAWN})
        page.locator("[data-chart] canvas").first.wait_for()
        places = page.evaluate(PLACES, list(CLOSE))
        tops = [places[name] for name in CLOSE]
        assert all(below - above >= LINE for above, below in pairwise(tops)), tops
