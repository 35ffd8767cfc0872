"""The board pack: one to three pages whose figures are those of the answer."""

import datetime as dt
import re

import pytest
from django.urls import reverse
from django.utils.text import slugify

from planner.comparison.shown_rows import figure_rows
from planner.contract.amounts import name_month
from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports.csv_export import Context, Step
from planner.models import Role
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.board_pack import (
    HEADING,
    PackFacts,
    board_pack,
    close_pack,
    print_pack,
    register_fonts,
    text,
)
from tests.golden.answers import answered
from tests.golden.shown import money
from tests.planner.web.asking import HOURS, get
from tests.planner.web.paper import read_paper
from tests.planner.workspace import Workspace

pytestmark = pytest.mark.xdist_group("golden")

TODAY = dt.date(2026, 11, 20)
OWNING = {
    **HOURS,
    "workload.hours_per_month": "5840",
    "horizon_months": "36",
    "on_prem.servers.0.server": "dgx-h100",
}


def pack(answer: ComparisonAnswer, **facts) -> tuple[list[str], str]:
    return read_paper(board_pack(AnswerPage(answer), PackFacts(TODAY, **facts)))


def test_purchases_on_paper_are_told_apart_from_how_they_are_paid():
    answer = answered("servers bought in several months, sensitivity")
    _, text = pack(answer)
    bought = AnswerPage(answer).purchases
    assert bought
    paper = " ".join(text.replace("\u00a0", " ").split())
    assert all(f"{one.purchase.label}, {one.how} " in paper for one in bought)


GOLDEN = ("servers bought in several months, sensitivity", "training in euros",
          "owed after the horizon", "most scenarios infeasible")  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", GOLDEN)
def test_every_figure_of_the_advice_stands_on_paper(name):
    answer = answered(name)
    pages, words = pack(answer)
    assert 1 <= len(pages) <= 3
    verdict = answer.verdict
    assert verdict
    for amount in (verdict.total, verdict.within_horizon, verdict.present_value):
        assert money(amount, answer.currency).replace("\xa0", " ") in words
    for part in verdict.decision:
        assert part.sentence[1:] in words
    for sentence in (*verdict.reasons, *verdict.turns):
        assert sentence in words
    assert f"amounts in {answer.currency}" in words
    month, months = name_month(answer.start), answer.horizon_months
    assert re.search(rf"{months} months? from {month}", words)
    for title, value, unit in figure_rows(answer):
        assert f"{title} {value} {unit}".strip() in words


def test_it_says_who_approved_what_and_leaves_lines_to_sign_where_nobody_did():
    answer = answered("training in euros")
    _, unsigned = pack(answer)
    assert "Submitted by" in unsigned
    at = dt.datetime(2026, 11, 1, 9, tzinfo=dt.UTC)
    steps = (Step("draft", "ada", at), Step("submitted", "ada", at), Step("approved", "grace", at))
    context = Context(name="Łódź & Σ <b>", team="Vision", project="Seg", steps=steps)
    pages, signed = pack(answer, author="Ada", address="https://x.example/plan", context=context)
    assert "Łódź & Σ <b>" in signed
    assert "Vision · Seg" in signed
    assert "Approved grace 1 November 2026" in signed
    assert "printed 20 November 2026 by Ada" in signed
    assert all(f"page {number}" in page for number, page in enumerate(pages, 1))


@pytest.mark.parametrize("lines", range(50, 72, 4))
@pytest.mark.parametrize("warnings", [["The oldest price is from July."], []])
def test_approvals_never_stand_alone_on_a_page(lines, warnings):
    """However far the pages are filled before, the last list stays with the lines to sign."""
    facts = PackFacts(TODAY)
    register_fonts()
    body = [text("line") for _ in range(lines)]
    closing = close_pack(warnings, facts)
    pages, _ = read_paper(print_pack([*body, *closing], facts, "USD"))
    (signed,) = (page for page in pages if "Approvals" in page)
    assert not warnings or warnings[-1] in signed


@pytest.mark.parametrize("lines", range(50, 75, 3))
def test_no_heading_is_the_last_line_of_a_page(lines):
    facts = PackFacts(TODAY)
    register_fonts()
    parts = [text("line") for _ in range(lines)]
    parts += [text("What it rests on", HEADING), text("on hours as given")]
    pages, _ = read_paper(print_pack(parts, facts, "USD"))
    (page,) = (page for page in pages if "What it rests on" in page)
    assert "on hours as given" in page


def test_the_same_answer_gives_the_same_file():
    answer = answered("training in euros")
    first, again = (board_pack(AnswerPage(answer), PackFacts(TODAY)) for _ in range(2))
    assert first == again


def test_a_plan_without_a_name_is_called_on_paper_as_on_its_page(client, prices):
    unnamed = {name: value for name, value in HOURS.items() if name != "name"}
    title = get(client, "plan", unnamed).context["page"].title
    response = get(client, "plan-pack", unnamed)
    _, words = read_paper(response.content)
    assert re.fullmatch(r"Rent, \d+ months from \w+ \d{4}", title)
    assert words.startswith(title)
    assert slugify(title) in response["Content-Disposition"]


def test_a_refused_request_leads_back_to_its_page(client, prices):
    response = get(client, "plan-pack", {**HOURS, "horizon_months": "500"})
    assert response.status_code == 302
    assert "horizon_months=500" in response["Location"]


def test_a_saved_comparison_has_one_for_its_team_alone(client, work):
    saved = work.saved()
    address = reverse("comparison-pack", args=[saved.pk])
    assert client.get(address).status_code == 302
    client.force_login(work.users[Role.VIEWER])
    stranger = Workspace("beta").users[Role.OWNER]
    assert saved.name in read_paper(client.get(address).content)[1]
    client.force_login(stranger)
    assert client.get(address).status_code == 404
