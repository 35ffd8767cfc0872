"""Replicas of a model that answer the requests asked for, and what they take a month. PURE."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from planner.contract.answer.estimate import RunFigures, ServingPlan
from planner.contract.models.known_models import is_encoder
from planner.contract.request.workload import Serving
from planner.sizing.footprint.memory import GIB
from planner.sizing.performance.replicas import (
    COUNTS,
    WEIGHT_BYTES,
    Load,
    Replica,
    ServedModel,
    peak_of,
    replicas_on,
    served_model,
)
from planner.sizing.runs.placed_run import beyond_context
from planner.sizing.runs.run_size import RunSize
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize
from pricing.market.accelerators import Accelerator
from pricing.market.offers import HOURS_PER_MONTH

RATE_RANGES = {"tuned": (0.55, 1.35), "default": (0.5, 2.0), "unsaid": (0.4, 1.9)}
"""p10 and p90 of measured over predicted rates: of tuned engines, of engines as installed in
bursts, and of both beside the middle of the two (`serving_throughput.csv`, and the cases that the
constants have not seen, 2023-2026)."""


@dataclass(frozen=True, kw_only=True)
class ServingSize(RunSize):
    """A model served for a month, on `accelerators` at the busiest."""

    workload: Serving
    precision: str
    replica: Replica
    replicas: int
    mean_replicas: int
    mean_load: float
    """Replicas that the mean of the requests would keep busy, with what is spare."""

    @property
    def requests_per_second(self) -> float:
        """Of one replica."""
        return self.replica.tokens_per_second / self.workload.answer_tokens

    @property
    def method(self) -> str:
        one, replica = self.accelerator, self.replica
        stages = f" in {replica.stages} stages" if replica.stages > 1 else ""
        return (
            f"{pluralize(self.replicas, 'replica')} of {replica.accelerators} {one.name}{stages} "
            f"at the busiest, {self.mean_replicas:,} in the mean of the month: each answers "
            f"{self.requests_per_second:,.3g} requests a second in {self.precision}, "
            f"{replica.sequences:,.0f} at once, and spends {replica.prompt_share:.0%} of its time "
            "on prompts"
        )

    @property
    def range_p10_p90(self) -> tuple[float, float]:
        """Of whole replicas."""
        low, high = RATE_RANGES[self.workload.engine or "unsaid"]
        ends = (max(1, math.ceil(self.mean_load / factor - 1e-9)) for factor in (high, low))
        fewest, most = (count / self.mean_replicas for count in ends)
        return fewest, most

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(_warnings(self))

    @property
    def dense_tflops(self) -> float | None:
        return peak_of(self.accelerator, self.precision) / 1e12

    @property
    def tensor_parallel(self) -> int:
        return self.replica.tensor

    @property
    def memory_gib(self) -> float:
        """The weights alone: the rest holds as many answers as fit."""
        held = self.workload.parameters * WEIGHT_BYTES[self.precision]
        return held / self.replica.accelerators / GIB

    @property
    def figures(self) -> RunFigures:
        return RunFigures(
            precision=self.precision,
            min_accelerators=self.min_accelerators,
            memory_per_accelerator_gib=self.memory_gib,
            energy_kwh=self.energy_kwh,
        )

    @property
    def plan(self) -> ServingPlan:
        """The replicas as the estimate shows them."""
        replica, rate = self.replica, self.replica.tokens_per_second / self.replica.accelerators
        low, high = RATE_RANGES[self.workload.engine or "unsaid"]
        return ServingPlan(
            precision=self.precision,
            accelerators_per_replica=replica.accelerators,
            tensor=replica.tensor,
            pipeline=replica.stages,
            replicas=self.replicas,
            mean_replicas=self.mean_replicas,
            sequences_per_replica=max(1, math.floor(replica.sequences)),
            requests_per_second_per_replica=self.requests_per_second,
            tokens_per_second_per_accelerator=rate,
            tokens_per_second_p10=rate * low,
            tokens_per_second_p90=rate * high,
            first_token_seconds=replica.first_token_seconds,
            seconds_between_tokens=replica.token_seconds,
            prompt_share=replica.prompt_share,
            tokens_per_month=self.workload.tokens_per_month,
            accelerators=self.accelerators,
        )


@dataclass(frozen=True)
class ServingTask:
    """A model served on one kind of accelerator.

    Raises `InvalidInput` on `accelerator` where no replica holds it or keeps the limits.
    """

    workload: Serving
    accelerator: Accelerator

    @property
    def min_accelerators(self) -> int:
        return self.at().min_accelerators

    def fewest_hours(self, accelerators: int) -> float:
        return 0.0

    def at(self, accelerators: int | None = None) -> ServingSize:
        """The replicas that take the fewest accelerators; refuses fewer than those."""
        size = _fewest(self.workload, self.accelerator)
        if accelerators and accelerators < size.accelerators:
            raise InvalidInput(
                "accelerators",
                f"{accelerators:,} {self.accelerator.name} do not answer so many requests; allowed "
                f"are {size.accelerators:,} or more",
            )
        return replace(size, accelerators=accelerators) if accelerators else size

    at_least = at
    on_whole_machines = at


@lru_cache(maxsize=512)
def _fewest(work: Serving, one: Accelerator) -> ServingSize:
    model, load = _served(work)
    precision = work.precision or ("fp8" if one.fp8_tflops else "bf16")
    replicas = replicas_on(model, one, precision, load)
    if not replicas:
        raise InvalidInput("accelerator", _why_none(work, one, precision))
    peak = work.peak_requests_per_second or work.requests_per_second

    def load_of(replica: Replica, requests: float) -> float:
        return requests * (1 + work.spare) * work.answer_tokens / replica.tokens_per_second

    def needed(replica: Replica, requests: float) -> int:
        return max(1, math.ceil(load_of(replica, requests) - 1e-9))

    best = min(replicas, key=lambda replica: needed(replica, peak) * replica.accelerators)
    mean = needed(best, work.requests_per_second)
    return ServingSize(
        accelerator=one,
        accelerators=needed(best, peak) * best.accelerators,
        min_accelerators=best.accelerators,
        hours=float(mean * best.accelerators * HOURS_PER_MONTH),
        goodput=1.0,
        goodput_source="around the clock",
        workload=work,
        precision=precision,
        replica=best,
        replicas=needed(best, peak),
        mean_replicas=mean,
        mean_load=load_of(best, work.requests_per_second),
    )


@lru_cache(maxsize=64)
def _served(work: Serving) -> tuple[ServedModel, Load]:
    if is_encoder(work.model, work.config):
        name = work.model or "the model"
        raise InvalidInput(
            "model",
            f"{name} is an encoder, which writes no words; hours of what it answers a second, "
            "measured, go into a workload of kind accelerator_hours",
        )
    load = Load(
        work.prompt_tokens,
        work.answer_tokens,
        engine=work.engine or "unsaid",
        first_token_seconds=work.first_token_seconds,
        token_seconds=work.token_seconds,
    )
    return served_model(work.trained), load


def _why_none(work: Serving, one: Accelerator, precision: str) -> str:
    model, load = _served(work)
    free = replace(load, first_token_seconds=math.inf, token_seconds=math.inf)
    if not replicas_on(model, one, precision, free):
        return (
            f"{COUNTS[-1]} {one.name} do not hold the model with one answer, or their rates are "
            "not known; allowed are fewer bits (precision), shorter prompts or another accelerator"
        )
    alone = replace(free, sequences=1.0)
    at_once = replicas_on(model, one, precision, alone)
    first = min(r.first_token_seconds for r in at_once)
    token = min(r.token_seconds for r in at_once)
    return (
        f"{one.name} does not give the first token within {work.first_token_seconds:g} s and each "
        f"within {work.token_seconds:g} s: a single answer takes {first:,.3f} s and {token:,.3f} s "
        "at best; allowed are longer ones (first_token_seconds, token_seconds)"
    )


def _warnings(size: ServingSize) -> Iterator[str]:
    work = size.workload
    tokens = work.prompt_tokens + work.answer_tokens
    yield from beyond_context(work.trained, tokens, "prompts with answers")
    if work.engine is None:
        yield (
            "engines as installed take about three times the accelerators of tuned ones in bursts, "
            "and engine says neither: the hours lie between the two, and the range holds both"
        )
    peak = work.peak_requests_per_second
    if peak and size.replicas > size.mean_replicas:
        yield (
            f"hours are those of {pluralize(size.mean_replicas, 'replica')}, as replicas beyond "
            f"the mean are started and stopped with the load, {size.replicas:,} at the busiest"
        )
