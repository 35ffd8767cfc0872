"""What a run of sized work takes at once on each kind of accelerator, and of which machines. PURE.

Demand is stated in one kind's accelerators, and another kind may need more of them at once than
its share of the hours comes to: 40 of a card with 40 GB where 32 would do the hours. The same hours
are then worked on more machines in less time. Machines that each hold a whole run may stand side by
side; of smaller ones a run takes machines of one size at one provider, beside servers of one's own.

A run that takes every accelerator of its machines is planned for each size of them by itself, on
whole machines of that size and its multiples. Beside servers of one's own that no whole number of
machines fills, numbers at once from the least to whole machines are plans of their own.
Where what is owned or committed to holds a run by itself, it works all month, and what is rented
beside it for the hours left. Where kinds may be mixed, that of all sources at the demand's peak is
one more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import reduce
from math import gcd

import numpy as np

from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.rental import is_list_price_by_date
from planner.costing.model_inputs import Floats, ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_peaks import fill_nodes
from pricing.market.offers import HOURS_PER_MONTH

_MOST_STEPS = 5
"""Numbers at once between the least and whole machines that are planned for, evenly spaced with
both ends: servers of one's own of many sizes leave hundreds; a planning choice, 2026."""
_PARTS = 48
"""Equal parts of an accelerator in which sizes are whole numbers, so that halves, thirds and
eighths of a card have a greatest common divisor."""


@dataclass(frozen=True)
class RunGroup:
    """Sources that a plan for sized work may combine."""

    keys: frozenset[str]
    peak: Floats | None = None
    """[T] reference accelerators at once of a plan from them; None: those of the demand."""
    is_level: bool = False
    """Whether that is the mean of the month, in which rented machines work for a part of it."""


def peak_of(plan: Scenario, inputs: ModelInputs) -> Floats | None:
    """[T] reference accelerators at once of a plan that takes more than the demand's peak; None for
    any other. With more or less work than planned it takes as many times as much."""
    if plan.peak is not None:
        planned = plan.served_hours
        more = np.divide(inputs.hours, planned, out=np.ones_like(planned), where=planned > 0)
        return np.asarray(plan.peak * more)
    if not inputs.least_peaks:
        return None
    keys = {key for key, hours in plan.used_hours.items() if hours.any()}
    keys |= {key for key, units in plan.units_started.items() if units.any()}
    peak = inputs.runs.on({inputs.by_key[key].accelerator for key in keys})
    return None if peak is inputs.peak else peak


def peak_hours_of(plan: Scenario, inputs: ModelInputs, source: CapacitySource) -> Floats:
    """[T] hours that the machines of a source are at work at once in a plan: H / P, 0 without
    work."""
    return inputs.runs.hours_in(plan.peak, source.accelerator)


def group_by_run(keys: Collection[str], inputs: ModelInputs) -> Iterator[RunGroup]:
    """The sources that a plan for sized work may combine, kinds in the order of their names; last
    all of them where kinds may be mixed."""
    of_kind: dict[str, set[str]] = defaultdict(set)
    for key in keys:
        of_kind[inputs.by_key[key].accelerator].add(key)
    for kind in sorted(of_kind.keys() - {""}):
        peak = inputs.runs.on({kind})
        if inputs.least_peaks is None and not inputs.fills_machines:
            yield RunGroup(frozenset(of_kind[kind]), peak)
            continue
        for group in _by_machine(of_kind[kind], inputs.job_sizes.get(kind, 1), inputs):
            if inputs.fills_machines:
                yield from _by_size(group, peak, inputs)
                yield from _beside_units(group, kind, peak, inputs)
            else:
                yield RunGroup(group, peak)
    if not inputs.one_accelerator:
        yield RunGroup(_lasting_as_charged(keys, inputs.peak, inputs), inputs.peak)


def group_by_machine(keys: frozenset[str], inputs: ModelInputs) -> Iterator[RunGroup]:
    """The sources of each kind of rented machine, with all that is owned or signed already."""
    sources = {key: inputs.by_key[key] for key in keys}
    own = {key for key, source in sources.items() if _is_own(source) or not source.provider}
    rented: dict[tuple[str, str], set[str]] = defaultdict(set)
    for key in sorted(keys - own):
        rented[sources[key].provider, sources[key].instance_type].add(key)
    yield from (RunGroup(frozenset(own | of_one)) for of_one in rented.values() or [set()])


def _by_machine(keys: Collection[str], job: int, inputs: ModelInputs) -> Iterator[frozenset[str]]:
    whole, own = set(), set()
    rented: dict[tuple[str, float], set[str]] = defaultdict(set)
    for key in keys:
        source = inputs.by_key[key]
        if _is_own(source):
            own.add(key)
        elif source.accelerators >= job:
            whole.add(key)
        else:
            rented[source.provider, source.accelerators].add(key)
    if whole or not rented:
        yield frozenset(whole | own)
    for machine in sorted(rented):
        yield frozenset(rented[machine] | own)


def _is_own(source: CapacitySource) -> bool:
    return source.is_owned or source.existing is not None


def _by_size(keys: frozenset[str], peak: Floats, inputs: ModelInputs) -> Iterator[RunGroup]:
    sources = {key: inputs.by_key[key] for key in keys}
    own = {key for key, source in sources.items() if _is_own(source)}
    sizes = {k: _parts(s) for k, s in sources.items() if k not in own and not s.stands_for}
    if not sizes:
        yield RunGroup(keys, peak)
        return
    own_sizes = {_parts(sources[key]) for key in own}
    one = next(sources[key].capacity / size for key, size in sizes.items())
    for size in sorted({reduce(gcd, sizes.values()), *sizes.values()}):
        rented = {key for key, its_size in sizes.items() if its_size % size == 0}
        full = fill_nodes(peak, size * one)
        step = reduce(gcd, own_sizes, size)
        months = inputs.calendar.months
        some = np.zeros(months, dtype=bool)
        for source in (inputs.by_key[key] for key in own):
            if source.existing is not None:
                some |= source.existing > 0
            if source.term is not None:
                some |= source.term.active[source.term.can_start][:, :months].any(axis=0)
        least = np.where(some, fill_nodes(peak, step * one), full)
        steps = (np.minimum(least + i * step * one, full) for i in _steps(size // step))
        for at_once in {row.tobytes(): row for row in steps}.values():
            yield RunGroup(_lasting_as_charged(own | rented, at_once, inputs), at_once)


def _beside_units(
    keys: Collection[str], kind: str, peak: Floats, inputs: ModelInputs
) -> Iterator[RunGroup]:
    """What is rented does what servers and commitments in service leave: H hours a month take
    H / 730 accelerators all month, with a deadline as many times more as keep it with the certainty
    asked for; machines rented do their part of them in less time.

    So it is only where any of them holds a run by itself, and nothing counts machines at
    once: no quota, share of a provider, home of data or reservation by the day.
    """
    if not inputs.fills_machines or counts_machines(inputs):
        return
    sources = {key: inputs.by_key[key] for key in keys}
    plain = {key: source for key, source in sources.items() if not is_list_price_by_date(source)}
    has_units = any(source.term is not None or _is_own(source) for source in plain.values())
    job = inputs.job_sizes.get(kind, 1)
    if has_units and all(source.accelerators >= job for source in plain.values()):
        level = inputs.hours / HOURS_PER_MONTH
        spare = np.asarray(inputs.spare_hours.get(kind, 1.0))
        level = np.clip(level * spare, level, np.maximum(level, peak))
        yield RunGroup(frozenset(plain), level, is_level=True)


def counts_machines(inputs: ModelInputs) -> bool:
    """Whether a limit counts the machines that are at work at once."""
    supply, data = inputs.supply, inputs.data
    return bool(inputs.quotas) or supply.tells_providers_apart or data.home is not None


def _steps(count: int) -> list[int]:
    """0 to count - 1, at most `_MOST_STEPS` of them.

    >>> _steps(3), _steps(64)
    ([0, 1, 2], [0, 16, 32, 47, 63])
    """
    if count <= _MOST_STEPS:
        return list(range(count))
    last = count - 1
    return [round(i * last / (_MOST_STEPS - 1)) for i in range(_MOST_STEPS)]


def _parts(source: CapacitySource) -> int:
    return max(round(source.accelerators * _PARTS), 1)


def _lasting_as_charged(keys: Collection[str], peak: Floats, inputs: ModelInputs) -> frozenset[str]:
    sources = ((key, inputs.by_key[key]) for key in keys)
    return frozenset(
        key
        for key, source in sources
        if not is_list_price_by_date(source) or np.allclose(inputs.runs.of(source), peak)
    )
