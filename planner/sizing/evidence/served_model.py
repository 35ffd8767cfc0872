"""A model and a load as serving sees them: what a step reads, and what a token keeps. PURE."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from planner.sizing.evidence import read_rows, typed


@dataclass(frozen=True)
class ServerPower:
    """One measured state of one server."""

    system: str
    accelerator: str
    accelerators: int
    state: str
    """training, inference, stress or waiting (model loaded, no work)."""
    watts: float
    mode: str
    """`default` where clocks and power limits are as delivered, not lowered for efficiency."""


@cache
def server_powers() -> tuple[ServerPower, ...]:
    """Every row of the table."""
    return tuple(typed(ServerPower, row) for row in read_rows("server_power"))


LEAST_DENSE_SHARE = 0.02
"""Part of a mixture's parameters that every token passes, at least; planning value, 2026."""


@dataclass(frozen=True)
class ServedModel:
    """Sizes that the rate of generation depends on."""

    parameters: float
    active_parameters: float
    layers: float
    hidden_size: float
    cached_values: float
    """Keys and values that one token keeps in one layer."""
    windowed_layers: float = 0.0
    """Layers that keep no more than the window."""
    window: float = 128.0
    experts: int = 0
    experts_per_token: int = 0
    attention_width: float = 0.0
    """Heads times their width; 0 where it is the hidden size."""

    def prompt_attention_flops(self, tokens: float) -> float:
        """Scores and sums of values over a prompt, each token looking back at all before it, or at
        a window W: 4 w · p²/2, or 4 w · (W p − W²/2) in layers with one (PaLM, arXiv 2204.02311,
        appendix B, 2022, by halves)."""
        window = min(tokens, self.window)
        pairs = (self.layers - self.windowed_layers) * tokens**2 / 2
        pairs += self.windowed_layers * (window * tokens - window**2 / 2)
        return 4 * (self.attention_width or self.hidden_size) * pairs

    def sequence_bytes(self, tokens: float, bytes_per_value: float) -> float:
        """Cache of one sequence."""
        whole = (self.layers - self.windowed_layers) * tokens
        in_windows = self.windowed_layers * min(tokens, self.window)
        return (whole + in_windows) * self.cached_values * bytes_per_value

    def touched_parameters(self, sequences: float) -> float:
        """Parameters that a step over some sequences reads: of a mixture the dense part, and the
        experts that at least one token visits, 1 − (1 − k/E)^B of them."""
        if self.experts <= self.experts_per_token:
            return self.parameters
        idle_share = 1 - self.experts_per_token / self.experts
        experts = (self.parameters - self.active_parameters) / idle_share
        dense = max(LEAST_DENSE_SHARE * self.parameters, self.parameters - experts)
        visited = 1 - float(idle_share**sequences)
        return dense + (self.parameters - dense) * visited


@dataclass(frozen=True)
class Load:
    """What is asked of a replica."""

    prompt_tokens: float
    output_tokens: float
    sequences: float | None = None
    """At once; absent: as many as memory and engine take."""
    latency: str = "offline"
    engine: str = "standard"


@dataclass(frozen=True)
class ServingMeasurement:
    """One rate as published."""

    name: str
    team: str
    model: ServedModel
    precision: str
    """Of the weights: bf16, fp8 or fp4."""
    accelerator: str
    accelerators: int
    load: Load
    tokens_per_second: float
    """Generated on one accelerator."""


@cache
def serving_measurements() -> tuple[ServingMeasurement, ...]:
    """Every row of the table.

    >>> len(serving_measurements())
    313
    """
    return tuple(
        typed(
            ServingMeasurement,
            row
            | {"model": typed(ServedModel, row), "load": typed(Load, row), "name": row["model"]},
        )
        for row in read_rows("serving_throughput")
    )
