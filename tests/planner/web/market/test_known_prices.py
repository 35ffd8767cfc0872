"""Which prices are known, on the market page and in an answer."""

from __future__ import annotations

from django.utils.html import strip_tags

from tests.planner.costing.market_of import H100
from tests.planner.web.asking import HOURS, get, text


def test_market_and_answer_show_which_prices_are_known(client, prices):
    everything = text(get(client, "market"))
    assert "Which prices are known" not in everything
    searched = " ".join(strip_tags(text(get(client, "market", {"accelerator": H100}))).split())
    answered = " ".join(strip_tags(text(get(client, "plan", HOURS))).split())
    for page in (searched, answered):
        assert "Which prices are known" in page
        assert "sold, price not known" in page
