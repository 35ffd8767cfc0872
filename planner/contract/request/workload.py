"""What a team asks for, in its own words: hours, a training, or samples. PURE.

The pydantic models of the `workload` part of a request. They judge shape and range of each
value on its own; what the hardware can do is judged where it is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from planner.contract.validation import Month, Number, RequestModel, Whole
from pricing.common.invalid_input import InvalidInput

MAX_HOURS = 1e10
"""Accelerator-hours of one month at most, h: a million accelerators are 7.3e8; a limit of this
project, 2026."""


def _hours(value: object) -> object:
    """One number or a list of them, as a tuple of numbers."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _share_of_peak(value: float) -> float:
    if 0 < value <= 1:
        return value
    impossible = "more than 100 % of peak is impossible; " if value > 1 else ""
    raise ValueError(
        f"{value:g} is not a share of the dense peak; {impossible}"
        "allowed is above 0 and at most 1, such as 0.4 for 40 % (no sparse rates)"
    )


def _entries(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


HoursList = Annotated[
    tuple[Annotated[Number, Field(ge=0, le=MAX_HOURS)], ...],
    BeforeValidator(_hours),
    Field(strict=False, min_length=1, max_length=120),
]


Count = Annotated[Whole, Field(ge=1, le=10_000_000)]
Software = Literal["cuda", "rocm", "xla", "neuron", "any"]


class _Work(RequestModel):
    """What every kind of work may say of itself."""

    software: Software | None = None
    """Software that the code runs on; absent: as the rules say."""
    interruptible: bool | None = None
    """Whether the work survives losing its machines; absent: as the rules say."""
    accelerators_per_job: Count | None = None
    """Accelerators that one job takes at once; absent: what the sizing needs, 1 for given hours."""


class AcceleratorHours(_Work):
    """Hours that the team already knows, the same every month or one number per month."""

    kind: Literal["accelerator_hours"]
    """Hours that are known already."""
    accelerator: str = Field(min_length=1, max_length=100)
    """Slug or usual name; its hours are the reference."""
    hours_per_month: HoursList
    """h; one value counts for every month."""
    peak_accelerators: Annotated[Whole, Field(ge=1, le=10_000_000)] | None = None
    """Most accelerators at once; absent: hours / 730, rounded up."""


Precision = Literal["fp32", "tf32", "bf16", "fp16", "fp8"]
Optimizer = Literal["adamw", "sgd", "lora", "qlora"]
Slug = Annotated[str, Field(min_length=1, max_length=100)]
Fraction = Annotated[Number, Field(gt=0, le=1)]


class Run(RequestModel):
    """One training run: from the first day of `start` to the last day of `deadline`."""

    start: Month
    """Month in which it may begin."""
    deadline: Month | None = None
    """Month at whose end it must be done; absent: none."""
    count: Annotated[Whole, Field(ge=1, le=100_000)] = 1
    """Runs of this kind side by side."""

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
Utilisation = Annotated[Number, AfterValidator(_share_of_peak)]
"""A share of the dense peak, above 0 and at most 1."""
ExperimentsFactor = Annotated[Number, Field(ge=1, le=1000)]
"""Hours of all attempts, failed and exploratory ones included, over those of the final runs."""


MOST_MFU_RECOMPUTING = 0.75
"""MFU at which full recomputation, 8 N D for 6 N D, takes the whole of the dense peak (Korthikanti
et al., arXiv 2205.05198, 2022)."""
MEASURED = ("tokens_per_second_per_accelerator", "measured_accelerator_hours")
"""Fields of a training that hold what was measured on one kind of accelerator."""
RATES = ("mfu", "hfu", *MEASURED)
"""Fields of a training that stand in for the calibrated throughput; at most one is given."""


class Training(_Work):
    """A transformer trained on tokens; fine-tuning by optimizer `lora` or `qlora`."""

    kind: Literal["training"]
    """A transformer trained on tokens."""
    parameters: Annotated[Number, Field(ge=1e3, le=1e15)]
    """N, all parameters of the model."""
    tokens: Annotated[Number, Field(ge=1, le=1e18)]
    """Training tokens of one run, epochs included."""
    active_parameters: Annotated[Number, Field(ge=1e3, le=1e15)] | None = None
    """Parameters at work on one token, for mixture-of-experts models."""
    sequence_length: Annotated[Whole, Field(ge=1, le=100_000_000)] | None = None
    """Tokens of one sequence; absent: 4,096 for memory and hours."""
    layers: Annotated[Whole, Field(ge=1, le=10_000)] | None = None
    """Transformer layers; absent: usual for the size."""
    hidden_size: Annotated[Whole, Field(ge=1, le=1_000_000)] | None = None
    """Width; absent: usual for the size."""
    vocabulary_size: Annotated[Whole, Field(ge=2, le=100_000_000)] | None = None
    """Entries of the vocabulary; absent: 50,257."""
    trainable_parameters: Annotated[Number, Field(ge=1, le=1e15)] | None = None
    """Parameters of the adapters, for lora and qlora."""
    precision: Precision | None = None
    """Number format; absent: the best that the accelerator has of bf16, fp16, fp32."""
    optimizer: Optimizer = "adamw"
    """`adamw` or `sgd` train all weights, `lora` and `qlora` adapters on frozen ones."""
    mfu: Utilisation | None = None
    """Model FLOP/s over dense peak, 0 to 1; recomputation is not counted."""
    hfu: Utilisation | None = None
    """Executed FLOP/s over dense peak under full recomputation: MFU is 3/4 of it."""
    tokens_per_second_per_accelerator: Annotated[Number, Field(gt=0, le=1e12)] | None = None
    """Measured on `accelerator`; replaces the calibrated throughput."""
    measured_accelerator_hours: Annotated[Number, Field(gt=0, le=MAX_HOURS)] | None = None
    """Hours that one such run took on `accelerator`, lost time included; replaces the estimate."""
    zero_stage: Annotated[Whole, Field(ge=0, le=3)] | None = None
    """ZeRO stage (3 is FSDP's full sharding); absent: the lowest that fits."""
    activation_checkpointing: bool | None = None
    """Absent: only where memory asks for it."""
    micro_batch_size: Annotated[Whole, Field(ge=1, le=100_000)] = 1
    """Sequences that one replica works on at once."""
    goodput: Fraction | None = None
    """Useful share of paid time; absent: calibrated."""
    accelerator: Slug | None = None
    """Reference of the hours, and where given rates were measured."""
    runs: Runs | None = None
    """When it is done; absent: one run from the first month."""
    experiments_factor: ExperimentsFactor = 1.0
    """All attempts over the final runs, in hours."""

    @model_validator(mode="after")
    def _consistent(self) -> Training:
        for refusal in self._refusals():
            raise refusal
        return self

    def _refusals(self) -> Iterator[InvalidInput]:
        active = self.active_parameters
        if active is not None and active > self.parameters:
            yield InvalidInput(
                "active_parameters",
                f"{active:.4g} is more than the {self.parameters:.4g} parameters in total; "
                f"allowed are up to {self.parameters:.4g}",
            )
        stated = [name for name in RATES if getattr(self, name) is not None]
        if len(stated) > 1:
            yield InvalidInput(stated[0], f"give only one of {', '.join(stated)}")
        checkpointing = self.activation_checkpointing
        if self.hfu is not None and checkpointing is False:
            yield InvalidInput(
                "hfu",
                f"{self.hfu:g} counts recomputation and activation_checkpointing is false; allowed "
                "there is mfu",
            )
        if self.mfu is not None and self.mfu > MOST_MFU_RECOMPUTING and checkpointing:
            yield InvalidInput(
                "mfu",
                f"{self.mfu:g} is more than 100 % of peak with the recomputation of "
                f"activation_checkpointing; allowed with it are up to {MOST_MFU_RECOMPUTING:g}",
            )
        if self.measured_accelerator_hours is not None and self.goodput is not None:
            yield InvalidInput("goodput", "is already in measured_accelerator_hours; leave it out")


class Samples(_Work):
    """Sample-based work (vision, diffusion, GANs, detection): epochs over samples."""

    kind: Literal["samples"]
    """Epochs over samples: vision, diffusion, detection, speech."""
    samples: Annotated[Number, Field(ge=1, le=1e15)]
    """Samples of one epoch."""
    epochs: Annotated[Number, Field(gt=0, le=1e9)]
    """Passes over the samples."""
    benchmark: Slug | None = None
    """Slug of a measured workload of the same kind."""
    samples_per_second: Annotated[Number, Field(gt=0, le=1e12)] | None = None
    """Measured by the team on one `accelerator`; replaces the benchmark's rate."""
    accelerator: Slug | None = None
    """Where `samples_per_second` was measured, and the reference of the hours."""
    precision: Precision | None = None
    """Number format of the training."""
    goodput: Fraction | None = None
    """Useful share of paid time; absent: calibrated."""
    runs: Runs | None = None
    """When it is done; absent: one run from the first month."""
    experiments_factor: ExperimentsFactor = 1.0
    """All attempts over the final runs, in hours."""

    @model_validator(mode="after")
    def _has_a_rate(self) -> Samples:
        if self.benchmark is None and self.samples_per_second is None:
            raise InvalidInput("benchmark", "give a benchmark or samples_per_second")
        return self


Workload = Annotated[AcceleratorHours | Training | Samples, Field(discriminator="kind")]
"""Exactly one kind of workload, told apart by `kind`."""
