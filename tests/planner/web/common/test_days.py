"""Days, times and months as pages write them."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template import Context, Template

from tests.planner.web.asking import HOURS, get, text

TEMPLATES = sorted(Path(settings.BASE_DIR, "templates").rglob("*.html"))
AT = dt.datetime(2026, 2, 1, 9, 30, 15, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("day", '<time class="day">1 February 2026</time>'),
        ("minute", '<time class="day">1 February 2026, 09:30</time>'),
        ("second", '<time class="day">1 February 2026, 09:30:15</time>'),
    ],
)
def test_a_day_is_written_in_words_and_never_broken(form, written):
    shown = Template(f"{{{{ at|{form} }}}}")
    assert shown.render(Context({"at": AT})) == written
    unknown = Template(f'{{{{ at|{form}|default:"undated" }}}}')
    assert unknown.render(Context({"at": None})) == "undated"
    assert ".day { white-space: nowrap; }" in Path("static/planner.css").read_text()


def test_a_month_is_named_in_words():
    assert Template("{{ '2027-03'|month_name }}").render(Context()) == "March 2027"


def test_no_page_writes_a_day_in_another_way():
    assert TEMPLATES
    other = re.compile("[|]date:")
    assert [path.name for path in TEMPLATES if other.search(path.read_text())] == []


def test_an_answer_names_its_months_in_words(client, prices):
    shown = HOURS | {"on_prem.servers.0.server": "dgx-h100", "scenario": "on_prem"}
    page = text(get(client, "plan", shown))
    assert "April 2027 to June 2027" in page
    assert '"x": ["Jan 2027", "Feb 2027", "Mar 2027", "Apr 2027", "May 2027", "Jun 2027"' in page
    cited = re.compile(r'<(td class="source").*?</td>')
    read = re.sub(r"<[^>]*>", " ", cited.sub("", page))
    assert re.findall(r"(?<![\w-])20\d\d-[01]\d(?![\w-])", read) == []
