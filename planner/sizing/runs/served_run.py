"""Replicas of a model that answer the requests asked for, and what they take a month. PURE.

The load of a day is that of its 24 hours, or between the mean and the busiest rate a wave with one
top a day. Each moment takes whole replicas n(t). Paid for around the clock are

    ⌈n̄ + E max(n − n̄, 0)⌉,  n̄ the mean of n over the day,

as what is signed for the mean idles at night, and what rises above it is rented on top. So a higher
peak never costs less, and no replica is planned for hours of the month that somebody would choose.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.estimate import RunFigures, ServingPlan
from planner.contract.models.known_models import is_encoder
from planner.contract.request.workload import Serving
from planner.sizing.footprint.memory import GIB
from planner.sizing.layout.shapes import USUAL_GROUP
from planner.sizing.performance.replicas import (
    CACHE_BYTES,
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

Floats = NDArray[np.float64]
SOLD_IN_EIGHTS = frozenset({"sxm", "sxm3", "oam"})
"""Forms of which clouds sell one by itself and eight in a machine, and hardly what lies between."""
MOMENTS = 288
"""Every five minutes of a day; choice of this project, 2026."""
RATE_RANGES = {"tuned": (0.55, 1.35), "default": (0.5, 2.0), "unsaid": (0.4, 1.9)}
"""p10 and p90 of measured over predicted rates: of tuned engines, of engines as installed in
bursts, and of both beside the middle of the two (`serving_throughput.csv`, and the cases that the
constants have not seen, 2023-2026)."""


@dataclass(frozen=True, kw_only=True)
class ServingSize(RunSize):
    """A model served for a month, on `accelerators` around the clock."""

    workload: Serving
    precision: str
    replica: Replica
    loads: Floats
    """Replicas that each moment of a day keeps busy, with what is spare."""

    @property
    def replicas(self) -> int:
        """At the busiest."""
        return int(_whole(self.loads).max())

    @property
    def paid_replicas(self) -> int:
        return _paid(self.loads)

    @property
    def busy_by_hour(self) -> tuple[float, ...]:
        """Of the replicas paid for around the clock, the share at work in each moment of a day."""
        return tuple((np.minimum(_whole(self.loads) / self.paid_replicas, 1.0)).tolist())

    @property
    def requests_per_second(self) -> float:
        """Of one replica."""
        return self.replica.tokens_per_second / self.workload.answer_tokens

    @property
    def words(self) -> str:
        machines = f"{self.replica.accelerators} × {self.accelerator.name}"
        replicas = f"{pluralize(self.paid_replicas, 'replica')} of {machines} around the clock"
        return f"{replicas}, {self.replicas:,} at the busiest" if self.beyond_peak else replicas

    @property
    def beyond_peak(self) -> int:
        return max(self.replicas - self.paid_replicas, 0) * self.replica.accelerators

    @property
    def hours_beyond_peak(self) -> float:
        """Hours a month that those work, of one accelerator."""
        more = np.maximum(_whole(self.loads) - self.paid_replicas, 0.0)
        return float(more.mean()) * self.replica.accelerators * HOURS_PER_MONTH

    @property
    def method(self) -> str:
        one, replica = self.accelerator, self.replica
        stages = f" in {replica.stages} stages" if replica.stages > 1 else ""
        return (
            f"{pluralize(self.replicas, 'replica')} of {replica.accelerators} {one.name}{stages} "
            f"at the busiest, {self.paid_replicas:,} paid around the clock: each answers "
            f"{self.requests_per_second:,.3g} requests a second in {self.number_format}, "
            f"{replica.sequences:,.0f} at once, and spends {replica.prompt_share:.0%} of its time "
            "on prompts"
        )

    @property
    def range_p10_p90(self) -> tuple[float, float]:
        """Of whole replicas."""
        low, high = RATE_RANGES[self.workload.engine or "unsaid"]
        ends = (_paid(self.loads / factor) for factor in (high, low))
        fewest, most = (count / self.paid_replicas for count in ends)
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

    @cached_property
    def memory_gib(self) -> float:
        """Weights, and the cache of the answers written at once, half written in the mean."""
        work, model = self.workload, _served(self.workload)[0]
        tokens = work.prompt_tokens + work.answer_tokens / 2
        cache = model.sequence_bytes(tokens, CACHE_BYTES[self.precision])
        held = work.parameters * WEIGHT_BYTES[self.precision]
        return (held + math.floor(self.replica.sequences) * cache) / self.replica.accelerators / GIB

    @property
    def number_format(self) -> str:
        """Of the weights: 16 bits are fp16 on what has no bf16."""
        is_older = self.precision == "bf16" and not self.accelerator.bf16_tflops
        return "fp16" if is_older else self.precision

    @property
    def figures(self) -> RunFigures:
        return RunFigures(
            precision=self.number_format,
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
            precision=self.number_format,
            accelerators_per_replica=replica.accelerators,
            tensor=replica.tensor,
            pipeline=replica.stages,
            replicas=self.replicas,
            paid_replicas=self.paid_replicas,
            sequences_per_replica=max(1, math.floor(replica.sequences)),
            requests_per_second_per_replica=self.requests_per_second,
            tokens_per_second_per_accelerator=rate,
            tokens_per_second_p10=rate * low,
            tokens_per_second_p90=rate * high,
            first_token_seconds=replica.first_token_seconds,
            seconds_between_tokens=replica.token_seconds,
            prompt_share=replica.prompt_share,
            tokens_per_month=self.workload.tokens_per_month,
            accelerators=self.replicas * replica.accelerators,
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

    def as_sold(self) -> ServingSize:
        """The replicas that take the fewest accelerators of machines as clouds sell them."""
        return _fewest(self.workload, self.accelerator, as_sold=True)


IN_4_BITS = re.compile("gpt[-_ ]?oss", re.IGNORECASE)
"""Models whose weights are published in 4 bits and served so (openai/gpt-oss-120b: one H100 of
80 GB; its model card, 2025)."""


@lru_cache(maxsize=512)
def _fewest(work: Serving, one: Accelerator, as_sold: bool = False) -> ServingSize:
    model, load = _served(work)
    as_published = "fp4" if IN_4_BITS.search(f"{work.model} {work.config}") else None
    precision = work.precision or as_published or ("fp8" if one.fp8_tflops else "bf16")
    replicas = replicas_on(model, one, precision, load)
    if not replicas:
        raise InvalidInput("accelerator", _why_none(work, one, precision))
    busiest, by_hour = max(work.rates), work.requests_by_hour
    share = np.array(by_hour) / busiest if by_hour else daily_wave(min(work.rates) / busiest)

    def loads_of(replica: Replica) -> Floats:
        tokens = busiest * (1 + work.spare) * work.answer_tokens
        return share * (tokens / replica.tokens_per_second)

    def taken(replica: Replica) -> tuple[int, int]:
        count = _paid(loads_of(replica)) * replica.accelerators
        is_in_eights = as_sold and one.form in SOLD_IN_EIGHTS and replica.accelerators > 1
        return math.ceil(count / 8) * 8 if is_in_eights else count, replica.accelerators

    best = min(replicas, key=taken)
    loads = loads_of(best)
    paid = _paid(loads) * best.accelerators
    return ServingSize(
        accelerator=one,
        accelerators=paid,
        min_accelerators=best.accelerators,
        hours=float(paid * HOURS_PER_MONTH),
        goodput=1.0,
        goodput_source="around the clock",
        workload=work,
        precision=precision,
        replica=best,
        loads=loads,
    )


def _whole(loads: Floats) -> Floats:
    return np.asarray(np.maximum(np.ceil(loads - 1e-9), 1.0))


def _paid(loads: Floats) -> int:
    """Replicas paid for around the clock: the mean of the whole ones, and what rises above it.

    >>> _paid(np.array([0.4])), _paid(np.array([1.0, 3.0])), _paid(np.array([2.0, 2.0, 2.0, 10.0]))
    (1, 3, 6)
    """
    whole = _whole(loads)
    mean = float(whole.mean())
    return math.ceil(mean + float(np.maximum(whole - mean, 0.0).mean()) - 1e-9)


@lru_cache(maxsize=256)
def daily_wave(mean: float) -> Floats:
    """[288] loads of a day, every five minutes, of which the highest is 1 and the mean as given:
    (1 + cos)/2 on a base, or to a power where even its lowest would be too much.

    >>> [round(float(f(daily_wave(m))), 3) for m in (0.8, 0.2) for f in (np.min, np.mean, np.max)]
    [0.6, 0.8, 1.0, 0.0, 0.2, 1.0]
    """
    wave = (1.0 + np.cos(np.linspace(0.0, 2.0 * np.pi, MOMENTS, endpoint=False))) / 2.0
    if mean >= 0.5:
        return (2.0 * mean - 1.0) + (2.0 - 2.0 * mean) * wave
    low, high = 1.0, 1e6
    for _ in range(60):
        power = math.sqrt(low * high)
        low, high = (power, high) if (wave**power).mean() > mean else (low, power)
    return np.asarray(wave**low)


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
    model = served_model(work.trained)
    if not work.model and not work.config:  # by its size alone: four heads share keys and values
        model = replace(model, cached_values=model.cached_values / USUAL_GROUP)
    return model, load


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
    whole = _whole(size.loads)
    if size.replicas > size.paid_replicas:
        machines = f"{size.replica.accelerators} {size.accelerator.name} each"
        yield (
            f"hours are those of {pluralize(size.paid_replicas, 'replica')} of {machines} around "
            f"the clock, {whole.mean():.1f} for the mean of the day and the rest for what rises "
            f"above it; {size.replicas:,} work at the busiest: the others are rented by the hour "
            f"then, {size.hours_beyond_peak:,.0f} hours of one accelerator a month that these "
            "do not contain, and the quota must allow them"
        )
