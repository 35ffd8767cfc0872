"""The same question at the same prices is answered once for all tests of a process.

Tests of pages, API and services ask the same few requests of the same small market hundreds of
times. An answer is immutable and depends on nothing but what it is asked under here, so they share
it; what it took is charged each time. Replays of saved comparisons are computed anew.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from typing import Any

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.costing.analysis.progress import nobody_waits
from planner.costing.optimizer.work import WorkMeter
from pricing.market.snapshot import Catalog

FEW_OFFERS = 50
"""Larger catalogs are not compared with each other: telling them apart takes longer."""
_answers: dict[str, tuple[ComparisonAnswer, WorkMeter]] = {}


def compare_once(
    request: Any, catalog: Catalog, *, work: WorkMeter, report: Any = nobody_waits, **options: Any
) -> ComparisonAnswer:
    """In the place of `compare`; an error is never kept."""
    is_shared = work._is_cancelled is None and report is nobody_waits
    if not is_shared or len(catalog.offers) > FEW_OFFERS:
        return compare(request, catalog, work=work, report=report, **options)
    key = _key(request, catalog, work, options)
    if key in _answers:
        answer, spent = _answers[key]
        vars(work).update(vars(spent))
        return answer
    answer = compare(request, catalog, work=work, **options)
    _answers[key] = answer, _copy(work)
    return answer


def _key(request: Any, catalog: Catalog, work: WorkMeter, options: dict[str, Any]) -> str:
    prices = (
        catalog.offers.offers,
        [replace(info, published_at=None) for info in catalog.revisions],
        catalog.regions,
        catalog.exchange_rates,
    )
    asked = json.dumps(request, sort_keys=True, default=str)
    return repr(
        (asked, prices, sorted(vars(work).items()), options, dt.datetime.now(dt.UTC).date())
    )


def _copy(work: WorkMeter) -> WorkMeter:
    copy = WorkMeter()
    vars(copy).update(vars(work))
    return copy
