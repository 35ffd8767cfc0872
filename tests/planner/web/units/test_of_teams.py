"""No number on a page of a team without its currency or unit."""

from __future__ import annotations

import pytest

from tests.planner.web.team.pages import PAGES, Page
from tests.planner.web.team.test_access import called, world  # noqa: F401  # A fixture.
from tests.planner.web.units.bare_numbers import bare_numbers, main_of
from tests.properties import one_in

pytestmark = pytest.mark.django_db
READ = [page for page in PAGES if page.method == "get"]


@pytest.mark.parametrize("page", one_in(3, READ), ids=str)
def test_of_a_page_that_an_owner_reads(page: Page, world) -> None:  # noqa: F811
    principal = "operator" if page.need == "operator" else "owner"
    answer = called(page, world, principal)
    if answer.status_code != 200 or "text/html" not in answer.get("Content-Type", ""):
        assert answer.status_code in (200, 302)
        return
    assert bare_numbers(main_of(answer.content.decode())) == []
