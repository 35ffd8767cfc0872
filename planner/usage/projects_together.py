"""From usage to the request of a portfolio: a project for each account, team or label. PURE."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from planner.contract.amounts import shift_month
from planner.usage.demand import plan_demand
from planner.usage.ledger import Holder, JobSums, Ledger, UseKey, UseSums
from planner.usage.machines import is_slice, name_accelerator
from planner.usage.question import UsageQuestion
from planner.usage.summary import Usage
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput
from pricing.market import accelerators
from pricing.market.offers import HOURS_PER_MONTH

MOST_PROJECTS = 20
"""Projects with a plan of their own, those of most hours; the rest are planned as one."""
OTHERS, UNNAMED, NO_PROJECT = "others", "unnamed", "no project"
MEANINGS_FILE = "gpu-cost-planner.json"
"""Beside the files: what their names of accelerators mean, as it was answered."""


@dataclass(frozen=True)
class UsagePortfolio:
    """A portfolio as the files have it, and what they leave open."""

    request: dict[str, Any]
    questions: dict[str, tuple[str, ...]]
    """Name of an accelerator as files write it → slugs that it may mean; none where any may be."""
    notes: list[str]

    def in_words(self) -> list[str]:
        return [
            f"Is {name} {' or '.join(choices)}?"
            if choices
            else f"Which accelerator is {name if name != UNNAMED else 'meant where none is named'}?"
            for name, choices in self.questions.items()
        ]


def build_portfolio(
    usage: Usage, question: UsageQuestion, today: str, meanings: Mapping[str, str]
) -> UsagePortfolio:
    """The portfolio of what was used and of what stands, from the month after `today`."""
    months = question.forecast_months or UsageQuestion.forecast_months
    start, notes = question.start or shift_month(today), list[str]()
    place = _placing(usage, months, meanings)
    parts, works = _parts(usage, place), dict[Holder, dict[str, Any]]()
    for holder, part in parts.items():
        try:
            demand = plan_demand(part, months, question.start or start, growth=question.growth)
        except InvalidInput as refusal:
            notes.append(f"{holder[1]} is left out: {refusal.message}")
            continue
        start = max(start, demand.start)
        if any(demand.hours_per_month):
            works[holder] = demand.workload()
    declared = defaultdict[Holder, float](float)
    for one, count in usage.ledger.declared.items():
        declared[place(one)] += count
    for (name, project), count in declared.items():
        if (name, project) in parts:
            what = f"{project}: what is declared of {name}"
            notes.append(f"{what} is left out, as its hours are in bills or logs.")
        else:
            work = {"hours_per_month": count * HOURS_PER_MONTH, "peak_accelerators": ceil(count)}
            works[name, project] = {"kind": "accelerator_hours", "accelerator": name} | work
    if not works:
        because = "".join(f": {problem}" for problem in usage.ledger.not_understood[:1])
        names = [one.name for one in usage.files if one.format]
        what = f"holds no use of accelerators to plan on{because}"
        others = "send a bill, a log or a declaration of machines with GPUs"
        raise InvalidInput(".".join((*names[:1], "file")), f"{what}; {others}")
    times, jobs = Counter(project for _, project in works), _jobs(usage, place)
    projects = [
        {"name": project if times[project] == 1 else f"{project}, {name}", "workload": work}
        | _job_fields(jobs.get((name, project)), work)
        for (name, project), work in sorted(works.items(), key=lambda one: one[0][::-1])
    ]
    return UsagePortfolio(
        {"name": "Fleet from usage", "start": start, "horizon_months": months}
        | {"projects": projects},
        {name: list_meanings(name) for name, _ in sorted(works) if not accelerators.find(name)},
        notes,
    )


def _placing(usage: Usage, months: int, meanings: Mapping[str, str]) -> Callable[[Holder], Holder]:
    hours = Counter[str]()
    for key, sums in usage.ledger.uses.items():
        hours[key.project or key.account] += int(sums.accelerator_hours)
    for (_, project), count in usage.ledger.declared.items():
        hours[project] += int(count * HOURS_PER_MONTH * months)
    named = {project for project, _ in hours.most_common(MOST_PROJECTS)}

    def place(holder: Holder) -> Holder:
        name, project = holder
        meant = meanings.get(name or UNNAMED, name or UNNAMED)
        return meant, (project or NO_PROJECT)[:100] if project in named else OTHERS

    return place


def _parts(usage: Usage, place: Callable[[Holder], Holder]) -> dict[Holder, Usage]:
    last = max((key.month for key in usage.ledger.uses), default="")
    parts = defaultdict[Holder, Usage](lambda: Usage(Ledger(), []))
    for key, sums in usage.ledger.uses.items():
        if not is_slice(key.accelerator):
            holder = place((key.accelerator, key.project or key.account))
            uses = parts[holder].ledger.uses
            uses.setdefault(UseKey(last, accelerator=holder[0]), UseSums())
            month = uses.setdefault(UseKey(key.month, accelerator=holder[0]), UseSums())
            month.accelerator_hours += sums.accelerator_hours
    for holder, part in parts.items():

        def own(one: Holder, holder: Holder = holder) -> str | None:
            return holder[0] if place(one) == holder else None

        part.ledger.hourly = usage.ledger.hourly.merge(own)
    return parts


def _jobs(usage: Usage, place: Callable[[Holder], Holder]) -> dict[Holder, JobSums]:
    jobs = defaultdict[Holder, JobSums](JobSums)
    for holder, part in usage.ledger.jobs.items():
        for size, hours in part.hours_by_size.items():
            jobs[place(holder)].add(size, hours, 0)
        jobs[place(holder)].accelerators += part.accelerators
    return jobs


def _job_fields(jobs: JobSums | None, work: dict[str, Any]) -> dict[str, Any]:
    """Length of a job, and in its work its accelerators, so that jobs of projects take turns; its
    peak has room for one."""
    if jobs is None:
        return {}
    if (size := jobs.typical_size) > 1:
        work["accelerators_per_job"] = size
        work["peak_accelerators"] = [max(peak, size) for peak in work["peak_accelerators"]]
    return {"job_hours": min(max(round(jobs.job_hours, 2), 0.01), 10_000.0)}


def list_meanings(name: str) -> tuple[str, ...]:
    """What a name may mean: a device of each size of memory, as clouds sell it.

    >>> list_meanings("a100")
    ('nvidia-a100-40gb-sxm', 'nvidia-a100-80gb-sxm')
    """
    usual: dict[float, str] = {}
    for one in sorted(accelerators.candidates(name), key=lambda one: one.form == "pcie"):
        usual.setdefault(one.memory_gib, one.slug)
    return tuple(usual[size] for size in sorted(usual))


def read_meaning(name: str, text: str) -> str:
    """The slug that is meant, by any usual name or by the memory alone.

    >>> read_meaning("a100", "80 GB"), read_meaning("a100", "A100-40GB")
    ('nvidia-a100-80gb-sxm', 'nvidia-a100-40gb-sxm')
    """
    size = text.strip().lower().removesuffix("gb").strip()
    known = list_meanings(name)
    slug = next((one for one in known if f"-{size}gb" in one), name_accelerator(text))
    if accelerators.find(slug) is None:
        problem = f"{shorten(text)} is no accelerator that {shorten(name)} may be"
        raise InvalidInput("name", f"{problem}; allowed are {' or '.join(known) or 'any'}")
    return slug


def settle(request: Any, meanings: Mapping[str, str]) -> dict[str, Any]:
    """A portfolio that came back, with what its names of accelerators mean."""
    try:
        for project in request["projects"]:
            name = project["workload"]["accelerator"]
            project["workload"]["accelerator"] = meanings.get(name, name)
    except (KeyError, TypeError):
        raise InvalidInput("projects", "are missing; send the files again") from None
    return dict(request)
