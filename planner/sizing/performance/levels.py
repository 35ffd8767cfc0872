"""What a well-tuned framework sustains on one accelerator before layout and team count. PURE."""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path

from planner.contract.request.workload import Training
from planner.sizing.footprint.precisions import CONSUMER_FP8_RULES, dense_tflops
from planner.sizing.footprint.training_flops import (
    Work,
    is_adapter,
    is_mixture,
    mixture_share,
    size_at_work,
)
from planner.sizing.layout.states import PARTS_RULES
from planner.sizing.layout.step_time import WHOLE_RULES, Rates
from planner.sizing.performance.throughput import benchmark_level, small_model_share
from pricing.market.accelerators import Accelerator

USUAL_MATMUL_SHARE = 0.8
"""Share of the dense peak that the best matrix products reach where nobody published it: the
middle of the table (stas00/ml-engineering MAMF table, 2025)."""
VECTOR_MATMUL_SHARE = 0.95
"""Share of the peak that matrix products reach on vector units, from rules 5 on; planning value of
this project, 2026: whole steps of BERT large in fp32 execute 0.70 of it on V100
(microsoft/DeepSpeedExamples training/autotuning/hf/README.md @127c7a10, 2021)."""
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
LAUNCH_SECONDS, ADAPTER_LAUNCH_SECONDS = 2.8e-3, 4.5e-3
"""s in which a host starts the kernels of one layer, forward and backward, without and with
adapters in every layer, which a micro-batch takes however few tokens it has: one example of Alpaca
(Llama 2 7B and 13B, StableLM 3B, phi-1.5 on A100, Lightning-AI/litgpt tutorials/resource-tables.md
@4839345a, 2023)."""
DEQUANTISED_SHARE = 0.24
"""Share of the memory bandwidth at which QLoRA makes 16-bit weights of 4-bit ones: the same runs,
with nf4 against without (2 passes, 0.22 to 0.28), and Llama 3.1 8B on RTX 4090 (3 passes, 0.16,
pytorch/torchtune README @0031bfb0, 2024)."""
CAUSAL_SHARE = 0.5
"""Part of the attention term that a causal kernel works on (Dao, FlashAttention-2, arXiv 2307.08691
section 3.1, 2023): full fine-tunings of 7B to 70B at 32,768 to 131,072 tokens lie within 14 % of
that, and take 1.1 to 1.6 times less than the whole term says (InternLM/xtuner speed benchmarks,
2024)."""
MATRIX_SHARE = 0.96
"""Rate of matrices over the level, which counts the whole attention term, where half of it is
worked on: (1 + a / 2) / (1 + a) for the a = 0.083 of a 7B model at 2,048 tokens, about the middle
of the runs behind the levels (mosaicml/llm-foundry benchmarking README @8c8dd48f7216, 2023)."""
STEP_RULES = 5
"""Edition of the rules from which causal attention is half of its term, adapters work at the rate
of full training, and a micro-batch takes as long as its kernels' start and QLoRA's dequantisation,
2026. The gain of adapters under earlier rules came from two rates; of the same model frameworks run
them 1.04 to 1.47 times as fast as full training, where a third fewer operations would be 1.5
(framework_throughput.csv, 2023-2024)."""
QLORA_SHARE = 0.78
"""Rate of QLoRA over LoRA at 2,048 tokens: the weights are dequantised in every pass (Llama 3.1 8B
on RTX 4090, 2,413 against 3,083 tokens/s, same source, 2024)."""
MATRIX_ABOVE = 1.5
"""Peak over that of fp32 from which it is that of matrix units; planning value, 2026."""
MOST_OF_VECTOR_TFLOPS = 20.0
"""TFLOP/s up to which vector units count as slow: those of P100, V100 and Titan RTX, of which runs
are published, have 10 to 16 (framework_throughput.csv and finetune_runs.csv, 2017-2021)."""
EIGHT_BIT_GAIN = 1.46
"""Rate in 8 bits over that in 16 of consumer cards, at most: that of the H100, from which theirs is
moved (0.30 of twice the peak over 0.41, mfu_levels.csv, 2023-2025)."""
MIXTURE_GAIN = 0.5
"""Part of the gain of 8 bits, as a logarithm, that mixtures of experts keep from rules 5 on:
DeepSeek-V3 gains 1.28 times on GB200 and 1.13 on GB300, where dense models gain 1.7 and 1.5
(NVIDIA-NeMo/Megatron-Bridge docs/performance-summary.md 25.11 @00b7660be025, 2025)."""
_PEAKS = Path(__file__).with_name("matmul_peaks.csv")


def matmul_share(one: Accelerator, rules: int = 2) -> float:
    """Share of the dense peak that the best matrix products reach, by an edition's table.

    >>> from pricing.market.accelerators import get
    >>> matmul_share(get("nvidia-h100-80gb-sxm")), matmul_share(get("nvidia-l4"))
    (0.803, 0.8)
    """
    return _matmul_shares(rules).get(one.slug, USUAL_MATMUL_SHARE)


def most_executed(one: Accelerator, precision: str, rules: int = 2) -> float:
    """Most of the dense peak that a training step executes, recomputation included."""
    if rules >= STEP_RULES and is_vector(one, precision):
        return MOST_OF_MATMUL * VECTOR_MATMUL_SHARE
    return MOST_OF_MATMUL * matmul_share(one, rules)


def level(one: Accelerator, precision: str, rules: int = 2) -> float:
    """MFU that a well-tuned framework reaches with a model that fills the accelerator, without
    recomputation.

    >>> from pricing.market.accelerators import get
    >>> level(get("nvidia-a100-40gb-sxm"), "bf16"), level(get("nvidia-h100-80gb-sxm"), "bf16")
    (0.53, 0.41)
    """
    if precision in ("bf16", "fp16") and one.slug in LEVELS:
        return LEVELS[one.slug]
    reached = min(benchmark_level(one, precision, rules).mfu, most_executed(one, precision, rules))
    is_later = precision == "fp8" and rules >= CONSUMER_FP8_RULES
    if is_later and one.accelerator_class == "consumer":
        return min(reached, EIGHT_BIT_GAIN * level(one, "bf16", rules) / 2)
    return reached


def rates_on(training: Training, one: Accelerator, precision: str, rules: int = 2) -> Rates:
    """FLOP/s of matrices and of attention, which stays in 16 bits under fp8; from rules 5 on with
    what a micro-batch takes beside them."""
    is_quantised = training.optimizer == "qlora"
    share = small_model_share(size_at_work(training))
    if rules >= STEP_RULES:
        share = MATRIX_SHARE * (1.0 if is_vector(one, precision) else share)
    elif is_adapter(training):
        share *= ADAPTER_GAIN * (QLORA_SHARE if is_quantised else 1.0)
    matrix = _sustained(one, precision, rules) * share
    if rules >= STEP_RULES and precision == "fp8" and is_mixture(training):
        plain = _sustained(one, "bf16", rules) * share
        gain_share = 1 - (1 - MIXTURE_GAIN) * mixture_share(training, rules)
        matrix = plain * max(1.0, matrix / plain) ** gain_share
    attention = _sustained(one, "bf16", rules) * share if precision == "fp8" else matrix
    attention = min(matrix, attention) if precision == "fp8" else matrix
    if rules < STEP_RULES:
        return Rates(matrix, attention)
    bandwidth = one.memory_bandwidth_gb_per_s
    return Rates(
        matrix,
        attention / CAUSAL_SHARE,
        True,
        _launch_seconds(training, one),
        DEQUANTISED_SHARE * bandwidth * 1e9 if is_quantised and bandwidth else math.inf,
        rules >= PARTS_RULES,
        rules >= WHOLE_RULES,
    )


def _launch_seconds(training: Training, one: Accelerator) -> float:
    """s to start the kernels of a layer; a TPU runs the whole step as one compiled program."""
    if one.accelerator_class == "tpu":
        return 0.0
    return ADAPTER_LAUNCH_SECONDS if is_adapter(training) else LAUNCH_SECONDS


def is_vector(one: Accelerator, precision: str) -> bool:
    """Whether vector units do the arithmetic, so slowly that a small model fills them as a large
    one does.

    >>> from pricing.market.accelerators import get
    >>> v100 = get("nvidia-v100-16gb-sxm")
    >>> is_vector(v100, "fp32"), is_vector(v100, "fp16")
    (True, False)
    >>> is_vector(get("nvidia-h100-80gb-sxm"), "fp32")
    False
    """
    vector = one.fp32_tflops or 0.0
    peak = peak_flops(one, precision) / 1e12
    return 0 < peak <= min(MATRIX_ABOVE * vector, MOST_OF_VECTOR_TFLOPS)


def _sustained(one: Accelerator, precision: str, rules: int) -> float:
    """Level times dense peak, FLOP/s; the nearest precision where the accelerator lacks it."""
    return level(one, precision, rules) * peak_flops(one, precision, rules)


def worked_flops(work: Work, rules: int) -> float:
    """FLOPs of one run without recomputation; from rules 5 on the causal half of attention's."""
    if rules < STEP_RULES:
        return work.executed_flops
    return work.executed_flops - (1 - CAUSAL_SHARE) * work.attention_flops


def peak_flops(one: Accelerator, precision: str, rules: int = CONSUMER_FP8_RULES) -> float:
    """Dense peak, FLOP/s; the next best where the accelerator lacks a precision."""
    tflops = dense_tflops(one, precision, rules)
    tflops = tflops or one.dense_tflops("fp16") or one.dense_tflops("fp32")
    return (tflops or 0.0) * 1e12


@cache
def _matmul_shares(rules: int) -> dict[str, float]:
    with _PEAKS.open(newline="", encoding="utf-8") as lines:
        return {
            slug: float(row["share"])
            for row in csv.DictReader(lines)
            if int(row["since"] or 1) <= rules
            for slug in row["accelerators"].split(";")
        }
