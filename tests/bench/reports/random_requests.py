"""Requests that nobody thought of: each gets an estimate or a refusal, and none an absurd one."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

from planner.contract.request.workload import Training
from planner.sizing.estimate import Estimate, estimate
from planner.sizing.footprint.training_flops import checked_training, compute_work
from planner.sizing.performance.levels import most_executed, rates_on, worked_flops
from pricing.common.invalid_input import InvalidInput

REQUESTS = 2000


def judge_random_requests() -> tuple[int, list[str], list[str]]:
    """How many are refused by field, the tracebacks, and what is absurd."""
    draw = random.Random(14)
    absurd: list[str] = []
    failed: list[str] = []
    refused = 0
    for _ in range(REQUESTS):
        request = _request(draw)
        try:
            found = estimate(request)
        except InvalidInput:
            refused += 1
            continue
        except Exception as error:
            failed.append(f"{type(error).__name__}: {request}")
            continue
        absurd += [f"{why}: {request}" for why in _absurd(found)]
    return refused, failed, absurd


def _request(draw: random.Random) -> dict[str, object]:
    """A training or samples with any mixture of usual and unusual fields."""

    def some(chance: float, name: str, value: Callable[[], object]) -> dict[str, object]:
        return {name: value()} if draw.random() < chance else {}

    slugs = ("H100", "nvidia-l4", "nvidia-t4", "google-tpu-v5e", "amd-mi300x", "nvidia-rtx-4090")
    beside = {
        **some(0.7, "accelerator", lambda: draw.choice(slugs)),
        **some(0.3, "accelerators", lambda: int(10 ** draw.uniform(0, 4))),
    }
    if draw.random() < 0.25:
        work: dict[str, object] = {
            "kind": "samples",
            "samples": 10 ** draw.uniform(0, 10),
            "epochs": draw.uniform(0.1, 300),
            **some(1.0, "forward_gflops_per_sample", lambda: 10 ** draw.uniform(-3, 6)),
            **some(0.4, "parameters", lambda: 10 ** draw.uniform(4, 12)),
            **some(0.3, "loader", lambda: draw.choice(["hand_tuned", "usual"])),
            **some(0.3, "architecture", lambda: draw.choice(["convolutional", "depthwise"])),
            **some(0.3, "code", lambda: draw.choice(["hand_tuned", "first_version"])),
        }
        return {"workload": work, **beside}
    optimizers = ("adamw", "lora", "qlora", "adafactor", "adamw_8bit", "muon")
    work = {
        "kind": "training",
        "parameters": 10 ** draw.uniform(5, 12.5),
        "tokens": 10 ** draw.uniform(2, 14),
        **some(0.3, "sequence_length", lambda: int(2 ** draw.uniform(5, 20))),
        **some(0.3, "optimizer", lambda: draw.choice(optimizers)),
        **some(0.2, "precision", lambda: draw.choice(["fp32", "bf16", "fp16", "fp8"])),
        **some(0.2, "code", lambda: draw.choice(["hand_tuned", "standard", "first_version"])),
        **some(0.1, "mfu", lambda: draw.uniform(0.01, 1.0)),
        **some(0.1, "padding", lambda: draw.uniform(0, 0.9)),
        **some(0.1, "tokens_per_example", lambda: 10 ** draw.uniform(0, 5)),
        **some(0.1, "sweep", lambda: {"trials": draw.randint(1, 50), "share": 0.1}),
        **some(
            0.15, "rollouts", lambda: {"response_tokens": draw.randint(1, 9999), "per_step": 512}
        ),
        **some(0.1, "is_classifier", lambda: True),
    }
    serve = {"tokens_per_second": 10 ** draw.uniform(0, 7), "output_tokens": draw.randint(1, 4000)}
    return {"workload": work, **beside, **some(0.2, "serving", lambda: serve)}


def _worked_share(found: Estimate, mfu: float) -> float:
    """Share of the peak worked without recomputation: MFU counts the whole attention term, as
    published figures do, of which causal kernels work half."""
    assert isinstance(found.workload, Training)
    work = compute_work(checked_training(found.workload))
    return mfu * min(1.0, worked_flops(work) / work.model_flops)


def _absurd(found: Estimate) -> Iterator[str]:
    """What no engineer would believe, or should have been warned of."""
    answer = found.answer
    hours = answer.accelerator_hours
    if not 0 <= hours.p10 <= hours.p50 <= hours.p90 < math.inf:
        yield "range out of order"
    one, work = found.accelerator, found.workload
    if answer.mfu and isinstance(work, Training) and work.mfu is None:
        precision = answer.precision or "bf16"
        if _worked_share(found, answer.mfu) > most_executed(one, precision) * 1.001:
            yield f"MFU of {answer.mfu:.0%}"
        rate = rates_on(work, one, precision).matrix
        if rate <= 0:
            yield "no rate"
    used = answer.memory_per_accelerator_gib
    if used and used > one.memory_gib:
        yield f"holds {used:.0f} of {one.memory_gib:.0f} GiB"
    if not isinstance(work, Training):
        return
    is_high = work.mfu is not None and work.mfu > 0.65
    if is_high and not any("is above 65%" in warning for warning in answer.warnings):
        yield "no warning of its MFU"
    is_known = work.mfu is not None or 7e7 <= work.parameters <= 7e11
    if not is_known and not answer.warnings:
        yield "no warning of its size"
