"""What a run of sized work takes at once on each kind of accelerator, and of which machines. PURE.

Demand is stated in one kind's accelerators, and another kind may need more of them at once than
its share of the hours comes to: 40 of a card with 40 GB where 32 would do the hours. The same hours
are then worked on more machines in less time. Machines that each hold a whole run may stand side by
side; of smaller ones a run takes machines of one size at one provider, beside servers of one's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from planner.costing.model_inputs import Floats, ModelInputs
from planner.costing.results.scenario_result import Scenario


def peak_of(plan: Scenario, inputs: ModelInputs) -> Floats | None:
    """[T] reference accelerators at once of a plan whose kind of accelerator takes more than the
    demand's peak; None for any other."""
    if not inputs.least_peaks:
        return None
    keys = {key for key, hours in plan.used_hours.items() if hours.any()}
    keys |= {key for key, units in plan.units_started.items() if units.any()}
    peak = inputs.peak_on({inputs.by_key[key].accelerator for key in keys})
    return None if peak is inputs.peak else peak


def group_by_run(keys: Collection[str], inputs: ModelInputs) -> Iterator[frozenset[str]]:
    """The sources that a plan for sized work may combine, kinds in the order of their names."""
    of_kind: dict[str, set[str]] = defaultdict(set)
    for key in keys:
        of_kind[inputs.by_key[key].accelerator].add(key)
    for kind in sorted(of_kind.keys() - {""}):
        if inputs.least_peaks is None:
            yield frozenset(of_kind[kind])
        else:
            yield from _by_machine(of_kind[kind], inputs.job_sizes.get(kind, 1), inputs)


def _by_machine(keys: Collection[str], job: int, inputs: ModelInputs) -> Iterator[frozenset[str]]:
    """Those that hold a run of `job` accelerators; else each kind of machine by itself."""
    whole, own = set(), set()
    rented: dict[tuple[str, float], set[str]] = defaultdict(set)
    for key in keys:
        source = inputs.by_key[key]
        if source.is_owned or source.existing is not None:
            own.add(key)
        elif source.accelerators >= job:
            whole.add(key)
        else:
            rented[source.provider, source.accelerators].add(key)
    if whole or not rented:
        yield frozenset(whole | own)
    for machine in sorted(rented):
        yield frozenset(rented[machine] | own)
