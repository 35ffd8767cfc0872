"""What the time of one training sample is made of (rules 5): arithmetic, memory, reading. PURE.

    t = (c · 3 F / P + m · A(F) · b / B + r) · k

F FLOPs of the forward pass; P the peak of the unit that does them, 3 F for forward and backward;
A the values that the layers put out, b bytes of each, B the memory's bandwidth, m how often each
passes through it; r the time of reading one image; k how well tuned the code is, 1 where it is not
said. c, m, r and k are fitted (`sample_times`).

Convolutions over single channels (depthwise) run on vector units, all else on matrix units where
an accelerator has them for the number format. How fast the matrix units of two accelerators are in
practice the throughput index says, whose peaks grow faster than what they sustain.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.sizing.evidence.measured_throughput import FULL
from planner.sizing.evidence.sample_runs import TRAINING_FACTOR
from planner.sizing.performance.relative_throughput import peak_tflops, throughput_index
from pricing.market.accelerators import SOFTWARE_BY_VENDOR, Accelerator, get

A100 = "nvidia-a100-80gb-sxm"
MATRIX_ABOVE = 1.5
"""Peak over that of fp32 from which it is that of matrix units; planning value, 2026."""
VECTOR_SHARE = 1 / 8
"""fp32 peak of vector units over that of matrix units where a datasheet leaves it out: V100 15.7
of 125 TFLOP/s (NVIDIA V100 datasheet, 2020)."""
MATRIX, SYSTOLIC, VECTOR, READING = "matrix", "systolic", "vector", "reading "
"""Parts of the time: arithmetic on the units of a GPU, of a TPU (whose one compiler lays out the
whole step for them) and of either without them, and reading; a loader's name follows the last,
2026."""


@dataclass(frozen=True)
class Architecture:
    """Values A that the layers of one forward pass put out: A0 · (F / F0)^p."""

    values: float
    """A0."""
    flops: float
    """F0, of the same model, two for each multiply-add."""
    exponent: float
    """p: 1/2 where a model grows in depth and width, 1 where its images do."""


ARCHITECTURES = {
    "convolutional": Architecture(11.1e6, 8.2e9, 0.5),
    "depthwise": Architecture(6.7e6, 0.8e9, 0.84),
    "transformer": Architecture(23.9e6, 35.2e9, 0.65),
    "detector": Architecture(11.1e6, 8.2e9, 0.75),
    "": Architecture(11.1e6, 8.2e9, 0.5),
}
"""ResNet-50, with p of Radosavovic et al. (arXiv 2003.13678, 2020); EfficientNet-B0, with p to
B5 (both facebookresearch/pycls MODEL_ZOO.md @1caf15bbefee, 2020); ViT-B/16, 10 widths and a value
for every head and other patch of each patch in each layer, with p from ViT-S to ViT-L (sizes of
Dosovitskiy et al., arXiv 2010.11929, 2020); detectors grow in both ways (planning value, 2026).
The last is for work that does not say: the law of convolutions."""


@dataclass(frozen=True)
class Sample:
    """One sample as far as its time depends on it."""

    forward_flops: float
    precision_class: str
    architecture: str
    """Empty where it is not said."""
    loader: str
    """Empty where it is not said."""
    code: str = ""
    """How well tuned the code is; empty where it is not said."""
    is_read: bool = True
    """False where it is no image: its reading is not counted."""
    resized_share: float = 1.0
    """Part of its FLOPs, and of its values, that is done at a smaller size."""


def parts(sample: Sample, one: Accelerator) -> dict[str, float]:
    """Seconds of each part before its coefficient; of reading 1, whose coefficient is its time.

    >>> image = Sample(8.2e9, FULL, "convolutional", "usual")
    >>> {part: round(time, 6) for part, time in parts(image, get("nvidia-v100-16gb-sxm")).items()}
    {'vector': 0.00157, 'convolutional': 4.9e-05, 'reading usual': 1.0}
    """
    unit, peak = _unit(sample, one)
    law = ARCHITECTURES[sample.architecture]
    values = law.values * (sample.forward_flops / law.flops) ** law.exponent
    width = 4 if sample.precision_class == FULL else 2
    bandwidth = (one.memory_bandwidth_gb_per_s or 0.0) * 1e9
    times = {
        unit: TRAINING_FACTOR * sample.forward_flops * sample.resized_share / peak,
        sample.architecture: values * sample.resized_share * width / bandwidth,
    }
    if sample.is_read:
        times[READING + sample.loader] = 1.0
    return times


def _unit(sample: Sample, one: Accelerator) -> tuple[str, float]:
    """The unit that does the arithmetic and its peak, FLOP/s."""
    peak = peak_tflops(one, sample.precision_class) or 0.0
    vector = one.fp32_tflops
    if vector and peak <= MATRIX_ABOVE * vector:
        return VECTOR, peak * 1e12
    if sample.architecture == "depthwise":
        return VECTOR, (vector or VECTOR_SHARE * peak) * 1e12
    a100 = get(A100)
    kind = sample.precision_class
    ratio = throughput_index().ratio(one, a100, kind, "vision") or 1.0
    base = "tf32_tflops" if kind == FULL else "bf16_tflops"
    unit = SYSTOLIC if SOFTWARE_BY_VENDOR.get(one.vendor) == "xla" else MATRIX
    return unit, float(getattr(a100, base)) * ratio * 1e12
