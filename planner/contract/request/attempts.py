"""What a training does beside its final run: trials of a sweep, answers that it writes. PURE."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from planner.contract.validation import Number, RequestModel, Whole

SequenceTokens = Annotated[Whole, Field(ge=1, le=10_000_000)]


class Sweep(RequestModel):
    """Trials of a search over hyperparameters before the final run."""

    trials: Annotated[Whole, Field(ge=1, le=100_000)]
    """Trials for each final run."""
    share: Annotated[Number, Field(gt=0, le=1)]
    """Part of the final run's hours that a trial takes in the mean; 0 to 1."""


class Rollouts(RequestModel):
    """Answers that the model writes for its own training (RL); the training's tokens are then those
    of prompts and answers."""

    response_tokens: SequenceTokens
    """Tokens of one answer, in the mean."""
    prompt_tokens: SequenceTokens = 256
    """Tokens of one prompt, in the mean."""
    per_step: Annotated[Whole, Field(ge=1, le=10_000_000)]
    """Answers of one step, of all prompts together."""
    engine: Literal["tuned", "standard", "plain"] = "standard"
    """What writes them: such as TensorRT-LLM, vLLM, or the training code itself."""
    has_reference: bool = True
    """Whether a frozen copy judges each answer (KL term)."""
    critic_parameters: Annotated[Number, Field(ge=1e3, le=1e15)] | None = None
    """Of a critic trained beside it (PPO); absent: none."""
