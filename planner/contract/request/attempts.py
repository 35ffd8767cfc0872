"""When work is run, and what a training does beside it: trials, answers that it writes. PURE."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_serializer, model_validator

from planner.contract.validation import Month, Number, RequestModel, Whole
from pricing.common.invalid_input import InvalidInput

SequenceTokens = Annotated[Whole, Field(ge=1, le=10_000_000)]


def _entries(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class Run(RequestModel):
    """One training run: from the first day of `start` to the last day of `deadline`."""

    start: Month
    """First month in which it may run."""
    deadline: Month | None = None
    """Month by whose end it must be done; absent: none."""
    count: Annotated[Whole, Field(ge=1, le=100_000)] = 1
    """Runs of this kind side by side."""

    @field_serializer("start", "deadline", when_used="json")
    def _as_written(self, month: dt.date | None) -> str | None:
        """A month as requests write it."""
        return f"{month:%Y-%m}" if month else None

    @model_validator(mode="after")
    def _deadline_after_start(self) -> Run:
        if self.deadline and self.deadline < self.start:
            raise InvalidInput(
                "deadline",
                f"{self.deadline:%Y-%m} is before the start {self.start:%Y-%m}; "
                f"allowed is {self.start:%Y-%m} or later",
            )
        return self


Runs = Annotated[
    tuple[Run, ...], BeforeValidator(_entries), Field(strict=False, min_length=1, max_length=1000)
]


class Sweep(RequestModel):
    """Trials of a search over hyperparameters before the final run."""

    trials: Annotated[Whole, Field(ge=1, le=100_000)]
    """Trials for each final run."""
    share: Annotated[Number, Field(gt=0, le=1)]
    """Share of the final run's hours that one trial takes on average, 0 to 1."""


class Rollouts(RequestModel):
    """Answers that the model writes for its own training (RL); the training's tokens are then those
    of prompts and answers."""

    response_tokens: SequenceTokens
    """Mean tokens of an answer."""
    prompt_tokens: SequenceTokens = 256
    """Mean tokens of a prompt."""
    per_step: Annotated[Whole, Field(ge=1, le=10_000_000)]
    """Answers per step, for all prompts together."""
    engine: Literal["tuned", "standard", "plain"] = "standard"
    """What writes the answers, such as TensorRT-LLM, vLLM or the training code itself."""
    has_reference: bool = True
    """Whether a frozen copy judges each answer (KL term)."""
    critic_parameters: Annotated[Number, Field(ge=1e3, le=1e15)] | None = None
    """Parameters of a critic trained beside it (PPO); absent: none."""
