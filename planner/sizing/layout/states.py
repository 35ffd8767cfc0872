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
from planner.sizing.footprint.training_flops import embedding_parameters, is_adapter

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
PARTS_RULES = 6
"""Edition of the rules from which what frozen weights hold counts by its parts, 2026."""
NF4_BYTES = 0.5 + 1 / 64 + 4 / (64 * 256)
"""Bytes of a weight in 4 bits: half a byte, an 8-bit constant for 64 weights and a 32-bit one for
256 of those (NF4 with double quantisation, arXiv 2305.14314 section 3, 2023)."""
UNQUANTISED_BYTES = 3.0
"""Bytes of a weight that QLoRA leaves as it is, embedding and output over the vocabulary: the
middle of 2 (litgpt, torchtune, AnswerDotAI/fsdp_qlora keep them in bf16) and 4 (huggingface/peft
prepare_model_for_kbit_training makes them fp32), 2023-2025."""


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


def state_bytes(training: Training, precision: str, by_parts: bool = False) -> StateBytes:
    """Bytes kept between steps; `by_parts` counts what QLoRA does not quantise.

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
        frozen = training.parameters * BYTES[precision]
        if training.optimizer == "qlora":
            quantised = quantised_bytes(training)
            frozen = quantised if by_parts else training.parameters * QLORA_BYTES
        trained = adapter_parameters(training)
        return StateBytes(weights, gradients, moments, full, trained, frozen)
    if precision == "fp8":
        weights -= FP8_SAVED
    return StateBytes(weights, gradients, moments, full, training.parameters, 0.0)


def quantised_bytes(training: Training) -> float:
    """Bytes of the weights under QLoRA: 0.516 (N - e V d) + 3 e V d with e matrices over the
    vocabulary, two of a language model.

    >>> llama = Training(kind="training", parameters=8.03e9, tokens=1, layers=32, hidden_size=4096,
    ...                  vocabulary_size=128256, optimizer="qlora")
    >>> round(quantised_bytes(llama) / 1e9, 2)
    6.75
    """
    whole = (1.0 if training.is_classifier else 2.0) * embedding_parameters(training)
    return NF4_BYTES * (training.parameters - whole) + UNQUANTISED_BYTES * whole
