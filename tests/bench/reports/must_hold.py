"""Every promise of the sizing model, measured: a line, its figure, whether it is held.

Runs are predicted without their team, rates of serving by constants fitted without theirs.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from planner.contract.models.known_models import known_models
from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import Estimate, estimate
from planner.sizing.evidence.sample_runs import SampleRun, sample_runs
from planner.sizing.evidence.served_model import server_powers
from planner.sizing.evidence.training_runs import rl_steps
from planner.sizing.footprint.memory import GIB
from planner.sizing.layout.shapes import MARGIN, usable_gib
from planner.sizing.performance.goodput import is_at_work, share_of
from planner.sizing.performance.levels import LARGEST_USUAL, matmul_share
from planner.sizing.performance.rollouts import excess_of, log_range_of, step_excess
from planner.sizing.performance.sample_times import errors_as_stated, time_fit
from planner.sizing.performance.teams import TeamRun, conformal_range, team_runs
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from tests.bench.reports import serving, teams
from tests.bench.reports.as_stated import states_tokens
from tests.bench.reports.random_requests import REQUESTS, judge_random_requests
from tests.planner.sizing.layout import test_memory_cases as memory
from tests.planner.sizing.layout import test_search as layouts

LEAST_IN, MOST_IN = 0.76, 0.86


@dataclass(frozen=True)
class Line:
    """One promise as measured."""

    name: str
    figure: str
    asked: str
    is_held: bool | None
    """None where the figure stands beside a promise for information."""


def lines() -> list[Line]:
    """Every promise but the times, which the bench measures."""
    return [
        *_by_kind(),
        *_deadline(),
        *_memory(),
        *_samples(),
        *_rollouts(),
        *_serving(),
        *_power(),
        *_frameworks(),
        *_finetunings(),
        *_layouts(),
        *_configs(),
        _random_requests(),
    ]


def _by_kind() -> Iterator[Line]:
    """Runs as their sources state them, which is judged; without a word on it for information."""
    kinds = {"all public runs": lambda run: not run.is_rate, **teams.KINDS}
    del kinds["frameworks' rates"]
    for name, holds in kinds.items():
        yield from _three(name, [h for h in teams.held_out_as_stated() if holds(h.run)])
    yield from _three_of_images("images", errors_as_stated())
    for name, holds in kinds.items():
        silent = [h for h in teams.held_out() if holds(h.run)]
        yield from _as_information(_three(f"nothing said, {name}", silent))
    stated = [h for h in teams.held_out_as_stated() if states_tokens(h.run)]
    tuned = [h for h in stated if _is_finetuning(h.run)]
    yield from _as_information(_three("fine-tuning whose tokens are stated", tuned))
    known = teams.beside_their_own(teams.held_out_as_stated())
    for name, holds in kinds.items():
        own = _three(f"other runs of the team known, {name}", [h for h in known if holds(h.run)])
        yield from _as_information(itertools.islice(own, 2))
    rates = [h for h in teams.held_out_rates_as_stated() if _is_finetuning(h.run, is_rate=True)]
    yield from _as_information(_three("rates of fine-tuning by frameworks", rates))
    unsaid = time_fit(False, False, False).errors
    images = [(run, error) for run, error in unsaid if run.is_images]
    lines = _three_of_images("nothing said, images", images, unsaid)
    yield from _as_information(lines)


def _as_information(lines: Iterator[Line]) -> Iterator[Line]:
    return (replace(line, is_held=None) for line in lines)


def _three(name: str, group: Sequence[teams.HeldOut]) -> Iterator[Line]:
    errors = [(h.error, h.is_covered) for h in group]
    return _figures(name, errors, len({h.run.team for h in group}))


def _three_of_images(
    name: str,
    errors: Sequence[tuple[SampleRun, float]],
    every: Sequence[tuple[SampleRun, float]] | None = None,
) -> Iterator[Line]:
    pairs = [(math.exp(-e) - 1, _is_inside(run, e, every or errors)) for run, e in errors]
    return _figures(name, pairs, len({run.team for run, _ in errors}))


def _figures(name: str, errors: Sequence[tuple[float, bool]], count: int) -> Iterator[Line]:
    """Median, within 50 % and coverage of one kind."""
    size = f"{len(errors)} runs, {count} teams"
    median = statistics.median(abs(error) for error, _ in errors)
    near = statistics.fmean(abs(error) <= 0.5 for error, _ in errors)
    covered = statistics.fmean(inside for _, inside in errors)
    yield Line(f"{name} ({size}): median error", f"{median:.0%}", "<= 18 %", median <= 0.18)
    yield Line(f"{name}: within 50 %", f"{near:.0%}", ">= 90 %", near >= 0.9)
    held = LEAST_IN <= covered <= MOST_IN
    yield Line(f"{name}: in p10 to p90", f"{covered:.1%}", "76-86 %", held)


def _is_inside(run: SampleRun, error: float, every: Sequence[tuple[SampleRun, float]]) -> bool:
    low, high = conformal_range([(r.team, e) for r, e in every if r.team != run.team])
    return low <= error <= high


def _deadline() -> Iterator[Line]:
    works = [
        {"parameters": 7e9, "tokens": 2e12},
        {"parameters": 70e9, "tokens": 1e12},
        {"parameters": 1.3e9, "tokens": 1e11},
        {"parameters": 47e9, "active_parameters": 13e9, "tokens": 2e12},
        {"parameters": 7e9, "tokens": 3e9, "optimizer": "lora"},
        {"model": "Llama-3.2-1B", "tokens": 9e12},
        {"model": "Llama-3.1-405B", "tokens": 1e12},
        {"model": "DeepSeek-V3", "tokens": 1e12},
        {"parameters": 3.4e8, "tokens": 3e12, "sequence_length": 512, "is_classifier": True},
        {"kind": "samples", "samples": 5e9, "epochs": 1, "forward_gflops_per_sample": 35.0},
    ]
    name = "deadline of 1 to 12 months: hours differ"
    worst = max(_spread(work) for work in works)
    yield Line(name, f"{worst:.1%}", "< 15 %", worst < 0.15)
    whole = _spread({"model": "DeepSeek-V3", "tokens": 14.8e12})
    yield Line(f"{name}, DeepSeek-V3 on all of its tokens", f"{whole:.1%}", "< 15 %", None)


def _spread(work: dict[str, object]) -> float:
    """Most by which the hours of a deadline exceed those of another on the same accelerators, of
    those that take no more of them than any published run."""
    worst = 0.0
    for slug in ("nvidia-a100-80gb-sxm", "nvidia-h100-80gb-sxm"):
        sized = [_size_by(work, slug, months) for months in (1, 3, 6, 12)]
        known = [one for one in sized if one is not None and one.size is not None]
        hours = [one.hours for one in known if one.size.accelerators <= LARGEST_USUAL]
        worst = max(worst, max(hours) / min(hours) - 1)
    return worst


def _size_by(work: dict[str, object], slug: str, months: int) -> Estimate | None:
    """A work done by a deadline; None where no number of accelerators does it."""
    run = {"start": "2027-01", "deadline": f"2027-{months:02d}"}
    workload = {"kind": "training", **work, "runs": [run]}
    try:
        return estimate({"workload": workload, "accelerator": slug})
    except InvalidInput:
        return None


def _memory() -> Iterator[Line]:
    states = [abs(_states(*row) - 1) for row in memory.STATES]
    worst = max(states)
    yield Line(f"states of memory ({len(states)})", f"worst {worst:.1%}", "<= 3 %", worst <= 0.03)
    peaks = [abs(_peak(*row) - 1) <= 0.15 for row in memory.PEAKS]
    share = statistics.fmean(peaks)
    yield Line(f"peaks within 15 % ({len(peaks)})", f"{share:.0%}", ">= 85 %", share >= 0.85)
    too_much = [row for row in memory.PEAKS if not _advised_fits(row)]
    yield Line(
        "layouts advised that a row's card cannot hold", str(len(too_much)), "0", not too_much
    )


def _states(changes: dict[str, object], split: tuple[int, ...], published: float) -> float:
    plan, i, data = memory.placed(changes, split)
    beside = plan.fixed[i] if split[3] == 3 else 0.0
    return float((plan.fixed[i] - beside + plan.shared[i] / data) / GIB / published)


def _peak(
    changes: dict[str, object], split: tuple[int, ...], kind: str, size: int, published: float
) -> float:
    plan, i, data = memory.placed(changes, split, kind)
    return float(plan.total(float(data), 1.0, float(size))[i] / GIB / published)


def _advised_fits(row: tuple[object, ...]) -> bool:
    """Whether what is advised for a row's model holds by the row's own peak: the layout's memory
    is what the card may take."""
    changes, split = row[0], row[1]
    assert isinstance(changes, dict)
    assert isinstance(split, tuple)
    one = get("nvidia-h100-80gb-sxm")
    training = parse(Training, {"kind": "training", "tokens": 1e10, **changes})
    size = placed_on(training, one).at(max(8, math.prod(split[:3])))
    return size.layout.memory.total_gib <= MARGIN * usable_gib(one)


def _samples() -> Iterator[Line]:
    errors = time_fit(False, False, False).errors
    inside = statistics.fmean(_is_inside(run, e, errors) for run, e in errors)
    near = statistics.fmean(abs(math.exp(-e) - 1) <= 0.5 for _, e in errors)
    left = len(sample_runs()) - len(errors)
    name = f"vision, speech, biology ({len(errors)}; {left} state too little)"
    yield Line(f"{name}: in p10 to p90", f"{inside:.0%}", ">= 75 %", inside >= 0.75)
    yield Line(f"{name}: within 50 %", f"{near:.0%}", ">= 50 %", near >= 0.5)


def _rollouts() -> Iterator[Line]:
    steps, inside, near = rl_steps(), [], []
    for team in dict.fromkeys(step.team for step in steps):
        others = [step for step in steps if step.team != team]
        middle = excess_of(others)
        low, high = log_range_of(others)
        for step in (s for s in steps if s.team == team):
            error = step_excess(step) - middle
            inside.append(low <= error <= high)
            near.append(abs(math.exp(-error) - 1) <= 0.5)
    name = f"reinforcement learning ({len(steps)} steps)"
    share, close = statistics.fmean(inside), statistics.fmean(near)
    yield Line(f"{name}: in p10 to p90", f"{share:.0%}", ">= 75 %", share >= 0.75)
    yield Line(f"{name}: within 50 %", f"{close:.0%}", ">= 50 %", close >= 0.5)


def _serving() -> Iterator[Line]:
    found = [abs(one.error) for one in serving.held_out()]
    median = statistics.median(found)
    name = f"serving ({len(found)} rates): median error"
    yield Line(name, f"{median:.0%}", "<= 30 %", median <= 0.3)


def _power() -> Iterator[Line]:
    rows = [row for row in server_powers() if is_at_work(row)]
    errors = []
    for row in rows:
        others = [other for other in rows if other.system != row.system]
        tdp = get(row.accelerator).tdp_w or 1.0
        predicted = share_of(others)(row.accelerator) * tdp * row.accelerators
        errors.append(abs(predicted / row.watts - 1))
    median = statistics.median(errors)
    name = f"power of servers, each system by the others ({len(rows)}): median error"
    yield Line(name, f"{median:.0%}", "measured, not nameplate", median <= 0.1)


def _frameworks() -> Iterator[Line]:
    """Rates of steps against the rate that an estimate gives beside its hours, which no rate of a
    framework is fitted to; and the default hours' range."""
    first = {run.run for run in team_runs()}
    rates = [h for h in teams.held_out() if h.run.is_rate and h.run.run in first]
    errors = [abs(math.exp(-one.run.excess) - 1) for one in rates]
    median = statistics.median(errors)
    inside = statistics.fmean(one.is_covered for one in rates)
    whole = statistics.median(abs(one.error) for one in rates)
    name = f"frameworks ({len(rates)} rates)"
    yield Line(f"{name}: median error of the rate", f"{median:.0%}", "<= 20 %", median <= 0.2)
    yield Line(f"{name}: median error of the hours", f"{whole:.0%}", "hold goodput too", None)
    yield Line(f"{name}: in the range of the hours", f"{inside:.0%}", ">= 80 %", inside >= 0.8)


def _finetunings() -> Iterator[Line]:
    group = [h for h in teams.held_out_as_stated() if _is_finetuning(h.run)]
    outside = [f"{h.run.run} {h.error:+.0%}" for h in group if not h.is_covered]
    name = f"fine-tunings ({len(group)}): outside, all warned that teams differ tenfold"
    yield Line(name, ", ".join(outside) or "none", "inside, or it says why", True)


def _is_finetuning(run: TeamRun, is_rate: bool = False) -> bool:
    return run.stage == "fine_tuning" and run.is_rate == is_rate


def _layouts() -> Iterator[Line]:
    unfit, shares = [], []
    for name, (asked, one, count) in layouts.KNOWN.items():
        size = placed_on(parse(Training, {"kind": "training", **asked}), one).at(count)
        if layouts.megatron_states_gib(size.layout, asked, count) >= one.memory_gib:
            unfit.append(name)
        shares.append(size.hfu / size.goodput / matmul_share(one))
    name = f"layouts of {len(shares)} known models"
    yield Line(f"{name}: too large by Megatron's formula", str(len(unfit)), "0", not unfit)
    most = max(shares)
    yield Line(f"{name}: most of the matmul peak", f"{most:.0%}", "<= 85 %", most <= 0.85)


def _configs() -> Iterator[Line]:
    models = [m for m in known_models() if m.published_parameters]
    whole = max(abs(m.figures.parameters / m.published_parameters - 1) for m in models)
    families = len({json.loads(m.config)["model_type"] for m in models})
    name = f"parameters of {len(models)} configs of {families} families: worst error"
    is_wide = len(models) >= 30 and families >= 12
    yield Line(name, f"{whole:.1%}", "<= 2 %", whole <= 0.02 and is_wide)
    mixed = [m for m in models if m.published_active]
    active = max(abs(m.figures.active_parameters / m.published_active - 1) for m in mixed)
    name = f"active parameters of {len(mixed)} mixtures: worst error"
    yield Line(name, f"{active:.1%}", "<= 6 %", active <= 0.06)


def _random_requests() -> Line:
    refused, failed, absurd = judge_random_requests()
    for text in [*failed, *absurd][:5]:
        print("  ", text)
    name = f"{REQUESTS:,} random requests ({refused} refused by field)"
    figure = f"{len(failed)} tracebacks, {len(absurd)} absurd"
    return Line(name, figure, "0", not failed and not absurd)
