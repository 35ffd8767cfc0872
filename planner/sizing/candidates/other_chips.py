"""When an FPGA or an ASIC is the better choice, and what porting costs. PURE."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from planner.contract.answer.estimate import ChipAdvice, CpuNote, EstimateAnswer, EstimateCandidate
from planner.contract.request.workload import Samples, Serving, SizedWorkload, Training, Workload
from planner.sizing.evidence.benchmarks import TRAINING_FACTOR
from planner.sizing.footprint.training_flops import checked_training, compute_work
from planner.sizing.runs.run_size import RunSize
from planner.sizing.runs.sample_run import rate_on
from pricing.common.invalid_input import InvalidInput
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
    of each, by `ROCM_MONTHS` or `ASIC_MONTHS` of `ENGINEER_USD`."""
    months = sum(ROCM_MONTHS if stack == "rocm" else ASIC_MONTHS for stack in stacks)
    return months * ENGINEER_USD


def list_other_chips(
    workload: object, size: RunSize | None, hours: float
) -> tuple[ChipAdvice, ...]:
    """What speaks for an ASIC and for an FPGA in this work; empty for hours as given."""
    if size is None:
        return ()
    if isinstance(workload, Serving):
        return (_fpga(workload), _served(hours))
    is_long = isinstance(workload, Training) and hours >= PORT_HOURS
    if is_long:
        words = f"worth comparing for {hours:,.0f} h of dense matrix work"
    elif isinstance(workload, Training):
        words = f"not for {hours:,.0f} h of work, unless the code runs there already"
    else:
        words = "for models whose operations they support"
    return (_asic(is_long, words), _fpga(workload), _served(None))


def _advice(
    kind: str, chips: tuple[str, ...], use: str, is_better: bool | None, months: float, words: str
) -> ChipAdvice:
    usd = months * ENGINEER_USD
    cost = f", some {usd:,.0f} USD of engineering (planning value)"
    return ChipAdvice(
        kind=kind, chips=chips, use=use, is_better=is_better, porting_usd=usd, words=words + cost
    )


def _asic(is_better: bool, words: str) -> ChipAdvice:
    """TPU, Trainium: by the hours over which a port is spread, or by what it saves."""
    words = f"ASIC ({', '.join(ASICS)}): {words}; {PORT}"
    return _advice("asic", ASICS, "training", is_better, ASIC_MONTHS, words)


def _fpga(workload: object) -> ChipAdvice:
    """By whether a fixed model of this size could be served on one; whether it then is the better
    choice hangs on a latency and a lifetime that no request says."""
    size = workload.parameters if isinstance(workload, Training | Samples | Serving) else None
    is_large = size is not None and size > FPGA_PARAMETERS
    model = "a model of at most 100 million parameters" if size is None else "this model"
    words = (
        ", and this model is larger than what its chip holds, beyond which a GPU is faster"
        if is_large
        else f"; worth it to serve {model} unchanged for years at latencies below a millisecond, "
        "or beside a sensor"
    )
    words = f"FPGA: not for training{words}; a port takes months of hardware design"
    return _advice("fpga", ("FPGA",), "serving", False if is_large else None, FPGA_MONTHS, words)


def _served(hours_per_month: float | None) -> ChipAdvice:
    """Inferentia: by the hours a year of serving that the port is spread over."""
    hours = 12 * (hours_per_month or 0.0)
    is_better = hours >= PORT_HOURS
    words = "to serve what was trained, steadily and unchanged"
    if hours:
        words = f"{'worth comparing' if is_better else 'not'} for {hours:,.0f} h of serving a year"
    words = f"ASIC (Inferentia): not for training; {words}; a port compiles the model with Neuron"
    return _advice("asic", ("Inferentia",), "serving", is_better, NEURON_MONTHS, words)


def with_rents(chip: ChipAdvice, usd_by_accelerator: Mapping[str, float]) -> ChipAdvice:
    """Advice on training with an ASIC by what it saves, where both kinds of chip have a price."""
    rents = [(usd, slug) for slug, usd in usd_by_accelerator.items()]
    asics = [rent for rent in rents if get(rent[1]).vendor in ASIC_VENDORS]
    gpus = [rent for rent in rents if rent not in asics]
    if chip.chips != ASICS or not asics or not gpus:
        return chip
    (asic_usd, asic), (gpu_usd, gpu) = min(asics), min(gpus)
    saving = gpu_usd - asic_usd - chip.porting_usd
    verdict, does = ("worth a port", "saves") if saving > 0 else ("not worth a port", "costs")
    words = (
        f"{verdict}: on demand {get(asic).name} {does} {abs(saving):,.0f} USD"
        f"{'' if saving > 0 else ' more'} against {get(gpu).name}, the port included"
    )
    return _asic(saving > 0, words).model_copy(update={"saving_usd": saving})


CHEAPEST, FASTEST, KNEE, FRONT = "cheapest", "fastest", "knee", "front"
"""What a card is on the Pareto front; the knee is where neither can be had for little more of the
other."""


def find_front(points: Mapping[str, tuple[Any, Any]]) -> dict[str, str]:
    """Names of the points that no other beats in money and time, and what each is there.

    The knee is the point next to the best of both, money and time taken as logarithms over the
    width of the front; of one that is cheapest and fastest it is said that it is the cheapest.
    """
    ordered = sorted(points.items(), key=lambda item: (item[1], item[0]))
    front: list[str] = []
    quickest = math.inf
    for name, (_, hours) in ordered:
        if hours < quickest:
            front.append(name)
            quickest = hours
    places = dict.fromkeys(front, FRONT)
    if len(front) > 2:
        logs = [[math.log(max(points[name][i], 1e-9)) for name in front] for i in (0, 1)]
        over = [[(v - min(one)) / (max(one) - min(one)) for v in one] for one in logs]
        knee = min(range(1, len(front) - 1), key=lambda i: math.hypot(over[0][i], over[1][i]))
        places[front[knee]] = KNEE
    if front:
        places[front[-1]] = FASTEST
        places[front[0]] = CHEAPEST
    return places


def with_prices(
    answer: EstimateAnswer,
    usd_per_hour: Callable[[str], float | None],
    at_work: Callable[[str, int], int] = lambda _, used: used,
) -> EstimateAnswer:
    """The answer with what renting each candidate for one run costs, and its place on the front:
    its time is that on the accelerators of the rented machines, `at_work` of those it uses."""
    rented: dict[str, EstimateCandidate] = {}
    for one in answer.candidates:
        slug, hours, used = one.accelerator, one.accelerator_hours, one.accelerators
        price = usd_per_hour(slug) if hours and used else None
        if hours and used and price is not None:
            count = at_work(slug, used)
            run = {"rent_usd": hours * price, "rented_accelerators": count}
            run["rented_wall_clock_hours"] = hours / count
            rented[slug] = one.model_copy(update=run)
    points = {s: (one.rent_usd, one.rented_wall_clock_hours) for s, one in rented.items()}
    for slug, choice in find_front(points).items():
        rented[slug] = rented[slug].model_copy(update={"choice": choice})
    candidates = tuple(rented.get(one.accelerator, one) for one in answer.candidates)
    one_run = (answer.wall_clock_hours or 0.0) * answer.accelerators
    times = answer.accelerator_hours.p50 / one_run if one_run else float(answer.runs)
    rents = {slug: (one.rent_usd or 0.0) * times for slug, one in rented.items()}
    chips = tuple(with_rents(chip, rents) for chip in answer.chips)
    serving, rent = answer.serving, rented.get(answer.accelerator)
    if serving and rent and rent.rent_usd is not None:
        usd = rent.rent_usd / serving.tokens_per_month * 1e6
        serving = serving.model_copy(update={"usd_per_million_tokens": usd})
    return answer.model_copy(
        update={
            "candidates": candidates,
            "chips": chips,
            "other_chips": tuple(chip.words for chip in chips),
            "serving": serving,
        }
    )


CPU_TFLOPS = 0.32
"""Sustained fp32 rate of a 16-vCPU cloud machine, TFLOP/s: 8 cores at 2.5 GHz · 32 FLOP a cycle
(two AVX2 FMA units, Intel 64 and IA-32 Optimization Manual, 2023) · half of it sustained."""
A100_SAMPLES_TFLOPS = 61.0
"""What an A100 sustains in sample-based training, TFLOP/s: ResNet-50 at 2,470 images/s and 24.6
GFLOP an image, forward and backward (NVIDIA/DeepLearningExamples @729963dd47e7, 2021)."""
A100_USUAL_TFLOPS = 42.0
"""The same of image models in the geometric mean: ResNet-50 (61) and SE-ResNeXt101 (41, same
source), CLIP ViT-B/32 (34) and ViT-L/14 (37, mlfoundations/open_clip docs/PRETRAINED.md @89fb801,
2022)."""
ENOUGH_HOURS = 12.0
"""h of one CPU machine up to which a GPU is not worth its set-up; planning value, 2026."""


def cpu_hours(workload: SizedWorkload) -> float | None:
    """Hours of one run on one 16-vCPU machine: FLOPs / 0.32 TFLOP/s; samples at 0.32 / 61 of an
    A100's rate, whatever their loader; None where that is not known."""
    if isinstance(workload, Training):
        return compute_work(checked_training(workload)).executed_flops / (CPU_TFLOPS * 1e12 * 3600)
    if not isinstance(workload, Samples):
        return None
    gflops = workload.forward_gflops_per_sample
    if gflops is not None and workload.samples_per_second is None and workload.benchmark is None:
        a100 = A100_USUAL_TFLOPS * 1e3 / (TRAINING_FACTOR * gflops)
    else:
        try:
            a100 = rate_on(workload, get("nvidia-a100-80gb-sxm")).samples_per_second
        except InvalidInput:
            return None
    rate = a100 * CPU_TFLOPS / A100_SAMPLES_TFLOPS
    return workload.samples * workload.epochs / (rate * 3600)


def cpu_note(workload: Workload, runs: int, accelerator_hours: float = 0.0) -> CpuNote:
    """Whether a CPU is enough for all runs, which take an accelerator `accelerator_hours`, its
    hours and what to do about it."""
    if not isinstance(workload, SizedWorkload):
        return CpuNote(is_enough=None, hours=None, note="the work behind the hours is not known")
    if isinstance(workload, Serving):
        return CpuNote(is_enough=None, hours=None, note="serving is sized for accelerators alone")
    one_run = cpu_hours(workload)
    if one_run is None:
        note = f"the rate of {workload.accelerator} cannot be moved to a CPU: it has no datasheet"
        return CpuNote(is_enough=None, hours=None, note=note)
    hours = one_run * runs * workload.attempts_factor
    is_enough = hours <= max(ENOUGH_HOURS, accelerator_hours)
    if not is_enough:
        note = (
            "training needs an accelerator; preprocessing and a proof of concept on a small "
            "sample still belong on CPUs"
        )
    elif hours <= ENOUGH_HOURS:
        note = "a CPU machine is enough: rent no accelerator for it"
    else:
        note = (
            "a CPU machine would take no longer, as reading limits such small samples: try it "
            "there before renting an accelerator"
        )
    return CpuNote(is_enough=is_enough, hours=hours, note=note)
