"""Printed shares of one whole add up to it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from planner.web.answer.verdict import decision_parts
from tests.golden.answers import REQUESTS, answered


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", REQUESTS)
def test_the_hours_of_a_decision_add_up_on_the_page(name):
    shown = decision_parts(answered(name))
    whole = sum(one.part.share_of_hours for one in shown)
    assert sum(int(one.share[:-1]) for one in shown) == round(whole * 100)


def test_parts_that_would_be_rounded_down_alone_add_up(monkeypatch):
    answer = answered("servers bought in several months, sensitivity")
    parts = [
        one.model_copy(update={"share_of_hours": share})
        for one, share in zip(answer.verdict.decision, (0.874, 0.126 - 0.0019), strict=False)
    ]
    split = SimpleNamespace(**{name: getattr(answer, name) for name in ("recommended", "offers")})
    split.verdict = answer.verdict.model_copy(update={"decision": tuple(parts)})
    shares = [int(one.share[:-1]) for one in decision_parts(split)]
    assert sum(shares) == round(sum(one.share_of_hours for one in parts) * 100)
