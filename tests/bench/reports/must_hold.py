"""Every promise of the sizing model, measured: a line, its figure, whether it is held.

Runs are predicted without their team, rates of serving by constants fitted without theirs.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pricing.market.accelerators import get
from tests.bench.reports import serving, teams
from tools.sizing_fit.evidence import SampleRun, rl_steps, server_powers
from tools.sizing_fit.rollouts import excess_of, log_range_of, step_excess
from tools.sizing_fit.samples import errors_as_stated, fit_errors
from tools.sizing_fit.teams import conformal_range
from tools.sizing_fit.throughput import is_at_work, shares_of

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
    return [*_by_kind(), *_frameworks(), *_rollouts(), *_serving(), *_power()]


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
    _, unsaid = fit_errors()
    yield from _as_information(_three_of_images("nothing said, images and other samples", unsaid))


def _as_information(lines: Iterator[Line]) -> Iterator[Line]:
    return (replace(line, is_held=None) for line in lines)


def _three(name: str, group: Sequence[teams.HeldOut]) -> Iterator[Line]:
    errors = [(h.error, h.is_covered) for h in group]
    return _figures(name, errors, len({h.run.team for h in group}))


def _three_of_images(name: str, errors: Sequence[tuple[SampleRun, float]]) -> Iterator[Line]:
    pairs = []
    for run, error in errors:
        low, high = conformal_range([(r.team, e) for r, e in errors if r.team != run.team])
        pairs.append((math.exp(-error) - 1, low <= error <= high))
    return _figures(name, pairs, len({run.team for run, _ in errors}))


def _figures(name: str, errors: Sequence[tuple[float, bool]], count: int) -> Iterator[Line]:
    """Median, within 50 % and coverage of one kind."""
    size = f"{len(errors)} runs, {count} teams"
    median = statistics.median(abs(error) for error, _ in errors)
    near = statistics.fmean(abs(error) <= 0.5 for error, _ in errors)
    covered = statistics.fmean(inside for _, inside in errors)
    yield Line(f"{name} ({size}): median error", f"{median:.0%}", "<= 18 %", median <= 0.18)
    yield Line(f"{name}: within 50 %", f"{near:.0%}", ">= 90 %", near >= 0.9)
    is_held = LEAST_IN <= covered <= MOST_IN
    yield Line(f"{name}: in p10 to p90", f"{covered:.1%}", "76-86 %", is_held)


def _frameworks() -> Iterator[Line]:
    """Rates of steps against the rate that an estimate gives beside its hours."""
    rates = [h for h in teams.held_out() if h.run.is_rate]
    median = statistics.median(abs(math.exp(-one.run.excess) - 1) for one in rates)
    inside = statistics.fmean(one.is_covered for one in rates)
    name = f"frameworks ({len(rates)} rates)"
    yield Line(f"{name}: median error of the rate", f"{median:.0%}", "<= 20 %", median <= 0.2)
    yield Line(f"{name}: in the range of the hours", f"{inside:.0%}", ">= 80 %", inside >= 0.8)


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
    published = [error for _, error in serving.published()]
    judged = {f"serving, {len(published)} published rates": published}
    for team in ("modelled", "InferenceX", "GPUStack"):
        errors = [error for case, error in serving.held_back() if case.team == team]
        judged[f"serving, {len(errors)} cases set apart, {team}"] = errors
    for name, errors in judged.items():
        median = statistics.median(abs(math.exp(-error) - 1) for error in errors)
        bias = math.exp(statistics.median(errors)) - 1
        yield Line(f"{name}: median error", f"{median:.0%}", "<= 25 %", median <= 0.25)
        yield Line(f"{name}: bias", f"{bias:+.0%}", "-10 to 10 %", abs(bias) <= 0.1)
    ratios = list(serving.counts_held_back())
    near = statistics.fmean(0.75 <= ratio <= 1.25 for ratio in ratios)
    name = f"accelerators for 10 requests a second ({len(ratios)} questions): within 25 %"
    yield Line(name, f"{near:.0%}", ">= 80 %", near >= 0.8)


def _power() -> Iterator[Line]:
    rows = [row for row in server_powers() if is_at_work(row)]
    errors = []
    for row in rows:
        others = [other for other in rows if other.system != row.system]
        tdp = get(row.accelerator).tdp_w or 1.0
        shares = shares_of(others)
        share = shares.get(row.accelerator, shares["usual"])
        predicted = share * tdp * row.accelerators
        errors.append(abs(predicted / row.watts - 1))
    median = statistics.median(errors)
    name = f"power of servers, each system by the others ({len(rows)}): median error"
    yield Line(name, f"{median:.0%}", "measured, not nameplate", median <= 0.1)
