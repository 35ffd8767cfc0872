"""What renting, owning and mixing cost: request → demand → plans → results → answer. PURE.

`compare(request, catalog)` is the only way to an answer, the same for page, API and commands. No
figure depends on the day it is asked, the order of offers or the number of cores; only the ages of
prices are counted from `today`.

| step | module |
|---|---|
| the request's demand, offers, servers and limits as the optimiser's inputs | `preparation` |
| the cheapest plan of each way to buy, which of them may be advised, and the analyses | `results` |
| runs finished before their deadlines where that costs less | `early_finish` |
| what would be cheaper without a limit or a budget | `alternatives`, `budgets` |
| what to do, in figures and sentences | `verdict` |
| one table of warnings: code, sentence, condition | `warnings` |
| everything, rounded | `answer` |
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from planner.comparison.answer import build_in_steps
from planner.comparison.early_finish import finish_early
from planner.comparison.preparation import Preparation
from planner.comparison.results import ComparisonResults
from planner.contract.amounts import next_month
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.request.comparison import ComparisonRequest, begin_in, read_request
from planner.costing.analysis.simulation import Report, nobody_waits
from planner.costing.inputs.checks import check_start
from planner.costing.optimizer.work import TooLargeError, WorkMeter, WorkSpentError
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

DEFAULT_WORK_UNITS = 100_000_000
"""Units of work of a comparison whose caller sets no limit: some minutes."""


class TooMuchWork(InvalidInput):
    """A question that takes more work than is allowed where it was asked."""


class TooLarge(TooMuchWork):
    """A question that nobody may ask, in a job neither."""


def compare(
    request: Mapping[str, object] | ComparisonRequest,
    catalog: Catalog,
    *,
    today: dt.date | None = None,
    work: WorkMeter | None = None,
    report: Report = nobody_waits,
    runs_already: bool = False,
) -> ComparisonAnswer:
    """What renting, owning and mixing cost for `request` at the prices of `catalog`.

    Raises `InvalidInput` with every field refused. `today` dates ages and the default start, and
    is what the plan may not begin before, unless it `runs_already`.
    `report` is told how far the simulation is, and may end it by raising.
    `work` bounds what the answer may take: searches and analyses that would take more end early
    and say so, and a request that leaves no room for a first plan raises `TooMuchWork`.
    """
    steps = compare_in_steps(
        request, catalog, today=today, work=work, report=report, runs_already=runs_already
    )
    *_, whole = steps
    return whole


def compare_in_steps(
    request: Mapping[str, object] | ComparisonRequest,
    catalog: Catalog,
    *,
    today: dt.date | None = None,
    work: WorkMeter | None = None,
    report: Report = nobody_waits,
    runs_already: bool = False,
) -> Iterator[ComparisonAnswer]:
    """The same for who shows what is advised while the rest is computed: first the plans with cost
    and range, last the whole answer. What is refused is refused before the first."""
    today = today or read_clock()
    request = read_request(request)
    if not runs_already:
        check_start(request, today)
    results = solve(request, catalog, today, work, report)
    with _refuse_large(results.request):
        yield from build_in_steps(finish_early(results))


def read_clock() -> dt.date:
    """Today in UTC."""
    return dt.datetime.now(dt.UTC).date()


def solve(
    request: Mapping[str, object] | ComparisonRequest,
    catalog: Catalog,
    today: dt.date | None = None,
    work: WorkMeter | None = None,
    report: Report = nobody_waits,
) -> ComparisonResults:
    """The results behind the answer, plans and analyses in the core's own types."""
    today = today or read_clock()
    dated = begin_in(next_month(today), read_request(request))
    preparation = Preparation(dated, catalog, today)
    preparation.check()
    return ComparisonResults(preparation, work or WorkMeter(DEFAULT_WORK_UNITS), report=report)


@contextmanager
def _refuse_large(request: ComparisonRequest) -> Iterator[None]:
    try:
        yield
    except WorkSpentError as error:
        large = ", ".join(_large_parts(request))
        has = f": it has {large}" if large else ""
        fewer = "Ask for fewer months, offers, servers or limits."
        refusal: TooMuchWork = TooMuchWork(
            "",
            f"This comparison takes more work than is allowed here{has}. Comparisons that are "
            f"asked together share what is allowed. {fewer}",
        )
        if isinstance(error, TooLargeError):
            refusal = TooLarge(
                "",
                "This comparison does not fit into the memory that one question may take"
                f"{has}. {fewer}",
            )
        raise refusal from None


def _large_parts(request: ComparisonRequest) -> Iterator[str]:
    own, risk = request.on_prem, request.risk
    counts = (
        (request.horizon_months, 36, "months"),
        (len(request.custom_offers), 20, "private offers"),
        (len(own.servers or ()), 8, "servers to consider"),
        (len(own.already_owned), 8, "kinds of servers already owned"),
        (len(request.constraints.quotas), 4, "quotas"),
        ((risk.samples or 0) if risk else 0, 20_000, "simulated outcomes"),
    )
    for count, usual, words in counts:
        if count > usual:
            yield f"{count:,} {words}"
