"""The headline of a portfolio: what to do stands out, the range follows below it."""

from __future__ import annotations

import pytest

from planner.web.team.portfolio_page import PortfolioPage
from tests.planner.web.team.texts import text


class Headline:
    """As much of an answer as a headline takes."""

    def __init__(self, headline: str) -> None:
        self.headline = headline


@pytest.mark.parametrize(
    ("headline", "advice"),
    [
        (
            "Rent in AWS US East (N. Virginia): 9 USD. All payments: 8 USD to 12 USD. Half.",
            (
                "Rent in AWS US East (N. Virginia): 9 USD.",
                "All payments: 8 USD to 12 USD. Half.",
            ),
        ),
        ("Rent for 1.5 USD (net). All.", ("Rent for 1.5 USD (net).", "All.")),
        ("No plan keeps to the limits.", ("No plan keeps to the limits.", "")),
    ],
)
def test_the_first_sentence_is_what_to_do(headline, advice):
    assert PortfolioPage(Headline(headline)).advice == advice  # type: ignore[arg-type]


def test_the_range_follows_below_the_headline(work, signed_in):
    project = work.project(name="speech")
    page = text(signed_in().get("/team/alpha/portfolio/", {"plan": "1", "project": project.pk}))
    title, _, below = page.partition('id="portfolio-advice">')[2].partition("</h2>")
    assert "All payments, not discounted" not in title
    assert "All payments, not discounted" in below.partition("<dl")[0]
