"""What a team asks for, in its own words: hours, a training, samples or serving. PURE.

The pydantic models of the `workload` part of a request. They judge shape and range of each
value on its own; what the hardware can do is judged where it is known.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_serializer, model_validator

from planner.contract.amounts import count_months, parse_month
from planner.contract.models.config import MOST_CHARACTERS
from planner.contract.models.known_models import fill_from_model
from planner.contract.models.sample_models import fill_from_sample_model
from planner.contract.validation import Entries, Month, Number, RequestModel, Slug, Whole
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import HOURS_PER_MONTH

ParallelSize = Annotated[Whole, Field(ge=1, le=65_536)]


class OwnLayout(RequestModel):
    """How a team splits its own training; replicas fill the accelerators that are left."""

    tensor: ParallelSize = 1
    """Accelerators over which each layer is split."""
    pipeline: ParallelSize = 1
    """Stages into which the layers are split."""
    context: ParallelSize = 1
    """Accelerators over which each sequence is split."""
    expert: ParallelSize = 1
    """Accelerators over which the experts are spread; they are among the replicas."""

    @property
    def parts(self) -> int:
        """Accelerators of one replica."""
        return self.tensor * self.pipeline * self.context


SequenceTokens = Annotated[Whole, Field(ge=1, le=10_000_000)]


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
        return f"{month:%Y-%m}" if month else None

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.deadline and self.deadline < self.start:
            yield InvalidInput(
                "deadline",
                f"{self.deadline:%Y-%m} is before the start {self.start:%Y-%m}; "
                f"allowed is {self.start:%Y-%m} or later",
            )


Runs = Annotated[Entries[Run], Field(min_length=1, max_length=1000)]


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


MAX_HOURS = 1e10
"""Accelerator-hours of one month at most, h: a million accelerators are 7.3e8; a limit of this
project, 2026."""


def _hours(value: object) -> object:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _share_of_peak(value: float) -> float:
    if 0 < value <= 1:
        return value
    impossible = "more than 100% of peak is impossible; " if value > 1 else ""
    raise ValueError(
        f"{value:g} is not a share of the dense peak; {impossible}"
        "allowed is above 0 and at most 1, such as 0.4 for 40% (no sparse rates)"
    )


HoursList = Annotated[
    tuple[Annotated[Number, Field(ge=0, le=MAX_HOURS)], ...],
    BeforeValidator(_hours),
    Field(strict=False, min_length=1, max_length=120),
]


PeakList = Annotated[
    tuple[Annotated[Whole, Field(ge=0, le=10_000_000)], ...],
    BeforeValidator(_hours),
    Field(strict=False, min_length=1, max_length=120),
]


def _as_text(value: object) -> object:
    return json.dumps(value) if isinstance(value, Mapping) else value


ConfigText = Annotated[
    str, BeforeValidator(_as_text), Field(min_length=2, max_length=MOST_CHARACTERS)
]
Count = Annotated[Whole, Field(ge=1, le=10_000_000)]
Software = Literal["cuda", "rocm", "xla", "neuron", "any"]


class _Work(RequestModel):
    is_sized: ClassVar[bool] = False
    """Whether its hours are estimated from a model or samples rather than given."""

    software: Software | None = None
    """Software that the code runs on; absent: as the rules say."""
    interruptible: bool | None = None
    """Whether the work survives losing its machines; absent: as the rules say."""
    accelerators_per_job: Count | None = None
    """Accelerators that one job takes at once; absent: what the sizing needs, 1 for given hours."""

    @property
    def given_peak(self) -> int:
        """Most accelerators at once as far as the team gives them; 1 for work that is sized."""
        return 1


class AcceleratorHours(_Work):
    """Hours that the team already knows, the same every month or one number per month."""

    kind: Literal["accelerator_hours"]
    """Hours that are known already."""
    accelerator: str = Field(min_length=1, max_length=100)
    """Slug or usual name; its hours are the reference."""
    hours_per_month: HoursList
    """h; one value counts for every month."""
    peak_accelerators: PeakList | None = None
    """Most accelerators at once; one value counts for every month with hours; absent: hours / 730,
    rounded up."""

    @property
    def given_peak(self) -> int:
        """The highest peak; absent: the accelerators that the hours keep busy."""
        least = math.ceil(max(self.hours_per_month) / HOURS_PER_MONTH)
        return max(self.peak_accelerators) if self.peak_accelerators else least

    @model_validator(mode="after")
    def _has_peak(self) -> AcceleratorHours:
        if self.peak_accelerators is not None and not any(self.peak_accelerators):
            raise InvalidInput("peak_accelerators", "is 0 in every month; allowed is at least 1")
        return self


Precision = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "fp4"]
Optimizer = Literal[
    "adamw", "sgd", "lion", "muon", "adafactor", "adamw_8bit", "adamw_bf16", "lora", "qlora"
]
TRAINERS: Mapping[str, tuple[str, ...]] = {
    "standard": ("Megatron", "torchtitan", "DeepSpeed", "FSDP", "Hugging Face", "HF Trainer", "TRL",
                 "Axolotl", "Unsloth", "MaxText"),
    "benchmark": ("MLPerf", "NeMo performance recipe"),
    "hand_tuned": ("llm.c", "nanochat"),
    "first_version": ("own",),
}  # fmt: skip
"""How well tuned code is → trainers of that class."""


def _bare(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _class_of_trainer(value: object) -> object:
    """The class of a trainer by its name: `Megatron-LM` is `standard`."""
    if not isinstance(value, str) or value in TRAINERS:
        return value
    for tuning, names in TRAINERS.items():
        if any(_bare(value).startswith(_bare(name)) for name in names):
            return tuning
    listed = "; ".join(f"{tuning} ({', '.join(names)})" for tuning, names in TRAINERS.items())
    raise ValueError(f"{value!r} is not known; allowed are a trainer or its class: {listed}")


Tuning = Annotated[
    Literal["benchmark", "hand_tuned", "standard", "first_version"],
    BeforeValidator(_class_of_trainer),
]
SampleTuning = Literal["hand_tuned", "standard", "first_version"]
Fraction = Annotated[Number, Field(gt=0, le=1)]


Utilisation = Annotated[Number, AfterValidator(_share_of_peak)]
"""A share of the dense peak, above 0 and at most 1."""


MOST_MFU_RECOMPUTING = 0.75
"""MFU at which full recomputation, 8 N D for 6 N D, takes the whole of the dense peak (Korthikanti
et al., arXiv 2205.05198, 2022)."""
MEASURED = ("tokens_per_second_per_accelerator", "measured_accelerator_hours")
"""Fields of a training that hold what was measured on one kind of accelerator."""
RATES = ("mfu", "hfu", *MEASURED)
"""Fields of a training that stand in for the calibrated throughput; at most one is given."""
ADAPTERS = ("lora", "qlora")
"""Optimizers that train adapters on frozen weights."""
SAMPLE_FACTS = ("loader", "architecture", "code")
"""Fields of samples that say more of their FLOPs, which a measured rate holds already."""


class _SizedWork(_Work):
    is_sized: ClassVar[bool] = True
    rate_fields: ClassVar[tuple[str, ...]]
    """Fields that hold a rate of the team's own; at most one is given."""
    measured_fields: ClassVar[tuple[str, ...]]
    """Those of them that were measured on one kind of accelerator."""
    replaced_fields: ClassVar[tuple[str, ...]]
    """Fields that a measured rate replaces, as it holds what they say."""

    experiments_factor: Annotated[Number, Field(ge=1, le=1000)] = 1.0
    """Hours of all attempts over those of the final runs."""
    sweep: Sweep | None = None
    """Trials before each final run, beside the attempts."""

    @property
    def attempts_factor(self) -> float:
        """Hours of attempts and trials over those of the final runs."""
        trials = self.sweep.trials * self.sweep.share if self.sweep else 0.0
        return self.experiments_factor + trials


def _too_many_active(active: float, parameters: float) -> InvalidInput:
    return InvalidInput(
        "active_parameters",
        f"{active:.4g} is more than the {parameters:.4g} parameters in total; "
        f"allowed are up to {parameters:.4g}",
    )


class Training(_SizedWork):
    """A transformer trained on tokens; fine-tuning by optimizer `lora` or `qlora`."""

    rate_fields: ClassVar[tuple[str, ...]] = RATES
    measured_fields: ClassVar[tuple[str, ...]] = MEASURED
    replaced_fields: ClassVar[tuple[str, ...]] = (*RATES, "mfu_of")

    kind: Literal["training"]
    """A transformer trained on tokens."""
    model: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """Name of a well-known model, or its size such as 7B; fills what is not given."""
    config: ConfigText | None = None
    """A model's `config.json`, as text or as an object; its sizes fill what is not given."""
    parameters: Annotated[Number, Field(ge=1e3, le=1e15)]
    """N, all parameters of the model."""
    tokens: Annotated[Number, Field(ge=1, le=1e18)]
    """Training tokens of one run, epochs included."""
    active_parameters: Annotated[Number, Field(ge=1e3, le=1e15)] | None = None
    """Parameters active on one token, for mixture-of-experts models."""
    sequence_length: Annotated[Whole, Field(ge=1, le=100_000_000)] | None = None
    """Tokens of one sequence; absent: 4,096, or a shorter context."""
    tokens_per_example: Annotated[Number, Field(ge=1, le=1e8)] | None = None
    """Mean tokens of an example where a sequence packs several, each seeing itself alone."""
    layers: Annotated[Whole, Field(ge=1, le=10_000)] | None = None
    """Transformer layers; absent: usual for the size."""
    hidden_size: Annotated[Whole, Field(ge=1, le=1_000_000)] | None = None
    """Width; absent: usual for the size."""
    attention_width: Annotated[Whole, Field(ge=1, le=10_000_000)] | None = None
    """Number of heads x their width, for MLA the mean of queries' and values'; absent:
    `hidden_size`."""
    vocabulary_size: Annotated[Whole, Field(ge=2, le=100_000_000)] | None = None
    """Entries of the vocabulary; absent: 50,257."""
    is_classifier: bool = False
    """Whether it outputs classes or scores, not words."""
    trainable_parameters: Annotated[Number, Field(ge=1, le=1e15)] | None = None
    """Parameters of the adapters, for lora and qlora."""
    experts: Annotated[Whole, Field(ge=1, le=100_000)] | None = None
    """Experts of a layer, for mixture-of-experts models."""
    experts_per_token: Annotated[Whole, Field(ge=1, le=10_000)] | None = None
    """Experts that one token visits in a layer, shared ones left out."""
    feed_forward_size: Annotated[Whole, Field(ge=1, le=10_000_000)] | None = None
    """Width of the feed-forward part, of one expert in a mixture; absent: usual for the size."""
    is_gated: bool | None = None
    """Whether the feed-forward part has a gate (SwiGLU); absent: yes where its width is given."""
    cached_values_per_layer: Annotated[Whole, Field(ge=1, le=10_000_000)] | None = None
    """Keys and values that a token keeps in one layer while serving; absent: twice the width."""
    sliding_window: Annotated[Whole, Field(ge=1, le=100_000_000)] | None = None
    """Tokens to which attention looks back in the layers with a window."""
    sliding_layers: Annotated[Whole, Field(ge=0, le=10_000)] | None = None
    """Layers with a window; absent: none."""
    precision: Precision | None = None
    """Number format; absent: the best that the accelerator has of bf16, fp16, fp32."""
    optimizer: Optimizer = "adamw"
    """`lora` and `qlora` train adapters on frozen weights, the others all weights."""
    optimizer_offload: bool = False
    """Whether the optimizer's states live in the memory of the host."""
    weights_offload: bool | None = None
    """Whether the frozen weights of `lora` and `qlora` live in the memory of the host and are
    streamed to the accelerators layer by layer; absent: where nothing else fits."""
    stage: Literal["pretraining", "fine_tuning"] | None = None
    """Absent: fine-tuning with adapters or on fewer tokens than active parameters."""
    code: Tuning | None = None
    """Trainer by name, such as torchtitan or Axolotl, or its class: `standard` (released trainers),
    `benchmark` (a vendor's recipe for this model and card, as submitted to MLPerf), `hand_tuned`,
    `first_version`; absent: what teams have, with its spread in the range. `trainer` is read too.
    """
    global_batch_tokens: Annotated[Number, Field(ge=1, le=1e12)] | None = None
    """Tokens of one optimizer step; absent: usual for the work."""
    chunked_loss: bool = False
    """Whether the loss is fused or computed in parts, so that logits are never whole."""
    rollouts: Rollouts | None = None
    """Answers that the model writes for its own training (RL); absent: none."""
    layout: OwnLayout | None = None
    """One's own split, judged as given; absent: the fastest that fits."""
    mfu: Utilisation | None = None
    """Model FLOP/s over dense peak, 0 to 1; recomputation is not counted."""
    hfu: Utilisation | None = None
    """Executed FLOP/s over dense peak under full recomputation: MFU is 3/4 of it."""
    mfu_of: Literal["step", "run"] | None = None
    """Whether a given MFU is that of a step or of the run, lost time included; absent: step."""
    padding: Annotated[Number, Field(ge=0, le=0.99)] | None = None
    """Share of the processed tokens that only fill up sequences; absent: none."""
    tokens_per_second_per_accelerator: Annotated[Number, Field(gt=0, le=1e12)] | None = None
    """Measured on `accelerator`; replaces the calibrated throughput."""
    measured_accelerator_hours: Annotated[Number, Field(gt=0, le=MAX_HOURS)] | None = None
    """Hours that one such run took on `accelerator`, lost time included; replaces the estimate."""
    zero_stage: Annotated[Whole, Field(ge=0, le=3)] | None = None
    """ZeRO stage (3 is FSDP's full sharding); absent: the lowest that fits."""
    activation_checkpointing: bool | Literal["selective"] | None = None
    """`selective` recomputes attention alone; absent: only where memory asks for it."""
    micro_batch_size: Annotated[Whole, Field(ge=1, le=100_000)] | None = None
    """Sequences that one replica works on at once; absent: what fits best."""
    goodput: Fraction | None = None
    """Useful share of paid time; absent: calibrated."""
    accelerator: Slug | None = None
    """Reference of the hours, and where given rates were measured."""
    runs: Runs | None = None
    """When it is done; absent: one run from the first month."""

    @model_validator(mode="before")
    @classmethod
    def _from_model(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        if "trainer" in data and data.get("code") is None:
            data = {("code" if name == "trainer" else name): data[name]
                    for name in data if name != "code"}  # fmt: skip
        return fill_from_model(data)

    def _refusals(self) -> Iterator[InvalidInput]:
        yield from self._of_the_model()
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
        if self.mfu is not None and self.mfu > MOST_MFU_RECOMPUTING and checkpointing is True:
            yield InvalidInput(
                "mfu",
                f"{self.mfu:g} is more than 100% of peak with the recomputation of "
                f"activation_checkpointing; allowed with it are up to {MOST_MFU_RECOMPUTING:g}",
            )
        if self.measured_accelerator_hours is not None and self.goodput is not None:
            yield InvalidInput("goodput", "is already in measured_accelerator_hours; leave it out")
        if self.mfu_of is not None and self.mfu is None and self.hfu is None:
            yield InvalidInput("mfu_of", "says of what a given MFU is and none is given")
        if self.mfu_of == "run" and self.goodput is not None:
            yield InvalidInput("goodput", "is already in the MFU of a whole run; leave it out")

    def _of_the_model(self) -> Iterator[InvalidInput]:
        active = self.active_parameters
        if active is not None and active > self.parameters:
            yield _too_many_active(active, self.parameters)
        if self.weights_offload and self.optimizer not in ADAPTERS:
            yield InvalidInput(
                "weights_offload",
                f"streams frozen weights, and {self.optimizer} trains all; allowed with "
                f"{' and '.join(ADAPTERS)}",
            )
        embedding = float(self.vocabulary_size or 0) * (self.hidden_size or 0)
        if self.is_classifier and embedding >= (active or self.parameters):
            yield InvalidInput(
                "vocabulary_size",
                f"times hidden_size is {embedding:.4g}, which leaves nothing of the "
                f"{active or self.parameters:.4g} parameters",
            )
        if self.rollouts is not None and self.is_classifier:
            yield InvalidInput("is_classifier", "is set, and rollouts are answers that it writes")


class Samples(_SizedWork):
    """Sample-based work (vision, diffusion, GANs, detection): epochs over samples."""

    rate_fields: ClassVar[tuple[str, ...]] = ("samples_per_second",)
    measured_fields: ClassVar[tuple[str, ...]] = rate_fields
    replaced_fields: ClassVar[tuple[str, ...]] = (*rate_fields, *SAMPLE_FACTS)

    kind: Literal["samples"]
    """Epochs over samples: vision, diffusion, detection, speech."""
    model: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """Name of a known model, such as ResNet-50, Whisper-large or SDXL; fills its FLOPs, parameters
    and architecture where they are not given."""
    samples: Annotated[Number, Field(ge=1, le=1e15)]
    """Samples of one epoch."""
    epochs: Annotated[Number, Field(gt=0, le=1e9)]
    """Passes over the samples."""
    benchmark: Slug | None = None
    """Slug of a measured workload of the same kind."""
    samples_per_second: Annotated[Number, Field(gt=0, le=1e12)] | None = None
    """Measured by the team on one `accelerator`; replaces the benchmark's rate."""
    forward_gflops_per_sample: Annotated[Number, Field(gt=0, le=1e12)] | None = None
    """FLOPs of one sample's forward pass, 1e9, two for each multiply-add; for models that no
    benchmark measures."""
    parameters: Annotated[Number, Field(ge=1e3, le=1e15)] | None = None
    """Parameters, all trained with AdamW: what memory holds is judged by them."""
    loader: Literal["hand_tuned", "usual"] | None = None
    """How images are read, beside their FLOPs: `hand_tuned` (FFCV, DALI or one's own that keeps the
    accelerators busy) or `usual`; absent: what teams have, with its spread in the range."""
    architecture: Literal["convolutional", "depthwise", "transformer", "detector"] | None = None
    """Kind of image model, beside its FLOPs; absent: the mixture that teams train."""
    code: SampleTuning | None = None
    """How well tuned the code is, beside its FLOPs: `first_version` is the code that one
    paper was published with; absent: what teams have, with its spread in the range."""
    accelerator: Slug | None = None
    """Where `samples_per_second` was measured, and the reference of the hours."""
    precision: Precision | None = None
    """Number format of the training."""
    goodput: Fraction | None = None
    """Useful share of paid time; absent: calibrated."""
    runs: Runs | None = None
    """When it is done; absent: one run from the first month."""

    @model_validator(mode="before")
    @classmethod
    def _from_model(cls, data: Any) -> Any:
        return fill_from_sample_model(data) if isinstance(data, Mapping) else data

    def _refusals(self) -> Iterator[InvalidInput]:
        rates = (self.benchmark, self.samples_per_second, self.forward_gflops_per_sample)
        if all(rate is None for rate in rates):
            yield InvalidInput(
                "benchmark",
                "give a model, a benchmark, samples_per_second or forward_gflops_per_sample",
            )
        beside = [name for name in SAMPLE_FACTS if getattr(self, name) is not None]
        if beside and (self.benchmark or self.samples_per_second):
            yield InvalidInput(
                beside[0],
                "is already in a measured rate; leave it out or give forward_gflops_per_sample",
            )


Tokens = Annotated[Whole, Field(ge=1, le=10_000_000)]
RequestRate = Annotated[Number, Field(gt=0, le=1e9)]
DailyRates = Annotated[
    Entries[Annotated[Number, Field(ge=0, le=1e9)]], Field(min_length=24, max_length=24)
]
Seconds = Annotated[Number, Field(gt=0, le=3600)]


def _mean_rate(by_hour: Any) -> float:
    """Of 24 rates; 1 where they are none, which their own check tells."""
    with suppress(TypeError, ValueError, OverflowError, ZeroDivisionError):
        return min(max(math.fsum(map(float, by_hour)) / len(by_hour), 1e-9), 1e9)
    return 1.0


class Serving(_Work):
    """A language model that answers requests around the clock."""

    rate_fields: ClassVar[tuple[str, ...]] = ()
    measured_fields: ClassVar[tuple[str, ...]] = ()
    replaced_fields: ClassVar[tuple[str, ...]] = ()
    runs: ClassVar[None] = None
    experiments_factor: ClassVar[float] = 1.0
    attempts_factor: ClassVar[float] = 1.0

    kind: Literal["serving"]
    """A language model that answers requests."""
    model: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """Name of a well-known model, or its size such as 7B."""
    config: ConfigText | None = None
    """A model's `config.json`, as text or as an object."""
    parameters: Annotated[Number, Field(ge=1e3, le=1e15)]
    """All parameters of the model."""
    active_parameters: Annotated[Number, Field(ge=1e3, le=1e15)] | None = None
    """Parameters active on one token, for mixture-of-experts models."""
    requests_per_second: RequestRate
    """Requests a second in the mean of the month."""
    peak_requests_per_second: RequestRate | None = None
    """The same at the busiest time of the day; absent: as in the mean."""
    requests_by_hour: DailyRates | None = None
    """The same in each hour of a day, whose mean and highest go in the place of the two above."""
    prompt_tokens: Tokens = 500
    """Mean tokens of a prompt."""
    answer_tokens: Tokens = 250
    """Mean tokens of an answer."""
    first_token_seconds: Seconds = 4.0
    """s until the first token of an answer at most."""
    token_seconds: Seconds = 0.1
    """s from one token of an answer to its next at most; people read at about 0.2."""
    precision: Literal["bf16", "fp8", "fp4"] | None = None
    """Number format of the weights; absent: 4 bits of a model published in them, else 8 bits if the
    accelerator has them, else 16."""
    engine: Literal["tuned", "default"] | None = None
    """`tuned` to the model and its load, or `default` as installed; absent: between the two, with
    both in the range."""
    spare: Annotated[Number, Field(ge=0, le=10)] = 0.1
    """Capacity beside the busiest rate, as a share of it."""
    accelerator: Slug | None = None
    """Reference of the hours."""

    @model_validator(mode="before")
    @classmethod
    def _from_model(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        filled = fill_from_model(data)
        sizes = ("parameters", "active_parameters")
        if data.get("requests_per_second") is None and data.get("requests_by_hour") is not None:
            data = {**data, "requests_per_second": _mean_rate(data["requests_by_hour"])}
        return {**{n: filled[n] for n in sizes if filled.get(n) is not None}, **data}

    @property
    def rates(self) -> tuple[float, ...]:
        """Requests a second by hour of the day, or in the mean and at the busiest."""
        if self.requests_by_hour:
            return self.requests_by_hour
        return self.requests_per_second, self.peak_requests_per_second or self.requests_per_second

    def _refusals(self) -> Iterator[InvalidInput]:
        yield from self._refuse_other_rates()
        active, peak = self.active_parameters, self.peak_requests_per_second
        if active is not None and active > self.parameters:
            yield _too_many_active(active, self.parameters)
        if peak is not None and peak < self.requests_per_second:
            yield InvalidInput(
                "peak_requests_per_second",
                f"{peak:g} a second is less than the {self.requests_per_second:g} of the mean; "
                f"allowed are {self.requests_per_second:g} or more",
            )

    def _refuse_other_rates(self) -> Iterator[InvalidInput]:
        by_hour = self.requests_by_hour or self.rates
        if not max(by_hour):
            yield InvalidInput("requests_by_hour", "is 0 in every hour; allowed is more in some")
        mean, peak = sum(by_hour) / len(by_hour), self.peak_requests_per_second
        for name, own, words, rate in (
            ("requests_per_second", self.requests_per_second, "mean", mean),
            ("peak_requests_per_second", peak or max(by_hour), "highest", max(by_hour)),
        ):
            if self.requests_by_hour and abs(own - rate) > 0.001 * rate:
                problem = f"{own:g} is not the {words} of requests_by_hour, {rate:g}; leave it out"
                yield InvalidInput(name, problem)

    @property
    def tokens_per_month(self) -> float:
        """Tokens of all answers in a month of 730 h."""
        return self.requests_per_second * self.answer_tokens * HOURS_PER_MONTH * 3600

    @property
    def trained(self) -> Training:
        """The model as a training has it, with usual sizes where nothing is said."""
        return Training(
            kind="training",
            model=self.model,
            config=self.config,
            parameters=self.parameters,
            active_parameters=self.active_parameters,
            tokens=1,
        )


GivenHours = AcceleratorHours
"""Kinds of work of which the team gives `accelerator`, `hours_per_month` and `peak_accelerators`,
as fields or as properties made from its fields."""
SizedWorkload = Training | Samples | Serving
"""Kinds of work whose hours are estimated."""
Workload = Annotated[GivenHours | SizedWorkload, Field(discriminator="kind")]
"""Exactly one kind of workload, told apart by `kind`."""


DEFAULT_MONTHS = 36
_MONTH = len("2027-01")


def months_to_last_deadline(request: Mapping[str, object]) -> int | None:
    """Months from the plan's start to its last deadline, both in; None where the start is not
    given, where a run has no deadline, or where something is no month.

    >>> runs = [{"start": "2027-01", "deadline": "2027-06"}, {"start": "2027-07", "count": 2}]
    >>> months_to_last_deadline({"start": "2027-01", "workload": {"runs": runs[:1]}})
    6
    >>> months_to_last_deadline({"start": "2027-01", "workload": {"runs": runs}}) is None
    True
    """
    workload, start = request.get("workload"), request.get("start")
    runs = workload.get("runs") if isinstance(workload, Mapping) else None
    if not isinstance(start, str) or not isinstance(runs, Sequence) or isinstance(runs, str):
        return None
    deadlines = [run.get("deadline") for run in runs if isinstance(run, Mapping)]
    if not deadlines or len(deadlines) < len(runs):
        return None
    if not all(isinstance(text, str) and len(text) <= _MONTH for text in (start, *deadlines)):
        return None
    try:
        first = parse_month(start)
        last = max(parse_month(str(text)) for text in deadlines)
    except ValueError:
        return None
    months = count_months(first, last) + 1
    return months if months > 0 else None
