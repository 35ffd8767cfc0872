"""Jobs of a stated size that leave part of every machine idle, and what a size that fills it would
cost; servers larger than the work. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from math import ceil

from planner.contract.answer.verdict import Alternative, DecisionPart
from planner.contract.money import format_money
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import LARGEST_NODE
from planner.costing.inputs.job_nodes import usable_accelerators
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_of
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import get

JOB_FIELD = "workload.accelerators_per_job"
"""Field of the request that states the size of a job."""
MOST_BUSY = 0.5
"""Share of a server's accelerators at work at once up to which a smaller one is worth a quote; a
choice of this project, 2026."""
_ROUNDING = 1e-6
"""Accelerators above a whole number that are its rounding, 2026."""
_NEARLY_ALL = 1 - 1e-6
"""Share of a machine's accelerators from which all of them count as busy; rounding, 2026."""


def filling_size(job: int) -> int:
    """Smallest size of a job from `job` on that leaves nothing of machines of `LARGEST_NODE` idle.

    >>> [filling_size(job) for job in (1, 3, 4, 5, 8, 12)]
    [1, 4, 4, 8, 8, 16]
    """
    if job >= LARGEST_NODE:
        return -(-job // LARGEST_NODE) * LARGEST_NODE
    return next(size for size in range(job, LARGEST_NODE + 1) if LARGEST_NODE % size == 0)


def warn_of_unfilled_machines(
    request: ComparisonRequest,
    inputs: ModelInputs,
    decision: Iterable[DecisionPart],
    alternatives: Iterable[Alternative],
) -> Iterator[str]:
    """What share of each machine of the plan jobs of a stated size leave idle, what is paid for
    it, and what the plan would cost with jobs that fill it; and where the work needs more than the
    jobs were stated to take."""
    stated = request.workload.accelerators_per_job
    if not stated:
        return
    parts = tuple(decision)
    kinds = dict.fromkeys(inputs.by_key[part.source].accelerator for part in parts)
    yield from (_too_small(stated, kind, inputs) for kind in kinds if _job(kind, inputs) > stated)
    if stated < 2:
        return
    for part in parts:
        source = inputs.by_key[part.source]
        job = max(stated, _job(source.accelerator, inputs))
        count, size = source.accelerators, inputs.packed_sizes.get(source.accelerator, 1)
        usable = float(usable_accelerators(count, size))
        if count < 1 or usable >= count or not _is_filled(source.accelerator, usable, inputs):
            continue
        idle = 1.0 - usable / count
        paid = format_money(part.amount * Decimal(str(idle)), request.currency)
        whole = next((one for one in alternatives if one.field == JOB_FIELD), None)
        instead = (
            f" Jobs of {whole.value} would fill it: "
            f"{format_money(whole.total, request.currency)} in all."
            if whole
            else f" Jobs of {filling_size(job)} would fill machines of {LARGEST_NODE}."
        )
        yield (
            f"{part.label}: {_filled(job, count)}, so at least {idle:.0%} of what it costs "
            f"({paid}) is wasted.{instead}"
        )


def hint_at_smaller_server(plan: Scenario, inputs: ModelInputs, most: Decimal | None = None) -> str:
    """Beside a single server bought or leased of which the work never keeps more than half busy:
    that a smaller one may cost less; else empty, and where even the same share of what the plan
    costs as of the server would come to `most`."""
    started = {k: int(n.sum()) for k, n in plan.units_started.items() if inputs.by_key[k].is_owned}
    if list(started.values()) != [1]:
        return ""
    source = inputs.by_key[next(iter(started))]
    own = peak_of(plan, inputs)
    peak = float((inputs.peak if own is None else own).max())
    busy = ceil(peak / inputs.throughput[source.accelerator] - _ROUNDING)
    if busy > source.accelerators * MOST_BUSY:
        return ""
    share = Decimal(busy) / Decimal(str(source.accelerators))
    if most is not None and plan.total_cost * share >= most:
        return ""
    works = "works" if busy == 1 else "work"
    return (
        f" At most {busy:,} of the server's {source.accelerators:g} accelerators {works} at once: "
        f"ask for a quote of a server with {busy:,}, and enter it as a custom server."
    )


def _is_filled(kind: str, usable: float, inputs: ModelInputs) -> bool:
    """Whether there is work at once for all of a machine that jobs can use; where there is not, its
    rest idles for want of work and not for the size of jobs."""
    return float(inputs.runs.on({kind}).max()) / inputs.throughput[kind] >= usable * _NEARLY_ALL


def _job(kind: str, inputs: ModelInputs) -> int:
    return inputs.job_sizes.get(kind, 1)


def _too_small(stated: int, kind: str, inputs: ModelInputs) -> str:
    return (
        f"Jobs of {pluralize(stated, 'accelerator')} (accelerators_per_job) are too small for this "
        f"work on {get(kind).name}: each is counted as a job of {_job(kind, inputs)}."
    )


def _filled(job: int, count: float) -> str:
    """
    >>> _filled(3, 8), _filled(5, 8), _filled(12, 8)
    ('2 jobs of 3 leave 2 of its 8 accelerators idle', '1 job of 5 leaves 3 of its 8 accelerators \
idle', 'jobs of 12 leave 4 of the 16 accelerators of 2 machines idle')
    """
    jobs = int(count // job)
    if jobs:
        leaves = "leaves" if jobs == 1 else "leave"
        idle = count - jobs * job
        of = f"{idle:g} of its {count:g} accelerators"
        return f"{pluralize(jobs, 'job')} of {job} {leaves} {of} idle"
    machines = -(-job // int(count))
    held = machines * int(count)
    return (
        f"jobs of {job} leave {held - job} of the {held} accelerators of {machines} machines idle"
    )
