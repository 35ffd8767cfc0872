"""The answer to an estimate: hours, memory, layout and ranking of a workload. PURE."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from planner.contract.answer.common import AnswerModel, Count, Flops, Gib, Hours, Kwh, Share


class HoursRange(AnswerModel):
    """Accelerator-hours of all runs, with how sure they are."""

    p10: Hours = Field(description="10th percentile.")
    p50: Hours = Field(description="Median.")
    p90: Hours = Field(description="90th percentile.")
    holds: bool = Field(
        default=True, description="False where the work is far from every published run."
    )


class MemoryBreakdown(AnswerModel):
    """What the memory of one accelerator holds."""

    weights_gib: Gib = Field(description="Weights.")
    gradients_gib: Gib = Field(description="Gradients when the memory is fullest.")
    optimizer_gib: Gib = Field(description="States of the optimizer.")
    activations_gib: Gib = Field(description="Activations.")
    logits_gib: Gib = Field(description="Logits of the last layer.")
    overhead_gib: Gib = Field(description="Runtime and fragmentation.")

    @property
    def total_gib(self) -> float:
        """All of them, GiB."""
        states = self.weights_gib + self.gradients_gib + self.optimizer_gib
        return states + self.activations_gib + self.logits_gib + self.overhead_gib


class Parallelism(AnswerModel):
    """How the work is split over the accelerators."""

    tensor: Count = Field(description="Tensor parallelism.")
    pipeline: Count = Field(description="Pipeline parallelism.")
    data: Count = Field(description="Data parallelism.")
    zero_stage: Count = Field(description="ZeRO stage; 3 is full sharding.")
    activation_checkpointing: bool = Field(description="Whether activations are recomputed.")
    context: Count | None = Field(default=None, description="Context parallelism.")
    expert: Count | None = Field(default=None, description="Expert parallelism.")
    checkpointing: str | None = Field(
        default=None, description="Activations recomputed: none, selective or full."
    )
    micro_batch_size: Count | None = Field(
        default=None, description="Sequences that one replica works on at once."
    )
    micro_batches: Count | None = Field(
        default=None, description="Micro-batches of one replica in a step."
    )
    global_batch_tokens: float | None = Field(
        default=None, description="Tokens of one optimizer step.", json_schema_extra={"unit": "1"}
    )
    exposed_communication: Share | None = Field(
        default=None, description="Share of the working time that communication takes."
    )
    unused: Count = Field(description="Accelerators that the split leaves over.")
    pipeline_bubble: Share = Field(description="Share of time in which pipeline stages idle.")


class ServingPlan(AnswerModel):
    """Replicas of a model that answer the requests asked for."""

    precision: str = Field(description="Precision of the weights.")
    accelerators_per_replica: Count = Field(description="Accelerators of one replica.")
    tensor: Count = Field(description="Accelerators over which each layer is split.")
    pipeline: Count = Field(description="Stages into which the layers are split.")
    replicas: Count = Field(description="Replicas at the busiest.")
    paid_replicas: Count = Field(
        description="Replicas paid for around the clock: the mean of the day and what rises above."
    )
    sequences_per_replica: Count = Field(description="Answers written at once on a replica.")
    requests_per_second_per_replica: float = Field(
        description="Requests that one replica answers.", json_schema_extra={"unit": "1/s"}
    )
    tokens_per_second_per_accelerator: float = Field(
        description="Tokens that one accelerator generates.", json_schema_extra={"unit": "1/s"}
    )
    tokens_per_second_p10: float = Field(
        description="10th percentile of it.", json_schema_extra={"unit": "1/s"}
    )
    tokens_per_second_p90: float = Field(
        description="90th percentile of it.", json_schema_extra={"unit": "1/s"}
    )
    first_token_seconds: float = Field(
        description="Until the first token of an answer.", json_schema_extra={"unit": "s"}
    )
    seconds_between_tokens: float = Field(
        description="From one token of an answer to its next.", json_schema_extra={"unit": "s"}
    )
    prompt_share: Share = Field(description="Share of the time that reads prompts.")
    tokens_per_month: float = Field(
        description="Tokens of all answers in a month of 730 h.", json_schema_extra={"unit": "1"}
    )
    accelerators: Count = Field(description="Accelerators of all replicas at the busiest.")
    usd_per_million_tokens: float | None = Field(
        default=None,
        description="Rent of a month on demand over its tokens of answers, at the lowest price "
        "that a plan may take; null where no price is at hand.",
        json_schema_extra={"unit": "USD"},
    )


class CpuNote(AnswerModel):
    """Whether a CPU is enough for the work."""

    is_enough: bool | None = Field(description="Null where it cannot be worked out.")
    hours: Hours | None = Field(description="Hours on one machine of 16 vCPUs.")
    note: str = Field(description="What to do about it.")


class ChipAdvice(AnswerModel):
    """Whether a kind of chip other than a GPU is the better choice, and what porting costs."""

    kind: str = Field(description="asic or fpga.")
    chips: tuple[str, ...] = Field(description="The chips, as people call them.")
    use: str = Field(description="training or serving.")
    is_better: bool | None = Field(
        description="Whether it is the better choice, judged by what it saves where prices are "
        "known; null if that depends on a latency that no request states."
    )
    porting_usd: float = Field(
        description="Engineering that a port takes, once: a planning value without a source.",
        json_schema_extra={"unit": "USD"},
    )
    saving_usd: float | None = Field(
        default=None,
        description="Rent of the cheapest GPU that fits less that of the cheapest such chip, over "
        "all runs, less the port; negative where it does not pay, null without prices.",
        json_schema_extra={"unit": "USD"},
    )
    words: str = Field(description="All of that in a sentence.")


class EstimateCandidate(AnswerModel):
    """One accelerator's place in the ranking; figures are null where it cannot do the work."""

    accelerator: str = Field(description="Slug of the accelerator.")
    rank: Count | None = Field(
        description="Place: fewest accelerators, then shortest time; null where excluded."
    )
    fits: bool = Field(description="Whether it can do the work.")
    why_not: str = Field(description="Why it cannot; empty where it can.")
    accelerator_class: str = Field(description="data_center, tpu, workstation or consumer.")
    market_status: str | None = Field(
        default=None,
        description="retired, inference_only, or current where it is proposed for training.",
    )
    serves_tier: str | None = Field(
        default=None,
        description="Most demanding work that it serves: light, complex or very_demanding; null "
        "where it is not proposed for training.",
    )
    system: str = Field(description="What it comes in: a card, a server, a slice.")
    memory_gib: Gib = Field(description="Memory of one.")
    memory_bandwidth_gb_per_s: float | None = Field(
        description="Memory bandwidth of one.", json_schema_extra={"unit": "GB/s"}
    )
    cores: Count | None = Field(default=None, description="Cores of fp32 arithmetic.")
    base_clock_mhz: float | None = Field(
        default=None, description="Clock that it sustains.", json_schema_extra={"unit": "MHz"}
    )
    boost_clock_mhz: float | None = Field(
        default=None,
        description="Highest clock, for which rates are stated.",
        json_schema_extra={"unit": "MHz"},
    )
    dense_tflops: float | None = Field(
        default=None,
        description="Dense rate at the precision of the work, from cores and clock.",
        json_schema_extra={"unit": "TFLOP/s"},
    )
    interconnect: str = Field(description="What joins several.")
    interconnect_gb_per_s: float | None = Field(
        description="Its bandwidth.", json_schema_extra={"unit": "GB/s"}
    )
    accelerators: Count | None = Field(default=None, description="How many are used.")
    min_accelerators: Count | None = Field(default=None, description="Fewest that hold the work.")
    accelerator_hours: Hours | None = Field(default=None, description="Of one run.")
    wall_clock_hours: Hours | None = Field(default=None, description="Of one run.")
    memory_headroom: Share | None = Field(default=None, description="Memory left free.")
    energy_kwh: Kwh | None = Field(default=None, description="Energy of one run.")
    rent_usd: float | None = Field(
        default=None,
        description="Renting it for one run at the lowest price on demand that a plan may take: in "
        "commercial regions of the large clouds, on machines that hold its jobs or join them; null "
        "where no price is at hand.",
        json_schema_extra={"unit": "USD"},
    )
    rented_accelerators: Count | None = Field(
        default=None,
        description="Accelerators of the machines at that price: a plan's run takes all of them.",
    )
    rented_wall_clock_hours: Hours | None = Field(
        default=None, description="Of one run on all of those, as a plan rents them."
    )
    choice: str | None = Field(
        default=None,
        description="cheapest, fastest, knee or front: no other is both cheaper and faster on the "
        "machines that are rented; null where another is, or no price is at hand.",
    )
    notes: tuple[str, ...] = Field(default=(), description="What to know about it.")
    restrictions: dict[str, str] = Field(
        default_factory=dict,
        description="What to mind, in words: error_correction, cooling and licence of consumer "
        "cards, software, porting.",
    )
    reasons: tuple[str, ...] = Field(
        default=(), description="Why it is or is not for this work: memory first."
    )


class RolloutFigures(AnswerModel):
    """What the answers of a reinforcement learning take of one run."""

    steps: float = Field(description="Steps of the run.", json_schema_extra={"unit": "1"})
    writing_hours: Hours = Field(description="Accelerator-hours that write the answers.")
    scoring_hours: Hours = Field(description="Accelerator-hours of forward passes over them.")
    critic_hours: Hours = Field(description="Accelerator-hours of a critic's training.")

    @property
    def total_hours(self) -> float:
        """All of them, h."""
        return self.writing_hours + self.scoring_hours + self.critic_hours


class Neighbour(AnswerModel):
    """A published training near to the work, and what its team would make of it."""

    run: str = Field(description="Its name.")
    accelerator: str = Field(description="Slug of its accelerator.")
    accelerators: Count = Field(description="How many it used.")
    parameters: float = Field(
        description="Parameters of its model.", json_schema_extra={"unit": "1"}
    )
    tokens: float = Field(
        description="Tokens that it was trained on.", json_schema_extra={"unit": "1"}
    )
    accelerator_hours: Hours = Field(description="Accelerator-hours as published.")
    scaled_hours: Hours = Field(
        description="Accelerator-hours of the work at hand if done as that run was."
    )
    is_same_work: bool = Field(
        description="Whether it is as large within 20 %, on the same accelerator."
    )
    differs: str = Field(description="What it is beside the work, in words.")
    year: int = Field(description="Year of its source.", json_schema_extra={"unit": "year"})
    source: str = Field(description="Where it is published.")


class RunFigures(AnswerModel):
    """Figures of one run; null where one has no meaning for the kind of work."""

    precision: str | None = Field(default=None, description="Precision of the arithmetic.")
    wall_clock_hours: Hours | None = Field(default=None, description="Duration of one run.")
    training_flops: Flops | None = Field(default=None, description="Model FLOPs of one run.")
    hardware_flops: Flops | None = Field(
        default=None, description="FLOPs executed, recomputation included."
    )
    samples_per_second_per_accelerator: float | None = Field(
        default=None, description="Rate of one accelerator.", json_schema_extra={"unit": "1/s"}
    )
    mfu: Share | None = Field(default=None, description="Model FLOP/s over dense peak.")
    mfu_source: str | None = Field(default=None, description="Where the MFU comes from.")
    hfu: Share | None = Field(default=None, description="Executed FLOP/s over dense peak.")
    goodput: Share | None = Field(default=None, description="Useful share of the time.")
    goodput_source: str | None = Field(default=None, description="Where the goodput comes from.")
    goodput_on_spot: dict[str, Share] | None = Field(
        default=None, description="Useful share of a spot hour, by band of interruptions."
    )
    hours_between_failures: Hours | None = Field(
        default=None, description="Mean time between failures of the job."
    )
    checkpoint_interval_hours: Hours | None = Field(
        default=None, description="Interval between checkpoints that wastes least."
    )
    memory_per_accelerator_gib: Gib | None = Field(
        default=None, description="Memory needed on one accelerator."
    )
    memory_breakdown: MemoryBreakdown | None = Field(
        default=None, description="What that memory holds."
    )
    min_accelerators: Count | None = Field(
        default=None, description="Fewest accelerators that hold the work."
    )
    parallelism: Parallelism | None = Field(default=None, description="How the work is split.")
    scaling_efficiency: Share | None = Field(
        default=None, description="Rate of one accelerator here over its rate within a node."
    )
    energy_kwh: Kwh | None = Field(default=None, description="Energy of one run.")
    tokens_per_second_per_accelerator: float | None = Field(
        default=None,
        description="Tokens of a step over its time, on one accelerator, by a tuned framework "
        "under this layout: what its own display shows.",
        json_schema_extra={"unit": "1/s"},
    )
    rollouts: RolloutFigures | None = Field(
        default=None, description="Answers that the model writes for its training; null without."
    )
    neighbours: tuple[Neighbour, ...] = Field(
        default=(), description="Published trainings nearest to the work, one of a team."
    )


class EstimateAnswer(RunFigures):
    """Hours, memory, duration and layout of a workload on one accelerator, with ranges."""

    tables: ClassVar[tuple[str, ...]] = (
        *("candidates", "chips", "goodput_on_spot", "memory_breakdown"),
        *("neighbours", "parallelism", "rollouts", "tier_accelerators", "weights_gb"),
    )
    accelerator: str = Field(description="Slug of the accelerator.")
    accelerators: Count = Field(description="How many are used.")
    runs: Count = Field(description="Runs of all kinds together.")
    accelerator_hours: HoursRange = Field(
        description="Accelerator-hours of all runs and experiments."
    )
    serving: ServingPlan | None = Field(
        default=None, description="Replicas of a model that is served; null for other work."
    )
    cpu: CpuNote = Field(description="Whether a CPU is enough.")
    tier: str | None = Field(
        default=None,
        description="How demanding the work is: light, complex or very_demanding, by limits that "
        "are planning values (light: one card, 24 GiB, 100 h); null for hours as given.",
    )
    other_chips: tuple[str, ...] = Field(
        default=(),
        description="When an ASIC or an FPGA is the better choice, and what porting costs.",
    )
    tier_cards: str | None = Field(default=None, description="Cards that serve such work.")
    tier_accelerators: tuple[str, ...] = Field(
        default=(), description="Accelerators that fit and serve work of this tier, best first."
    )
    weights_gb: dict[str, float] | None = Field(
        default=None,
        description="Weights of the model in fp32 and in half precision (fp16), decimal GB; null "
        "for other kinds of work.",
        json_schema_extra={"unit": "GB"},
    )
    chips: tuple[ChipAdvice, ...] = Field(
        default=(), description="ASICs and FPGAs: when they are the better choice."
    )
    candidates: tuple[EstimateCandidate, ...] = Field(
        default=(), description="Every accelerator, best first, then those that do not fit."
    )
    notes: tuple[str, ...] = Field(default=(), description="What to know about the accelerator.")
    method: str = Field(description="How the hours were worked out.")
    warnings: tuple[str, ...] = Field(default=(), description="What to know about the estimate.")


class GpuFigures(AnswerModel):
    """One GPU of a log; null where the log is silent."""

    gpu: str = Field(description="Its number or name, with its host where several are logged.")
    name: str = Field(description="Name of the card as logged.")
    accelerator: str | None = Field(description="Slug, where the name is known.")
    samples: Count = Field(description="Lines of the log.")
    hours: Hours | None = Field(description="Hours that the lines cover.")
    gap_hours: Hours | None = Field(description="Hours of gaps between them.")
    busy_share: Share = Field(description="Share of all lines in which it was not idle.")
    sustained_utilisation: Share = Field(description="Mean utilisation while the job ran.")
    memory_peak_gib: Gib | None = Field(description="Most memory that was used.")
    memory_total_gib: Gib | None = Field(description="Memory of the card.")
    memory_headroom: Share | None = Field(description="Share of memory never used.")
    power_mean_w: float | None = Field(description="Mean power.", json_schema_extra={"unit": "W"})


class PlanChange(AnswerModel):
    """What a log changes in a plan."""

    kind: str = Field(description="What it is about, such as smaller_card or idle.")
    message: str = Field(description="The change in words, equal ones of several GPUs merged.")


class CalibrationAnswer(AnswerModel):
    """The log's GPUs, and what they change."""

    gpus: tuple[GpuFigures, ...] = Field(default=(), description="Every GPU of the log.")
    changes: tuple[PlanChange, ...] = Field(default=(), description="What they change.")
    skipped_lines: int = Field(
        default=0, description="Lines that were left out.", json_schema_extra={"unit": "1"}
    )
