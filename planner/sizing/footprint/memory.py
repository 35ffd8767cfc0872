"""What a model needs in memory, and the least number of accelerators that holds it. PURE.

Bytes are exact, GiB is 2^30 bytes. N parameters, L layers, d hidden size, s sequence length,
b micro-batch, V vocabulary; n accelerators, of them t in a tensor-parallel group and p pipeline
stages.
"""

from __future__ import annotations

from functools import cache

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import shape_of_training
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator, get

GIB = 2.0**30
"""Bytes; definition (IEC 80000-13, 2008)."""
BYTES = {"fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "fp4": 0.56}
"""Bytes of one stored value, by precision; definition (IEEE 754, 2019, and its short forms)."""
ADAPTER_RANK = 16
"""Rank of adapters on all linear layers where their parameters are not given (huggingface/peft
documentation, 2024)."""
ADAPTER_PARAMETERS = 18.0
"""Adapter parameters per rank, layer and hidden unit: 4 attention matrices of 2 d and two
feed-forward matrices of 5 d (from Hu et al., LoRA, arXiv 2106.09685 section 4, 2021)."""


def weight_bytes(parameters: float, precision: str) -> float:
    """Bytes of the weights alone: N times bytes per value."""
    return parameters * BYTES[precision]


def adapter_parameters(training: Training) -> float:
    """Trained parameters of LoRA: as given, else 18 r L d at rank 16."""
    if training.trainable_parameters:
        return training.trainable_parameters
    shape = shape_of_training(training)
    return ADAPTER_PARAMETERS * ADAPTER_RANK * shape.layers * shape.hidden_size


FAST_DOMAIN = {
    "nvlink": 8,
    "infinity-fabric": 8,
    "nvlink-bridge": 2,
    "pcie": 1,
    "ici": 64,
    "neuronlink": 16,
}
"""Accelerators joined by the fast interconnect: HGX and MI300X boards 8, an NVLink bridge 2, a
TPU slice and a Trainium server as usually rented (vendors' system guides, 2024)."""
ONE_NODE = 8
"""Accelerators of a usual server (HGX and DGX, NVIDIA, 2017-2025)."""
RACK_DOMAIN = 72
"""GPUs of one NVLink domain of GB200 and GB300 NVL72 (NVIDIA GB200 NVL72 datasheet, 2024)."""


def fast_domain(one: Accelerator) -> int:
    """Accelerators that tensor parallelism may span."""
    if one.slug.startswith(("nvidia-gb200", "nvidia-gb300")):
        return RACK_DOMAIN
    return FAST_DOMAIN.get(one.interconnect, 8 if one.form == "oam" else 1)


TRAINING_PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8", "fp4")
"""Precisions that a request may ask for (`workload.Precision`), 2026."""


def check_precision(precision: str, one: Accelerator) -> None:
    """Refuses, on `precision`, one that the accelerator lacks."""
    known = supported_precisions(one)
    if precision not in known:
        allowed = ", ".join(known) or "none, no rate is known"
        raise InvalidInput(
            "precision", f"{one.name} has no {precision}; allowed there are {allowed}"
        )


def supported_precisions(one: Accelerator) -> tuple[str, ...]:
    """Precisions whose dense rate is known."""
    return _precisions(one.slug)


@cache
def _precisions(slug: str) -> tuple[str, ...]:  # a slug hashes faster than the whole datasheet
    return tuple(p for p in TRAINING_PRECISIONS if get(slug).dense_tflops(p))
