"""What a well-tuned framework sustains on one accelerator before layout and team count. PURE."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from planner.contract.request.workload import Training
from planner.sizing.evidence import fitted, typed
from planner.sizing.evidence.benchmarks import FULL, LOW, MIXED
from planner.sizing.footprint.memory import ONE_NODE
from planner.sizing.footprint.training_flops import (
    Work,
    is_adapter,
    is_mixture,
    mixture_share,
    size_at_work,
)
from planner.sizing.layout.step_time import Rates
from pricing.common.tables import read_rows
from pricing.market.accelerators import Accelerator, get

USUAL_MATMUL_SHARE = 0.8
"""Share of the dense peak that the best matrix products reach where nobody published it: the
middle of the table (stas00/ml-engineering MAMF table, 2025)."""
VECTOR_MATMUL_SHARE = 0.95
"""Share of the peak that matrix products reach on vector units; planning value of
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
MATRIX_ABOVE = 1.5
"""Peak over that of fp32 from which it is that of matrix units; planning value, 2026."""
MOST_OF_VECTOR_TFLOPS = 20.0
"""TFLOP/s up to which vector units count as slow: those of P100, V100 and Titan RTX, of which runs
are published, have 10 to 16 (framework_throughput.csv and finetune_runs.csv, 2017-2021)."""
EIGHT_BIT_GAIN = 1.46
"""Rate in 8 bits over that in 16 of consumer cards, at most: that of the H100, from which theirs is
moved (0.30 of twice the peak over 0.41, mfu_levels.csv, 2023-2025)."""
LOW_BITS = ("fp8", "fp4")
"""Precisions in which matrices are multiplied and attention is not."""
FOUR_BIT_GAIN = 1.22
"""Rate in 4 bits over that in 8: Llama 3.1 8B on 8 B200 does 2,002 against 1,637 TFLOP/s (NeMo
26.02 on B200, step times over 20 iterations, 2026)."""
MIXTURE_GAIN = 0.5
"""Part of the gain of 8 bits, as a logarithm, that mixtures of experts keep:
DeepSeek-V3 gains 1.28 times on GB200 and 1.13 on GB300, where dense models gain 1.7 and 1.5
(NVIDIA-NeMo/Megatron-Bridge docs/performance-summary.md 25.11 @00b7660be025, 2025)."""
_PEAKS = Path(__file__).with_name("matmul_peaks.csv")


def matmul_share(one: Accelerator) -> float:
    """Share of the dense peak that the best matrix products reach."""
    return _matmul_shares().get(one.slug, USUAL_MATMUL_SHARE)


def most_executed(one: Accelerator, precision: str) -> float:
    """Most of the dense peak that a training step executes, recomputation included."""
    if is_vector(one, precision):
        return MOST_OF_MATMUL * VECTOR_MATMUL_SHARE
    return MOST_OF_MATMUL * matmul_share(one)


def level(one: Accelerator, precision: str) -> float:
    """MFU that a well-tuned framework reaches with a model that fills the accelerator, without
    recomputation."""
    if precision in ("bf16", "fp16") and one.slug in LEVELS:
        return LEVELS[one.slug]
    reached = min(benchmark_level(one, precision).mfu, most_executed(one, precision))
    if precision == "fp8" and one.accelerator_class == "consumer":
        return min(reached, EIGHT_BIT_GAIN * level(one, "bf16") / 2)
    return reached


def rates_on(training: Training, one: Accelerator, precision: str) -> Rates:
    """FLOP/s of matrices and of attention, which stays in 16 bits under fp8; with
    what a micro-batch takes beside them."""
    is_quantised = training.optimizer == "qlora"
    share = small_model_share(size_at_work(training))
    share = MATRIX_SHARE * (1.0 if is_vector(one, precision) else share)
    matrix = _sustained(one, precision) * share
    if precision in LOW_BITS and is_mixture(training):
        plain = _sustained(one, "bf16") * share
        gain_share = 1 - (1 - MIXTURE_GAIN) * mixture_share(training)
        matrix = plain * max(1.0, matrix / plain) ** gain_share
    is_low = precision in LOW_BITS
    attention = min(matrix, _sustained(one, "bf16") * share) if is_low else matrix
    bandwidth = one.memory_bandwidth_gb_per_s
    launch = ADAPTER_LAUNCH_SECONDS if is_adapter(training) else LAUNCH_SECONDS
    return Rates(
        matrix,
        attention / CAUSAL_SHARE,
        0.0 if one.accelerator_class == "tpu" else launch,  # one compiled program a step
        DEQUANTISED_SHARE * bandwidth * 1e9 if is_quantised and bandwidth else math.inf,
    )


def is_vector(one: Accelerator, precision: str) -> bool:
    """Whether vector units do the arithmetic, so slowly that a small model fills them as a large
    one does."""
    vector = one.fp32_tflops or 0.0
    peak = peak_flops(one, precision) / 1e12
    return 0 < peak <= min(MATRIX_ABOVE * vector, MOST_OF_VECTOR_TFLOPS)


def _sustained(one: Accelerator, precision: str) -> float:
    """Level times dense peak, FLOP/s; the nearest precision where the accelerator lacks it."""
    return level(one, precision) * peak_flops(one, precision)


def worked_flops(work: Work) -> float:
    """FLOPs of one run without recomputation; the causal half of attention's."""
    return work.executed_flops - (1 - CAUSAL_SHARE) * work.attention_flops


def peak_flops(one: Accelerator, precision: str) -> float:
    """Dense peak, FLOP/s; the next best where the accelerator lacks a precision."""
    tflops = one.dense_tflops(precision)
    tflops = tflops or one.dense_tflops("fp16") or one.dense_tflops("fp32")
    return (tflops or 0.0) * 1e12


@cache
def _matmul_shares() -> dict[str, float]:
    return {
        slug: float(row["share"])
        for row in read_rows(_PEAKS)
        for slug in row["accelerators"].split(";")
    }


FULL_MODEL, SMALL_EXPONENT = 1.3e9, 0.14
"""Parameters below which a model does not fill an accelerator, and by how much: MFU falls with
N^0.14 from 1.3B to 0.12B on A100 (MPT at 1,024 and 2,048 tokens: 57 to 41 % and 57 to 45 %,
mosaicml/llm-foundry benchmarking README @8c8dd48f7216, 2023). Attention fills it too: 0.12B at
65,536 tokens does the work of 1.3B a token and reaches 52 % (same source)."""
MFU_CEILING = 0.65
"""Sustained MFU above this is suspect: best matmuls reach 73-87 % of peak on A100, H100 and
B200 (stas00/ml-engineering, 2025) and a training step holds more than matmuls."""
NODE_GAIN = 1.23
"""What runs within one node reach of the benchmarks' level (published_runs.csv, 2021-2025)."""
UNMEASURED_CEILING = 0.56
"""Most that is believed of an accelerator nobody measured: what the A100 reaches
(mfu_levels.csv, 2023)."""
USUAL_WALL_CLOCK_HOURS = 500.0
"""h: median wall clock of the published pre-training runs that state it, 2021-2025."""
LARGEST_USUAL = 16_384
"""Accelerators of the largest published run (Llama 3.1 405B, arXiv 2407.21783, 2024)."""
USUAL_MFU = 0.35
"""Used only to guess a cluster's size where none is given: the middle of the
published runs (published_runs.csv, 2021-2025)."""
OLDER_ANCHOR, NEWER_ANCHOR = "nvidia-a100-80gb-sxm", "nvidia-h100-80gb-sxm"
"""Accelerators against which one without a language-model benchmark of its own is placed: one of
before 2022 against the A100, a newer one and any 8-bit rate against the H100."""
NEWER_YEAR = 2022
"""Year of the H100, from which on it is the nearer of the two (NVIDIA H100 datasheet, 2022)."""
_LEVELS = Path(__file__).with_name("mfu_levels.csv")


@dataclass(frozen=True)
class Level:
    """MFU that tuned benchmarks reach on an accelerator at a precision."""

    mfu: float
    source: str
    is_measured: bool
    """False where it is placed by the throughput index alone."""
    stands_in: str = ""
    """Whose share of the peak it is, where no benchmark of the accelerator itself is published."""


def node_mfu(one: Accelerator, precision: str) -> float:
    """MFU of a model that fills the accelerators of one node, at most 0.65."""
    return min(MFU_CEILING, NODE_GAIN * benchmark_level(one, precision).mfu)


def small_model_share(parameters: float) -> float:
    """MFU of a small model over that of one that fills the accelerator: (N / 1.3e9)^0.14."""
    return float(min(1.0, (parameters / FULL_MODEL) ** SMALL_EXPONENT))


def default_accelerators(executed_flops: float, peak_flops: float) -> int:
    """Cluster that does the work in about 500 h, a usual count."""
    hours = executed_flops / (peak_flops * USUAL_MFU * 3600)
    return usual_count(hours / USUAL_WALL_CLOCK_HOURS)


def usual_count(least: float) -> int:
    """A whole number of accelerators: whole nodes of 8 beyond one node, at most 16,384."""
    if least <= ONE_NODE:
        return max(1, math.ceil(least))
    return min(LARGEST_USUAL, math.ceil(least / ONE_NODE) * ONE_NODE)


def benchmark_level(one: Accelerator, precision: str) -> Level:
    """Benchmark level of an accelerator; where there is none, the level of the A100 or H100
    moved by the throughput index of language models: level · rate ratio / peak ratio, within
    0.1 … 0.65, or 0.56 where the datasheet alone places it."""
    return _benchmark_level(one.slug, precision)


@cache
def _benchmark_level(slug: str, precision: str) -> Level:
    """By slug, which hashes faster than the whole datasheet."""
    one = get(slug)
    if precision == "fp4":
        eight, gain = _benchmark_level(slug, "fp8"), FOUR_BIT_GAIN
        share = gain * _peak(one, "fp8") / _peak(one, "fp4")
        return replace(eight, mfu=eight.mfu * share, source=f"{eight.source}; 4 bits {gain} times")
    levels = _levels()
    level = levels.get((slug, "bf16" if precision == "fp16" else precision))
    if level:
        return level
    is_full = precision in ("fp32", "tf32")
    anchor_precision = "tf32" if is_full else "fp8" if precision == "fp8" else "bf16"
    is_newer = anchor_precision == "fp8" or (not is_full and one.year >= NEWER_YEAR)
    anchor = get(NEWER_ANCHOR if is_newer else OLDER_ANCHOR)
    kind = {"tf32": FULL, "fp8": LOW}.get(anchor_precision, MIXED)
    index = throughput_index()
    ratio = index.ratio(one, anchor, kind, "nlp")
    peak, other = _peak(one, precision), _peak(anchor, anchor_precision)
    share = 1.0 if ratio is None or not peak else ratio * other / peak
    is_measured = "nlp" in index.effects.get(one.slug, {})
    most = MFU_CEILING if is_measured else UNMEASURED_CEILING
    return Level(
        mfu=min(most, max(0.1, levels[anchor.slug, anchor_precision].mfu * share)),
        source=f"{anchor.name} adjusted by "
        + (
            "measured throughputs of language models"
            if is_measured
            else "other workloads and the datasheet"
        ),
        is_measured=is_measured,
    )


def _peak(one: Accelerator, precision: str) -> float:
    return one.dense_tflops(precision) or one.dense_tflops("fp32") or 0.0


@cache
def _levels() -> dict[tuple[str, str], Level]:
    return {
        (slug, row["precision"]): Level(
            float(row["mfu"]), f"{row['source']}, {row['year']}", True, row["stands_in"]
        )
        for row in read_rows(_LEVELS)
        for slug in row["accelerators"].split(";")
    }


@dataclass(frozen=True)
class ThroughputIndex:
    """The fitted model; compare its values within one class of precision and workload."""

    peak_exponent: float
    bandwidth_exponent: float
    effects: dict[str, dict[str, float]]
    """Accelerator → class → ln of its rate over the datasheet's; class "" is its main term."""

    def log_rate(self, one: Accelerator, precision: str, workload: str) -> float | None:
        """ln of the sustained rate up to a constant; None where the datasheet lacks a value."""
        peak, bandwidth = peak_tflops(one, precision), one.memory_bandwidth_gb_per_s
        if not peak or not bandwidth:
            return None
        own = self.effects.get(one.slug, {})
        terms = (own.get(kind, 0.0) for kind in ("", precision, workload))
        datasheet = self.peak_exponent * math.log(peak) + self.bandwidth_exponent * math.log(
            bandwidth
        )
        return datasheet + sum(terms)

    def ratio(
        self, one: Accelerator, other: Accelerator, precision: str, workload: str
    ) -> float | None:
        """Rate of `one` over the rate of `other` in the same work."""
        rates = [self.log_rate(a, precision, workload) for a in (one, other)]
        if rates[0] is None or rates[1] is None:
            return None
        return math.exp(rates[0] - rates[1])


def peak_tflops(one: Accelerator, precision_class: str) -> float | None:
    """Dense peak that a class of precision runs at, TFLOP/s; the next best where it lacks it."""
    tensor = one.bf16_tflops or one.fp16_tflops or one.fp32_tflops
    if precision_class == FULL:
        return one.tf32_tflops or one.fp32_tflops or tensor
    if precision_class == LOW:
        return one.fp8_tflops or tensor
    return tensor


@cache
def throughput_index() -> ThroughputIndex:
    """The index over every measurement."""
    return typed(ThroughputIndex, fitted()["throughput"])


def cluster_share(accelerators: float) -> float:
    """Rate of one accelerator among n over its rate in one node: n^b, b the mean change of its
    logarithm where the same code ran on 8 and on 128."""
    slope = float(fitted()["cluster_slope"])
    return math.exp(slope * math.log(max(accelerators, ONE_NODE) / ONE_NODE))
