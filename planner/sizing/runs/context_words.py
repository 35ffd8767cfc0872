"""Sequences that are longer than the context of a model. PURE."""

from __future__ import annotations

from planner.contract.models.fill import context_of
from planner.contract.request.serving import Serving
from planner.contract.request.workload import Training

CONTEXT_RULES = 6
"""Edition of the rules from which a model's context is held against its sequences, 2026."""


def beyond_context(training: Training) -> tuple[str, ...]:
    """Trained sequences, or the examples packed into them, and answers that are longer.

    >>> gpt = Training(kind="training", model="gpt2", tokens=1e9, sequence_length=32768)
    >>> beyond_context(gpt)[0][:70]
    'sequences of 32,768 tokens do not run on gpt2: it has learned 1,024 po'
    >>> beyond_context(gpt.model_copy(update={"tokens_per_example": 500.0}))
    ()
    """
    length = float(training.sequence_length or 0)
    trained = min(length, training.tokens_per_example or length)
    rollouts = training.rollouts
    written = rollouts.prompt_tokens + rollouts.response_tokens if rollouts else 0
    return (
        *_longer(training, trained, "sequences"),
        *_longer(training, written, "prompts with answers"),
    )


def served_beyond_context(training: Training, serving: Serving, rules: int) -> tuple[str, ...]:
    """Prompts with their answers that are longer than what a served model reads.

    >>> gpt = Training(kind="training", model="gpt2", tokens=1e9)
    >>> served = Serving(tokens_per_second=1, prompt_tokens=100_000)
    >>> served_beyond_context(gpt, served, 6)[0][:64], served_beyond_context(gpt, served, 5)
    ('prompts with answers of 100,250 tokens do not run on gpt2: it ha', ())
    """
    if rules < CONTEXT_RULES:
        return ()
    tokens = serving.prompt_tokens + serving.output_tokens
    return _longer(training, tokens, "prompts with answers")


def _longer(training: Training, tokens: float, what: str) -> tuple[str, ...]:
    context = context_of(training.model, training.config)
    if context is None or tokens <= context.tokens:
        return ()
    name = training.model or "the model of the config"
    if context.is_learned:
        return (
            f"{what} of {tokens:,.0f} tokens do not run on {name}: it has learned "
            f"{context.tokens:,} positions and none beyond; allowed are up to {context.tokens:,}, "
            "or a model of a longer context",
        )
    return (
        f"{what} of {tokens:,.0f} tokens are longer than the {context.tokens:,} of {name}: its "
        "positions have to be extended for them first (RoPE scaling such as YaRN, and training on "
        "long sequences), which these figures leave out",
    )
