"""What is typed survives a reload and the way back, in a real browser."""

import pytest

from tests.planner.web.browser import visit
from tests.planner.web.test_browser import PAGES
from tests.planner.workspace import market

pytestmark = [
    pytest.mark.browser,
    pytest.mark.sweep,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture
def base(live_server) -> str:
    market("98.32")
    return str(live_server.url)


def test_the_first_questions_keep_what_was_typed(chromium, base):
    with visit(chromium, base) as here:
        page = here.open("/")
        model = page.get_by_label("Model", exact=True)
        model.fill("Llama 3.1 8B")
        page.get_by_label("Where it may run").select_option(index=1)
        chosen = page.get_by_label("Where it may run").input_value()
        page.reload(wait_until="load")
        assert model.input_value() == "Llama 3.1 8B"
        page.goto(base + PAGES["method"])
        page.go_back(wait_until="load")
        assert model.input_value() == "Llama 3.1 8B"
        assert page.get_by_label("Where it may run").input_value() == chosen
        here.open("/")
        assert model.input_value() == "7B"
        assert here.problems == []


def test_the_form_keeps_it_and_the_answer_beside_it_follows(chromium, base):
    with visit(chromium, base) as here:
        page = here.open(PAGES["change"])
        name = page.locator("[name='name']")
        with page.expect_response(lambda response: "/live/" in response.url):
            name.fill("Spring")
        with page.expect_response(lambda response: "/live/" in response.url):
            page.reload(wait_until="load")
        assert name.input_value() == "Spring"
