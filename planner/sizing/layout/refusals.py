"""What cannot be of a layout or a number of accelerators: refusals by field. PURE."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import PRETRAINING, is_adapter
from planner.sizing.layout.search import LayoutTask
from planner.sizing.layout.shapes import heads_of
from planner.sizing.layout.splits import check_experts
from pricing.common.copies import replace
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
        raise InvalidInput(
            "layout",
            f"tensor {own.tensor} does not divide the {heads:,} attention heads of a layer: a "
            f"slice takes whole heads; {_divisors(heads)} do",
        )


def _divisors(whole: int) -> str:
    """Sizes that divide a number, up to the widest that is used, in words."""
    *first, last = (str(size) for size in range(1, whole + 1) if whole % size == 0)
    return f"{', '.join(first)} or {last}" if first else last


def refuse_states(task: LayoutTask) -> None:
    """Refuse what no number of replicas makes fit where another ZeRO stage or split would.

    Raises `InvalidInput` on `layout`, else on `accelerator`, with the fewest accelerators that hold
    it then.
    """
    training, one = task.training, task.accelerator
    stage = training.zero_stage
    for name, words in (("zero_stage", f"zero_stage {stage}"), ("layout", "this layout")):
        if getattr(training, name) is None:
            continue
        least = replace(task, training=training.model_copy(update={name: None})).least()
        if least is not None:
            raise InvalidInput(
                "layout" if training.layout else "accelerator",
                f"the states do not fit {one.name_with_memory} under {words}, however "
                f"many replicas there are; without it {least:,} hold them",
            )


USUAL_LENGTH, SHORTEST = 4096, 512
"""Tokens of a sequence where the request does not say, and the fewest that are proposed; planning
choices, 2026."""
SMALL_STATES = ("adamw_8bit", "adafactor", "adamw_bf16")
"""Optimizers that hold no more than an 8-bit Adam, nearly."""
MOST_NAMED = 3
"""Changes that a refusal names; a planning choice, 2026."""


Change = tuple[str, str, dict[str, Any]]
"""A field, its change in words, and the change."""


def refuse_too_few(task: LayoutTask, requested: int, least: int) -> InvalidInput:
    """The refusal of fewer accelerators than hold a training, with the changes each of which alone
    makes them hold it, or those that do together."""
    allowed = (
        f"{requested} {task.accelerator.name} cannot hold the training; allowed are {least} or more"
    )
    named: dict[str, str] = {}
    for field, name, update in _changes(task.training):
        if field not in named and _holds(task, update, requested):
            named[field] = name
    if named:
        listed = _join(list(named.values())[:MOST_NAMED], "or")
        return InvalidInput("accelerators", f"{allowed} ({listed} would make {requested} hold it)")
    last = {field: (name, update) for field, name, update in _changes(task.training)}
    together = {key: value for _, update in last.values() for key, value in update.items()}
    if last and _holds(task, together, requested):
        listed = _join([name for name, _ in last.values()], "and")
        return InvalidInput("accelerators", f"{allowed} ({listed} together would do)")
    return InvalidInput(
        "accelerators",
        f"{allowed} (neither chunked_loss, optimizer_offload or adapters nor shorter sequences "
        "would do)",
    )


def refuse_nowhere(task: LayoutTask) -> InvalidInput:
    """The refusal of a training that no number of accelerators holds, with what would change that;
    no more than what does.

    Raises `InvalidInput` where states that another ZeRO stage or split divides are the reason.
    """
    training, one = task.training, task.accelerator
    card = one.name_with_memory
    if (training.micro_batch_size or 1) > 1 and _holds(task, {"micro_batch_size": 1}):
        return InvalidInput(
            "accelerator",
            f"micro_batch_size {training.micro_batch_size:,} does not fit {card}, however the "
            "model is split; a smaller one would",
        )
    refuse_states(task)
    remedies = _remedies(task)
    what = "one sequence" if remedies else "one layer at work"
    return InvalidInput(
        "layout" if training.layout else "accelerator",
        f"{what} does not fit {card}, however it is split; "
        f"{_join([*remedies, 'an accelerator with more memory'], 'or')} would",
    )


LONG_SEQUENCES: dict[str, dict[str, Any]] = {
    "a shorter sequence_length": {"sequence_length": SHORTEST},
    "chunked_loss": {"chunked_loss": True},
}
"""What makes room for a sequence."""
STEP_FIELDS = ("micro_batch_size", "activation_checkpointing", "zero_stage", "layout")
"""Fields that ask for more memory than has to be."""


def _remedies(task: LayoutTask) -> list[str]:
    """What alone makes room, else what does together; none where a card is too small."""
    is_short = (task.training.sequence_length or USUAL_LENGTH) <= SHORTEST
    rest = dict(list(LONG_SEQUENCES.items())[is_short:])
    alone = [name for name, update in rest.items() if _holds(task, update)]
    if alone:
        return alone
    excess = {name: None for name in STEP_FIELDS if getattr(task.training, name) is not None}
    freed = [f"leaving out {_join(list(excess), 'and')}"] if excess else []
    if excess and _holds(task, excess):
        return freed
    every = {key: value for update in rest.values() for key, value in update.items()}
    if _holds(task, {**excess, **every}):
        return [f"{_join([*rest, *freed], 'and')} together"]
    return []


def _holds(task: LayoutTask, update: dict[str, Any], requested: float = math.inf) -> bool:
    least = replace(task, training=task.training.model_copy(update=update)).least()
    return least is not None and least <= requested


def _join(names: list[str], word: str) -> str:
    """Names as a list in words."""
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


def _changes(training: Training) -> Iterator[Change]:
    """What may be changed, first what leaves the training as it is; of one field the mildest
    first."""
    yield from _changes_of_steps(training)
    is_full, is_new = not is_adapter(training), training.stage == PRETRAINING
    if is_full and not training.optimizer_offload:
        yield _change("optimizer_offload", True)
    if is_full and training.optimizer not in SMALL_STATES:
        yield _change("optimizer", "adamw_8bit")
    length = training.sequence_length or USUAL_LENGTH
    while (length := length // 2) >= SHORTEST:
        yield _change("sequence_length", length)
    adapters = () if is_new else ("lora", "qlora") if is_full else ("qlora",)
    yield from (_change("optimizer", name) for name in adapters if name != training.optimizer)


def _changes_of_steps(training: Training) -> Iterator[Change]:
    """What changes how a step is worked on and nothing of what it learns."""
    if training.layout is not None:
        yield "layout", "another layout", {"layout": None}
    if (training.micro_batch_size or 1) > 1:
        yield _change("micro_batch_size", 1)
    if training.activation_checkpointing not in (None, True):
        yield _change("activation_checkpointing", True)
    if not training.chunked_loss:
        yield _change("chunked_loss", True)
    if training.zero_stage not in (None, 3) and training.layout is None:
        yield _change("zero_stage", 3)


def _change(field: str, value: bool | int | str) -> Change:
    shown = "" if value is True else f" {value:,}" if isinstance(value, int) else f" {value}"
    return field, f"{field}{shown}", {field: value}
