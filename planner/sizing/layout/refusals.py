"""What cannot be of a layout or a number of accelerators: refusals by field. PURE."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from planner.contract.copies import replace
from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import PRETRAINING, is_adapter
from planner.sizing.layout.search import LayoutTask, check_experts
from planner.sizing.layout.shapes import heads_of
from pricing.common.invalid_input import InvalidInput

MOST_STAGED_ZERO = 1
"""Highest ZeRO stage beside pipeline stages: from 2 on gradients or weights would be gathered in
every micro-batch, which pipelines avoid (DeepSpeed documentation of its pipeline engine, 2024)."""


def check_split(training: Training) -> None:
    """Refuse a split of one's own that no number of accelerators makes work.

    Raises `InvalidInput` on `zero_stage` where it does not go with pipeline stages, on experts, and
    on `layout` where width or heads do not divide into as many slices.
    """
    check_experts(training)
    own, stage = training.layout, training.zero_stage
    if own is None:
        return
    if own.pipeline > 1 and stage is not None and stage > MOST_STAGED_ZERO:
        raise InvalidInput(
            "zero_stage",
            f"{stage} divides what every micro-batch of {own.pipeline} pipeline stages would have "
            f"to gather; allowed beside pipeline stages are 0 to {MOST_STAGED_ZERO}, and 0 to 3 "
            "without",
        )
    for name in ("hidden_size", "attention_width"):
        width = getattr(training, name)
        if width and width % own.tensor:
            raise InvalidInput(
                "layout",
                f"tensor {own.tensor} does not divide the {width:,} of {name}: a layer is split "
                "into slices of one width; a divisor of it does",
            )
    heads = heads_of(training)
    if heads and heads % own.tensor:
        divisors = [str(size) for size in range(1, heads + 1) if heads % size == 0]
        raise InvalidInput(
            "layout",
            f"tensor {own.tensor} does not divide the {heads:,} attention heads of a layer: a "
            f"slice takes whole heads; {_join(divisors, 'or')} do",
        )


USUAL_LENGTH, SHORTEST = 4096, 512
"""Tokens of a sequence where the request does not say, and the fewest that are proposed; planning
choices, 2026."""
SMALL_STATES = ("adamw_8bit", "adafactor", "adamw_bf16")
"""Optimizers that hold no more than an 8-bit Adam, nearly."""
MOST_NAMED = 3
"""Changes that a refusal names; a planning choice, 2026."""


def refuse_too_few(task: LayoutTask, requested: int, least: int) -> InvalidInput:
    """The refusal of fewer accelerators than hold a training, with the changes each of which alone
    makes them hold it, or those that do together."""
    if named := _remedies(task, requested):
        advice = f"{_join(named, 'or')} would make {requested} hold it"
    elif (last := dict(_changes(task.training))) and _holds(task, last, requested):
        advice = f"{_join([_in_words(*one) for one in last.items()], 'and')} together would do"
    else:
        advice = (
            "neither chunked_loss, optimizer_offload or adapters nor shorter sequences would do"
        )
    return InvalidInput(
        "accelerators",
        f"{requested} {task.accelerator.name} cannot hold the training; allowed are {least} or "
        f"more ({advice})",
    )


def refuse_nowhere(task: LayoutTask) -> InvalidInput:
    """The refusal of a training that no number of accelerators holds, with what would change
    that."""
    remedies = [*_remedies(task, math.inf), "an accelerator with more memory"]
    return InvalidInput(
        "layout" if task.training.layout else "accelerator",
        f"the training does not fit {task.accelerator.name_with_memory}, however many there are; "
        f"{_join(remedies, 'or')} would",
    )


def _remedies(task: LayoutTask, requested: float) -> list[str]:
    """Changes each of which alone makes some accelerators hold a training, the mildest of each
    field."""
    named: dict[str, str] = {}
    for field, value in _changes(task.training):
        if field not in named and _holds(task, {field: value}, requested):
            named[field] = _in_words(field, value)
    return list(named.values())[:MOST_NAMED]


def _holds(task: LayoutTask, update: dict[str, Any], requested: float) -> bool:
    least = replace(task, training=task.training.model_copy(update=update)).least()
    return least is not None and least <= requested


def _join(names: list[str], word: str) -> str:
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


def _changes(training: Training) -> Iterator[tuple[str, Any]]:
    """Fields that may be changed and their values, first what leaves the training as it is; of one
    field the mildest first."""
    if training.layout is not None:
        yield "layout", None
    if (training.micro_batch_size or 1) > 1:
        yield "micro_batch_size", 1
    if training.activation_checkpointing not in (None, True):
        yield "activation_checkpointing", True
    if not training.chunked_loss:
        yield "chunked_loss", True
    if training.zero_stage not in (None, 3) and training.layout is None:
        yield "zero_stage", 3
    is_full = not is_adapter(training)
    if is_full:
        yield from (("optimizer_offload", True),) * (not training.optimizer_offload)
        yield from (("optimizer", "adamw_8bit"),) * (training.optimizer not in SMALL_STATES)
    length = training.sequence_length or USUAL_LENGTH
    while (length := length // 2) >= SHORTEST:
        yield "sequence_length", length
    if training.stage != PRETRAINING:
        adapters = ("lora", "qlora") if is_full else ("qlora",)
        yield from (("optimizer", name) for name in adapters if name != training.optimizer)
        if not training.weights_offload:
            yield "weights_offload", True


def _in_words(field: str, value: Any) -> str:
    if value is None:
        return f"another {field}"
    shown = "" if value is True else f" {value:,}" if isinstance(value, int) else f" {value}"
    return f"{field}{shown}"
