"""A small comparison, for the tests that ask what an answer holds."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from planner.comparison import solve
from planner.comparison.answer import build_answer
from planner.comparison.results import ComparisonResults
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.market.snapshot import Catalog
from tests.golden.kept import keep, sum_logarithms
from tests.planner.answers_once import FEW_OFFERS
from tests.planner.costing.market_of import CATALOG, TODAY, request_of

MOST_SHARED = 30
"""Results that a process holds, of some megabytes each."""
_solved: dict[tuple[str, int, dt.date], Compared] = {}
"""Whose results hold the catalog, so that no other has its identity."""


@dataclass(frozen=True)
class Compared(ComparisonResults):
    """Results with the answer that is built from them, whose figures are kept."""

    source: object = None

    @cached_property
    def answer(self) -> ComparisonAnswer:
        answer = build_answer(self)
        if self.source:
            figures = {name: sum_logarithms(one) for name, one in answer.to_json().items()}
            keep("kept_comparisons.json", self.source, figures)
        return answer

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.answer.warnings

    def as_dict(self) -> dict[str, Any]:
        return self.answer.to_json()


def compared(prices: Catalog = CATALOG, hours: Any = 4000, **fields: Any) -> Compared:
    return solved(request_of(hours, **fields), prices)


def solved(request: dict[str, Any], prices: Catalog = CATALOG, today: dt.date = TODAY) -> Compared:
    """Equal questions of the tests of a process share their results."""
    key = repr(request), id(prices), today
    if key not in _solved:
        few = prices.offers.offers if len(prices.offers) <= FEW_OFFERS else None
        source = few and (request, few, prices.regions, prices.exchange_rates, today)
        _solved[key] = Compared(solve(request, prices, today).preparation, source=source)
        while len(_solved) > MOST_SHARED:
            del _solved[next(iter(_solved))]
    return _solved[key]
