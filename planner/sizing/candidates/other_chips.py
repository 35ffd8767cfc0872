"""When an FPGA or an ASIC is the better choice, and what porting costs. PURE."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from planner.contract.answer.estimate import ChipAdvice, ServingPlan
from planner.contract.request.workload import Samples, Training
from planner.sizing.runs.schedule import RunSize
from pricing.market.accelerators import get

ENGINEER_USD = 15_000.0
"""USD of an engineer's month; planning value of this project, 2026."""
ASIC_MONTHS, NEURON_MONTHS, FPGA_MONTHS = 2.0, 1.0, 12.0
"""Engineer-months of a port: of a training to JAX, PyTorch/XLA or Neuron, of a model that is only
served, of a design for an FPGA; planning values of this project, 2026."""
ROCM_MONTHS = 0.5
"""Engineer-months of a port from CUDA to ROCm, where PyTorch code runs as it is and kernels of
one's own are converted (PyTorch, HIP semantics, 2024); planning value of this project, 2026."""
PORT_HOURS = 50_000.0
"""Accelerator-hours from which a port to an ASIC is worth weeks of engineering where no prices are
at hand: at 2 USD an hour and a price a third lower it saves some 30,000 USD, two engineer-months;
planning value, 2026."""
FPGA_PARAMETERS = 1e8
"""Parameters up to which a model quantised to 4 bits fits the memory on the chip of an FPGA, some
50 MB (AMD Alveo U55C data sheet, 2021); planning value of this project, 2026."""
ASICS = ("TPU", "Trainium")
ASIC_VENDORS = ("Google", "AWS")
"""The ASICs that are rented for training, and their makers; 2026."""
PORT = "a port to JAX, PyTorch/XLA or Neuron takes weeks, custom CUDA kernels months"


def porting_usd(stacks: Collection[str]) -> float:
    """USD of engineering to port code to these software stacks, which it does not run on yet: that
    of each, by `ROCM_MONTHS` or `ASIC_MONTHS` of `ENGINEER_USD`.

    >>> porting_usd([]), porting_usd(["rocm"]), porting_usd(["xla", "rocm"])
    (0.0, 7500.0, 37500.0)
    """
    months = sum(ROCM_MONTHS if stack == "rocm" else ASIC_MONTHS for stack in stacks)
    return months * ENGINEER_USD


def list_other_chips(
    workload: object, size: RunSize | None, hours: float, served: ServingPlan | None = None
) -> tuple[ChipAdvice, ...]:
    """What speaks for an ASIC and for an FPGA in this work; empty for hours as given."""
    if size is None:
        return ()
    return (_asic(workload, hours), _fpga(workload), _served(served))


def _asic(workload: object, hours: float) -> ChipAdvice:
    """TPU, Trainium: by the hours over which a port is spread."""
    if not isinstance(workload, Training):
        return _asic_advice(False, "for models whose operations they support")
    if hours >= PORT_HOURS:
        return _asic_advice(True, f"worth comparing for {hours:,.0f} h of dense matrix work")
    words = f"not for {hours:,.0f} h of work, unless the code runs there already"
    return _asic_advice(False, words)


def _asic_advice(is_better: bool, words: str, saving_usd: float | None = None) -> ChipAdvice:
    return ChipAdvice(
        kind="asic",
        chips=ASICS,
        use="training",
        is_better=is_better,
        porting_usd=ASIC_MONTHS * ENGINEER_USD,
        saving_usd=saving_usd,
        words=f"ASIC ({', '.join(ASICS)}): {words}; {PORT}{_cost(ASIC_MONTHS)}",
    )


def with_rents(chip: ChipAdvice, usd_by_accelerator: Mapping[str, float]) -> ChipAdvice:
    """Advice on training with an ASIC by what it saves, where both kinds of chip have a price."""
    if chip.kind != "asic" or chip.use != "training":
        return chip
    asics: list[tuple[float, str]] = []
    gpus: list[tuple[float, str]] = []
    for slug, usd in usd_by_accelerator.items():
        (asics if get(slug).vendor in ASIC_VENDORS else gpus).append((usd, slug))
    if not asics or not gpus:
        return chip
    (asic_usd, asic), (gpu_usd, gpu) = min(asics), min(gpus)
    saving = gpu_usd - asic_usd - chip.porting_usd
    verdict, does = ("worth a port", "saves") if saving > 0 else ("not worth a port", "costs")
    words = (
        f"{verdict}: on demand {get(asic).name} {does} {abs(saving):,.0f} USD"
        f"{'' if saving > 0 else ' more'} against {get(gpu).name}, the port included"
    )
    return _asic_advice(saving > 0, words, saving)


def _fpga(workload: object) -> ChipAdvice:
    """By whether a fixed model of this size could be served on one; whether it then is the better
    choice hangs on a latency and a lifetime that no request says."""
    size = workload.parameters if isinstance(workload, Training | Samples) else None
    is_small = size is not None and size <= FPGA_PARAMETERS
    purpose = "unchanged for years at latencies below a millisecond, or beside a sensor"
    if is_small:
        words = f"; worth it to serve this model {purpose}"
    elif size is None:
        words = f"; worth it to serve a model of at most 100 million parameters {purpose}"
    else:
        words = ", and this model is larger than what its chip holds, beyond which a GPU is faster"
    return ChipAdvice(
        kind="fpga",
        chips=("FPGA",),
        use="serving",
        is_better=None if is_small or size is None else False,
        porting_usd=FPGA_MONTHS * ENGINEER_USD,
        words=f"FPGA: not for training{words}; a port takes months of hardware design"
        f"{_cost(FPGA_MONTHS)}",
    )


def _served(plan: ServingPlan | None) -> ChipAdvice:
    """Inferentia: by the hours a year of serving that the port is spread over."""
    hours = plan.accelerator_hours_per_month * 12 if plan else 0.0
    is_better = hours >= PORT_HOURS
    if plan is None:
        words = "to serve what was trained, steadily and unchanged"
    elif is_better:
        words = f"worth comparing for {hours:,.0f} h of serving a year"
    else:
        words = f"not for {hours:,.0f} h of serving a year"
    return ChipAdvice(
        kind="asic",
        chips=("Inferentia",),
        use="serving",
        is_better=is_better,
        porting_usd=NEURON_MONTHS * ENGINEER_USD,
        words=f"ASIC (Inferentia): not for training; {words}; a port compiles the model with "
        f"Neuron{_cost(NEURON_MONTHS)}",
    )


def _cost(months: float) -> str:
    return f", some {months * ENGINEER_USD:,.0f} USD of engineering (planning value)"
