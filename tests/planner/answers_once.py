"""The same question at the same prices is answered once for all tests of a process.

Tests of pages, API and services ask the same few requests of the same small market hundreds of
times. An answer is immutable and depends on nothing but what it is asked under here, so they share
it; what it took is charged each time, and nobody gets it who has left. Replays of saved comparisons
are computed anew.
"""

import datetime as dt
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.costing.analysis.simulation import nobody_waits
from planner.costing.optimizer.work import WorkMeter
from planner.portfolio.portfolio import plan_portfolio
from pricing.bundled.catalog import bundled_catalog
from pricing.market.snapshot import Catalog

FEW_OFFERS = 50
"""Larger catalogs but the bundled one are not compared with each other: telling them apart takes
longer."""
_answers: dict[str, tuple[Any, dict[str, Any]]] = {}


def compare_once(
    request: Any,
    catalog: Catalog,
    *,
    work: WorkMeter | None = None,
    report: Any = nobody_waits,
    **options: Any,
) -> ComparisonAnswer:
    """In the place of `compare`; an error is never kept."""
    work = work or WorkMeter()
    if report is not nobody_waits:
        return compare(request, catalog, work=work, report=report, **options)
    answer: ComparisonAnswer = _answer_once(compare, request, catalog, work, options)
    return answer


def compare_in_steps_once(*args: Any, **options: Any) -> Iterator[ComparisonAnswer]:
    """In the place of `compare_in_steps`: the whole answer at once."""
    return iter([compare_once(*args, **options)])


def plan_once(
    request: Any, catalog: Catalog, *, work: WorkMeter, **options: Any
) -> PortfolioAnswer:
    """In the place of `plan_portfolio`; a replay, which says a day, is computed anew."""
    if options:
        return plan_portfolio(request, catalog, work=work, **options)
    answer: PortfolioAnswer = _answer_once(plan_portfolio, request, catalog, work, options)
    return answer


def _answer_once(
    compute: Callable[..., Any],
    request: Any,
    catalog: Catalog,
    work: WorkMeter,
    options: dict[str, Any],
) -> Any:
    if len(catalog.offers) > FEW_OFFERS and catalog is not bundled_catalog():
        return compute(request, catalog, work=work, **options)
    key = f"{compute.__name__} {_key(request, catalog, work, options)}"
    if key in _answers:
        work.check()
        answer, spent = _answers[key]
        vars(work).update(spent)
        return answer
    answer = compute(request, catalog, work=work, **options)
    _answers[key] = answer, _counts(work)
    return answer


def _key(request: Any, catalog: Catalog, work: WorkMeter, options: dict[str, Any]) -> str:
    prices = catalog is bundled_catalog() or (
        catalog.offers.offers,
        [replace(info, published_at=None) for info in catalog.revisions],
        catalog.regions,
        catalog.exchange_rates,
    )
    asked = json.dumps(request, sort_keys=True, default=str)
    return repr(
        (asked, prices, sorted(_counts(work).items()), options, dt.datetime.now(dt.UTC).date())
    )


def _counts(work: WorkMeter) -> dict[str, Any]:
    """What a meter holds but for whom it asks whether anybody waits: every page has one to ask."""
    return {name: value for name, value in vars(work).items() if name != "_is_cancelled"}
