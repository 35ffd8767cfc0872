"""Machines whose processors are too few to read the images that their accelerators train. PURE.

An accelerator that trains R images a second waits for a loader that takes t of a core for each of
them where R · t is more than the cores beside it, c = vCPUs / 2 / accelerators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from planner.contract.answer.verdict import DecisionPart
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.workload import Samples
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.sizing.runs.sample_run import rate_on
from pricing.market import machine_types
from pricing.market.accelerators import get

CORE_SECONDS: Mapping[str, float] = {"usual": 3e-3, "hand_tuned": 5e-4}
"""s of a core to read and decode one image, with a framework's loader and with one written for
speed: the values that the sizing of images begins with (`sample_times.FIRST`, of ten cores);
planning values, 2026."""
WORTH_SAYING = 1.05
"""Times the cores of a machine that reading takes from which hours are said to grow; a choice of
this project, 2026."""
VCPUS_PER_CORE = 2.0
"""Hardware threads that clouds sell of a core of x86 (EC2 and Compute Engine documentation,
2025)."""


def warn_of_few_cores(
    request: ComparisonRequest, inputs: ModelInputs, decision: Iterable[DecisionPart]
) -> Iterator[str]:
    """Machines of the plan whose processors cannot read as many images as it counts on."""
    workload = request.workload
    if not isinstance(workload, Samples) or workload.samples_per_second is not None:
        return
    for part in decision:
        source = inputs.by_key[part.source]
        cores = _cores_per_accelerator(source)
        if cores is None:
            continue
        rate = rate_on(workload, get(source.accelerator), request.rules).samples_per_second
        needed = rate * CORE_SECONDS[workload.loader or "usual"]
        if needed >= cores * WORTH_SAYING:
            yield _describe(source, cores, rate, needed, workload.loader)


def _cores_per_accelerator(source: CapacitySource) -> float | None:
    """None where nobody says how many a machine has, and of servers, whose owner chooses them."""
    machine = machine_types.find(source.provider, source.instance_type) if source.provider else None
    if machine is None or machine.vcpus is None or source.accelerators <= 0:
        return None
    return machine.vcpus / VCPUS_PER_CORE / source.accelerators


def _describe(
    source: CapacitySource, cores: float, rate: float, needed: float, loader: str | None
) -> str:
    which = "a loader tuned for speed" if loader == "hand_tuned" else "a framework's own loader"
    return (
        f"Loading images: {source.instance_type} has {cores:,.3g} cores per "
        f"{get(source.accelerator).name}, and {which} needs about {needed:,.1f} to read the "
        f"{rate:,.0f} images a second that the hours assume, so the work may take up to "
        f"{needed / cores:.1f} times as many hours. A machine with more vCPUs per accelerator "
        "avoids this, as do images decoded beforehand or on the accelerator."
    )
