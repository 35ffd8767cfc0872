"""The model of a training as serving sees it. PURE."""

from __future__ import annotations

from planner.contract.request.workload import Training
from planner.sizing.evidence.served_model import ServedModel
from planner.sizing.footprint.training_flops import active_parameters, shape_of_training

WEIGHT_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 0.56}
"""Bytes of one weight; 4 bits with the scales of their blocks (OCP Microscaling Formats, 2023)."""
CACHE_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp4": 1.0}
"""Bytes of one cached value as engines hold it beside such weights (NVIDIA TensorRT-LLM
documentation, 2025)."""


def served_model(training: Training) -> ServedModel:
    """The model of a training, usual sizes where the request is silent."""
    shape = shape_of_training(training)
    return ServedModel(
        parameters=training.parameters,
        active_parameters=active_parameters(training),
        layers=shape.layers,
        hidden_size=shape.hidden_size,
        cached_values=training.cached_values_per_layer or 2 * shape.hidden_size,
        windowed_layers=float(training.sliding_layers or 0) if training.sliding_window else 0.0,
        window=float(training.sliding_window or 0),
        experts=training.experts or 0,
        experts_per_token=training.experts_per_token or 0,
        attention_width=training.attention_width or 0.0,
    )
