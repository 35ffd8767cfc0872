"""Comparisons and estimates as a team sees them: its overlay in, its sources shown."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.comparison import compare
from planner.costing.analysis.progress import listener
from planner.models import Job, Team
from planner.services.jobs.jobs import Progress
from planner.services.teams.team_rates import inherit
from planner.sizing.estimate import estimate
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

MAX_BATCH = 100

Answer = dict[str, Any]


@dataclass(frozen=True)
class Answered:
    """An answer with the request it belongs to, overlay and start month in."""

    request: dict[str, Any]
    inherited: dict[str, str]
    answer: Answer


def answer(
    given: object,
    team: Team | None = None,
    catalog: Catalog | None = None,
    kept: Sequence[Mapping[str, Any]] = (),
) -> Answered:
    """The comparison that `given` asks for, with what its team adds to it.

    Assumptions `kept` of an earlier answer stand in for defaults that have changed since.
    """
    if not isinstance(given, Mapping):
        raise InvalidInput("", "a request is an object of fields")
    market = catalogs.current() if catalog is None else catalog
    rates = market.exchange_rates
    request, inherited = inherit(given, team, rates) if team else (dict(given), {})
    result = compare(request, market, kept=kept).as_dict()
    return Answered(request, inherited, with_sources(result, inherited) if team else result)


def with_sources(result: Answer, inherited: Mapping[str, str]) -> Answer:
    """Marks assumptions that the team gave, so that they do not look like the request's own."""
    assumptions = [
        {**row, "given": False, "source": inherited[row["field"]]}
        if row["field"] in inherited
        else row
        for row in result["assumptions"]
    ]
    rows = [{"field": field, "source": source} for field, source in inherited.items()]
    return {**result, "assumptions": assumptions, "inherited": rows}


def batch(items: Sequence[Mapping[str, Any]], team: Team | None = None) -> Iterator[dict[str, Any]]:
    """An answer or the errors of each `{key, request}`, in order; one error stops nothing."""
    market = catalogs.current()
    for item in items:
        try:
            yield {"key": item["key"], "answer": answer(item["request"], team, market).answer}
        except InvalidInput as refusal:
            errors = [{"field": e.field, "message": e.message} for e in refusal.all()]
            yield {"key": item["key"], "errors": errors}


def next_month(today: dt.date) -> str:
    """The month after `today`, as requests write it: the default start of a comparison."""
    return f"{today.year + today.month // 12}-{today.month % 12 + 1:02d}"


def comparison_job(job: Job, progress: Progress) -> Answer:
    """The answer to `request`, at `revisions` where they are named: then without the overlay,
    which the request of a shared link holds already."""
    progress.step(0, None, "Comparing")
    revisions = job.arguments.get("revisions")
    catalog = None if revisions is None else catalogs.at(revisions)
    team = job.team if revisions is None else None
    with listener(lambda done, total: progress.step(done, total, "Trying futures")):
        return answer(job.arguments["request"], team, catalog).answer


def answered_by(job: Job) -> Answered:
    """The answer that a comparison job found, with the request it belongs to."""
    request, inherited = dict(job.arguments["request"]), dict[str, str]()
    if job.team and job.arguments.get("revisions") is None:
        request, inherited = inherit(request, job.team, catalogs.current().exchange_rates)
    return Answered(request, inherited, job.result or {})


def batch_job(job: Job, progress: Progress) -> dict[str, Any]:
    items = job.arguments["items"]
    results = []
    for result in batch(items, job.team):
        results.append(result)
        progress.step(len(results), len(items), f"Compared {result['key']}")
    return {"results": results}


def estimated(given: object) -> Answer:
    """The estimate that `given` asks for."""
    if not isinstance(given, Mapping):
        raise InvalidInput("", "a request is an object of fields")
    result: Answer = estimate(given).as_dict()
    return result
