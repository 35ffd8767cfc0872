"""What a team wants to serve once a model is trained. PURE."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from planner.contract.validation import Number, RequestModel, Whole

Tokens = Annotated[Whole, Field(ge=1, le=10_000_000)]


class Serving(RequestModel):
    """Serving of the model: how much of it, how fast."""

    tokens_per_second: Annotated[Number, Field(gt=0, le=1e12)]
    """Tokens generated per second at the busiest time."""
    prompt_tokens: Tokens = 500
    """Mean tokens of a prompt."""
    output_tokens: Tokens = 250
    """Mean tokens of an answer."""
    latency: Literal["offline", "server", "interactive"] = "server"
    """How fast answers must come: overnight, as of a service, as fast as people read."""
    precision: Literal["bf16", "fp8", "fp4"] | None = None
    """Number format of the weights; absent: 8 bits if the accelerator has them, else 16."""
    engine: Literal["tuned", "standard", "plain"] = "standard"
    """What serves the model, such as TensorRT-LLM, vLLM or plain code."""
    sequences: Annotated[Whole, Field(ge=1, le=1_000_000)] | None = None
    """Answers at once on one replica; absent: as many as memory and engine take."""
    busy_share: Annotated[Number, Field(gt=0, le=1)] = 1.0
    """Part of the month for which the accelerators are kept; 1 is around the clock."""
