"""Is a CPU enough: small models, short jobs, preprocessing, a proof of concept. PURE."""

from __future__ import annotations

from planner.contract.answer.estimate import CpuNote
from planner.contract.request.workload import AcceleratorHours, Samples, Training
from planner.sizing.footprint.training_flops import compute_work, under_rules
from planner.sizing.performance.sample_times import TIME_RULES
from planner.sizing.runs.sample_run import rate_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get

CPU_TFLOPS = 0.32
"""Sustained fp32 rate of a 16-vCPU cloud machine, TFLOP/s: 8 cores at 2.5 GHz · 32 FLOP a cycle
(two AVX2 FMA units, Intel 64 and IA-32 Optimization Manual, 2023) · half of it sustained."""
A100_SAMPLES_TFLOPS = 61.0
"""What an A100 sustains in sample-based training, TFLOP/s: ResNet-50 at 2,470 images/s and 24.6
GFLOP an image, forward and backward (NVIDIA/DeepLearningExamples @729963dd47e7, 2021)."""
ENOUGH_HOURS = 12.0
"""h of one CPU machine up to which a GPU is not worth its set-up; planning value, 2026."""
NO_LONGER_RULES = 6
"""Edition of the rules from which a CPU that takes no longer than the accelerator is enough, as of
samples so small that reading them sets the pace; 2026."""


def cpu_hours(workload: Training | Samples, rules: int = 2) -> float | None:
    """Hours of one run on one 16-vCPU machine: FLOPs / 0.32 TFLOP/s; samples at 0.32 / 61 of an
    A100's rate, whatever their loader from rules 5 on; None where that is not known.

    >>> small = Training(kind="training", parameters=1e6, tokens=1e8, sequence_length=128)
    >>> cpu_hours(small) < 2
    True
    """
    if isinstance(workload, Training):
        return compute_work(under_rules(workload, rules)).executed_flops / (
            CPU_TFLOPS * 1e12 * 3600
        )
    bare = workload.model_copy(update={"loader": None}) if rules >= TIME_RULES else workload
    try:
        a100 = rate_on(bare, get("nvidia-a100-80gb-sxm")).samples_per_second
    except InvalidInput:
        return None
    rate = a100 * CPU_TFLOPS / A100_SAMPLES_TFLOPS
    return workload.samples * workload.epochs / (rate * 3600)


def cpu_note(
    workload: AcceleratorHours | Training | Samples,
    runs: int,
    rules: int = 2,
    accelerator_hours: float = 0.0,
) -> CpuNote:
    """Whether a CPU is enough for all runs, which take an accelerator `accelerator_hours`, its
    hours and what to do about it."""
    if isinstance(workload, AcceleratorHours):
        return CpuNote(is_enough=None, hours=None, note="the work behind the hours is not known")
    one_run = cpu_hours(workload, rules)
    if one_run is None:
        note = f"the rate of {workload.accelerator} cannot be moved to a CPU: it has no datasheet"
        return CpuNote(is_enough=None, hours=None, note=note)
    hours = one_run * runs * workload.attempts_factor
    if hours <= ENOUGH_HOURS:
        note = "a CPU machine is enough: rent no accelerator for it"
    elif rules >= NO_LONGER_RULES and hours <= accelerator_hours:
        note = (
            "a CPU machine would take no longer, as reading limits such small samples: try it "
            "there before renting an accelerator"
        )
    else:
        note = (
            "training needs an accelerator; preprocessing and a proof of concept on a small "
            "sample still belong on CPUs"
        )
        return CpuNote(is_enough=False, hours=hours, note=note)
    return CpuNote(is_enough=True, hours=hours, note=note)
