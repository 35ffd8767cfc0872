"""Tables and buttons in a real browser: none is cut off, and words stand apart."""

import pytest

from tests.planner.web.browser import visit
from tests.planner.web.test_browser import PAGES, unfold
from tests.planner.workspace import market

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture
def base(live_server):
    market()
    return live_server.url


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["market", "offer", "accelerators", "accelerator", "answer"])
def test_no_table_is_cut_off_on_a_desk(chromium, base, name):
    with visit(chromium, base) as here:
        page = here.open(PAGES[name])
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        cut_off = page.evaluate(
            """() => [...document.querySelectorAll(".table-responsive")]
                .filter(one => one.scrollWidth > one.clientWidth + 1)
                .map(one => one.getAttribute("aria-label"))"""
        )
        assert cut_off == []


GAP = """link => {
    const words = document.createTreeWalker(link, NodeFilter.SHOW_TEXT);
    const drawn = document.createRange();
    const [first, second] = [words.nextNode(), words.nextNode()];
    drawn.setStart(second, second.data.indexOf("the"));
    drawn.setEnd(second, second.length);
    const begins = drawn.getBoundingClientRect().left;
    drawn.selectNodeContents(first);
    return begins - drawn.getBoundingClientRect().right;
}"""


@pytest.mark.sweep
@pytest.mark.parametrize("width", [360, 768])
def test_no_table_of_an_answer_is_scrolled_aside_below_a_desk(chromium, base, width):
    with visit(chromium, base, width=width) as here:
        page = here.open(PAGES["answer"])
        unfold(page)
        tables = page.locator("#answer .table-responsive").all()
        wide = [
            one.get_attribute("aria-label")
            for one in tables
            if one.is_visible() and one.evaluate("e => e.scrollWidth - e.clientWidth") > 0
        ]
        assert len(tables) >= 9
        assert wide == []
        box = page.locator("#assumption-boxes tbody tr").filter(has_text="Electricity").first
        name, value, unit = (
            box.locator(part).bounding_box() or {} for part in ("th", "input", "td:nth-child(3)")
        )
        assert name["y"] < value["y"] <= unit["y"] + unit["height"]
        assert unit["y"] <= value["y"] + value["height"]
        assert here.violations() == []


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["start", "change", "answer", "market", "accelerator"])
@pytest.mark.parametrize("width", [1280, 1366])
def test_letters_of_twice_the_size_do_not_make_a_page_wider(chromium, base, name, width):
    with visit(chromium, base, width=width) as here:
        page = here.open(PAGES[name])
        assert page.locator("header").bounding_box()["height"] < 60
        page.evaluate("document.documentElement.style.fontSize = '32px'")
        assert here.overflow() == 0
