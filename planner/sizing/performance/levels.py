"""What a well-tuned framework sustains on one accelerator before layout and team count. PURE."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import is_adapter, size_at_work
from planner.sizing.layout.step_time import Rates
from planner.sizing.performance.throughput import benchmark_level, small_model_share
from pricing.market.accelerators import Accelerator

USUAL_MATMUL_SHARE = 0.8
"""Share of the dense peak that the best matrix products reach where nobody published it: the
middle of the table (stas00/ml-engineering MAMF table, 2025)."""
MOST_OF_MATMUL = 0.85
"""Most of that which a whole training step executes; planning value of this project, 2026: the
best published steps, full recomputation counted, reach 0.89 of it (MPT 7B at 1,024 tokens on
A100, mosaicml/llm-foundry @8c8dd48f7216, 2023), usual ones 0.5 to 0.8."""
LEVELS = {"nvidia-a100-40gb-sxm": 0.53, "nvidia-a100-40gb-pcie": 0.49}
"""Levels without recomputation, where that of `mfu_levels.csv` holds it: MPT 1.3B and 2.7B at 1,024
to 8,192 tokens on A100 40 GB reach 0.95 of what they reach on 80 GB (mosaicml/llm-foundry
benchmarking README @8c8dd48f7216, 2023)."""
ADAPTER_GAIN = 1.25
"""Rate with frozen weights over that of full training, in operations executed: there are no
gradients of the weights to write and reduce. Llama 3.1 8B LoRA on one RTX 4090 and 405B QLoRA on 8
A100 (pytorch/torchtune README @0031bfb0, 2024)."""
QLORA_SHARE = 0.78
"""Rate of QLoRA over LoRA at 2,048 tokens: the weights are dequantised in every pass (Llama 3.1 8B
on RTX 4090, 2,413 against 3,083 tokens/s, same source, 2024)."""
_PEAKS = Path(__file__).with_name("matmul_peaks.csv")


def matmul_share(one: Accelerator) -> float:
    """Share of the dense peak that the best matrix products reach.

    >>> from pricing.market.accelerators import get
    >>> matmul_share(get("nvidia-h100-80gb-sxm")), matmul_share(get("nvidia-l4"))
    (0.803, 0.8)
    """
    return _matmul_shares().get(one.slug, USUAL_MATMUL_SHARE)


def most_executed(one: Accelerator) -> float:
    """Most of the dense peak that a training step executes, recomputation included."""
    return MOST_OF_MATMUL * matmul_share(one)


def level(one: Accelerator, precision: str) -> float:
    """MFU that a well-tuned framework reaches with a model that fills the accelerator, without
    recomputation.

    >>> from pricing.market.accelerators import get
    >>> level(get("nvidia-a100-40gb-sxm"), "bf16"), level(get("nvidia-h100-80gb-sxm"), "bf16")
    (0.53, 0.41)
    """
    if precision in ("bf16", "fp16") and one.slug in LEVELS:
        return LEVELS[one.slug]
    return min(benchmark_level(one, precision).mfu, most_executed(one))


def rates_on(training: Training, one: Accelerator, precision: str) -> Rates:
    """FLOP/s of matrices and of attention, which stays in 16 bits under fp8."""
    share = small_model_share(size_at_work(training))
    if is_adapter(training):
        share *= ADAPTER_GAIN * (QLORA_SHARE if training.optimizer == "qlora" else 1.0)
    matrix = _sustained(one, precision) * share
    attention = _sustained(one, "bf16") * share if precision == "fp8" else matrix
    return Rates(matrix, min(matrix, attention) if precision == "fp8" else matrix)


def _sustained(one: Accelerator, precision: str) -> float:
    """Level times dense peak, FLOP/s; the nearest precision where the accelerator lacks it."""
    return level(one, precision) * peak_flops(one, precision)


def peak_flops(one: Accelerator, precision: str) -> float:
    """Dense peak, FLOP/s; the next best where the accelerator lacks a precision."""
    tflops = one.dense_tflops(precision) or one.dense_tflops("fp16") or one.dense_tflops("fp32")
    return (tflops or 0.0) * 1e12


@cache
def _matmul_shares() -> dict[str, float]:
    with _PEAKS.open(newline="", encoding="utf-8") as lines:
        return {
            slug: float(row["share"])
            for row in csv.DictReader(lines)
            for slug in row["accelerators"].split(";")
        }
