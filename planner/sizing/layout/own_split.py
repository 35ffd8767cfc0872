"""Whether a split of one's own can be: refusals by field, each with its reason. PURE."""

from __future__ import annotations

from planner.contract.request.workload import Training
from planner.sizing.layout.experts import check_experts
from planner.sizing.layout.heads import heads_of
from planner.sizing.layout.search import LayoutTask
from pricing.common.copies import replace
from pricing.common.invalid_input import InvalidInput

EXPERT_RULES = 5
"""Edition of the rules from which experts that cannot be are refused, 2026."""
SPLIT_RULES = 6
"""Edition of the rules from which width and heads have to divide into tensor-parallel slices,
2026."""
MOST_STAGED_ZERO = 1
"""Highest ZeRO stage beside pipeline stages: from 2 on gradients or weights would be gathered in
every micro-batch, which pipelines avoid (DeepSpeed documentation of its pipeline engine, 2024)."""


def check_split(training: Training, rules: int) -> None:
    """Refuse a split of one's own that no number of accelerators makes work.

    Raises `InvalidInput` on `zero_stage` where it does not go with pipeline stages, from rules 5 on
    on experts, and from rules 6 on on `layout` where width or heads do not divide into as many
    slices.

    >>> from planner.contract.request.own_layout import OwnLayout
    >>> one = Training(kind="training", parameters=8e9, tokens=1e9, hidden_size=4096)
    >>> check_split(one.model_copy(update={"layout": OwnLayout(tensor=8)}), 6)
    """
    if rules >= EXPERT_RULES:
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
    if rules < SPLIT_RULES:
        return
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
    """Sizes that divide a number, up to the widest that is used, in words.

    >>> _divisors(28), _divisors(71), _divisors(8)
    ('1, 2, 4, 7, 14 or 28', '1 or 71', '1, 2, 4 or 8')
    """
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
