"""Bytes that a training keeps between steps, by optimizer. PURE.

Bytes per parameter under 16-bit mixed precision: the 16-bit weights, their gradients, and what the
optimizer keeps, the 32-bit master weights among it. Megatron-LM keeps gradients in 32 bits
(18 bytes with Adam), DeepSpeed in 16 (16 bytes), FSDP keeps 32-bit weights, gradients and moments
(16 bytes).
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.contract.request.workload import Training
from planner.sizing.footprint.memory import BYTES, QLORA_BYTES, adapter_parameters
from planner.sizing.footprint.training_flops import is_adapter

FULL_GRADIENT_BYTES = 4.0
"""Bytes of one gradient where tensor or pipeline parallelism is used: Megatron-LM accumulates in
32 bits (NVIDIA/Megatron-LM theoretical_memory_usage.py @00caa53a, 2024)."""
OPTIMIZER_BYTES = {
    "adamw": (2.0, 2.0, 12.0),
    "sgd": (2.0, 2.0, 8.0),
    "lion": (2.0, 2.0, 8.0),
    "muon": (2.0, 2.0, 8.0),
    "adafactor": (2.0, 2.0, 4.0),
    "adamw_8bit": (2.0, 2.0, 6.0),
    "adamw_bf16": (2.0, 2.0, 4.0),
}
"""Bytes per parameter of weights, gradients, optimizer in 16-bit mixed precision. Adam: 4 master
weights + 8 moments (ZeRO, arXiv 1910.02054, 2020); SGD with momentum, Lion (arXiv 2302.06675,
2023) and Muon (Jordan, 2024) one moment of 4; Adafactor factored moments, about none (arXiv
1804.04235, 2018); 8-bit Adam two moments of 1 (arXiv 2110.02861, 2022); pure bf16 weights,
gradients and two moments of 2, no master weights (pytorch/torchtune recipes, 2024)."""
FULL_BYTES = {
    "adamw": (4.0, 4.0, 8.0),
    "sgd": (4.0, 4.0, 4.0),
    "lion": (4.0, 4.0, 4.0),
    "muon": (4.0, 4.0, 4.0),
    "adafactor": (4.0, 4.0, 0.0),
    "adamw_8bit": (4.0, 4.0, 2.0),
    "adamw_bf16": (2.0, 2.0, 4.0),
}
"""The same where the arithmetic is in 32 bits; sources as above, 2018-2024."""
FP8_SAVED = 1.0
"""Bytes of the weights that an 8-bit copy saves (NVIDIA TransformerEngine, FP8 primer, 2024)."""


@dataclass(frozen=True)
class StateBytes:
    """Bytes per trained parameter, and of the frozen ones together."""

    weights: float
    gradients: float
    optimizer: float
    full_gradients: float
    """Of the gradients where tensor or pipeline parallelism is used."""
    trained: float
    """Parameters that are trained."""
    frozen: float
    """Bytes of the weights that are not; 0 where all are trained."""


def state_bytes(training: Training, precision: str) -> StateBytes:
    """Bytes kept between steps.

    >>> seven = Training(kind="training", parameters=7e9, tokens=1e9)
    >>> kept = state_bytes(seven, "bf16")
    >>> kept.weights + kept.gradients + kept.optimizer, kept.full_gradients
    (16.0, 4.0)
    """
    is_full = precision in ("fp32", "tf32")
    optimizer = "adamw" if is_adapter(training) else training.optimizer
    weights, gradients, moments = (FULL_BYTES if is_full else OPTIMIZER_BYTES)[optimizer]
    full = gradients if optimizer == "adamw_bf16" else FULL_GRADIENT_BYTES
    if is_adapter(training):
        quantised = training.optimizer == "qlora"
        per_weight = QLORA_BYTES if quantised else BYTES[precision]
        frozen = training.parameters * per_weight
        trained = adapter_parameters(training)
        return StateBytes(weights, gradients, moments, full, trained, frozen)
    if precision == "fp8":
        weights -= FP8_SAVED
    return StateBytes(weights, gradients, moments, full, training.parameters, 0.0)
