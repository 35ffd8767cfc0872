"""How well the rules predict runs of teams that the fit has not seen, by kind of work."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from planner.sizing.performance.confidence import TeamFit
from tests.bench.reports.as_stated import as_stated
from tools.sizing_fit.teams import (
    Errors,
    TeamRun,
    excess_of,
    fit_teams,
    range_of,
    team_errors,
    team_runs,
)


@dataclass(frozen=True)
class HeldOut:
    """One run predicted by the other teams."""

    run: TeamRun
    log_error: float
    """ln(hours used / hours predicted)."""
    is_covered: bool

    @property
    def error(self) -> float:
        """Hours predicted over hours used, less 1."""
        return math.exp(-self.log_error) - 1


@dataclass(frozen=True)
class Figures:
    """Accuracy over the runs of one kind."""

    runs: int
    teams: int
    median: float
    within_half: float
    covered: float


KINDS: dict[str, Callable[[TeamRun], bool]] = {
    "pre-training": lambda run: run.stage == "pretraining" and not run.is_rate,
    "fine-tuning": lambda run: run.stage == "fine_tuning" and not run.is_rate,
    "1 to 8 accelerators": lambda run: run.accelerators <= 8 and not run.is_rate,
    "mixture of experts": lambda run: run.is_mixture and not run.is_rate,
    "frameworks' rates": lambda run: run.is_rate,
}


@cache
def held_out() -> list[HeldOut]:
    """Every run, its team unseen in fit and range, without a word on code and step."""
    return _held_out({run.run: None for run in team_runs()})


@cache
def held_out_as_stated() -> list[HeldOut]:
    """The same with what each run's source says of them; rates of frameworks are left out."""
    return hold_out([run for run in team_runs() if not run.is_rate])


def hold_out(runs: Sequence[TeamRun]) -> list[HeldOut]:
    """The same of a few runs."""
    return _held_out({run.run: as_stated(run) for run in runs})


def _held_out(typed: Mapping[str, TeamRun | None]) -> list[HeldOut]:
    """Each run of `typed` as it says there, or without a word where it is None."""
    found = []
    known = team_runs()
    for team in dict.fromkeys(run.team for run in known if run.run in typed):
        others = [run for run in known if run.team != team]
        fit, errors = fit_teams(others), team_errors(others)
        for run in known:
            if run.team == team and run.run in typed:
                found.append(_judged(typed[run.run] or run, typed[run.run], fit, errors))
    return found


def _judged(run: TeamRun, typed: TeamRun | None, fit: TeamFit, errors: Errors) -> HeldOut:
    code = typed.code if typed else None
    error = run.excess - excess_of(fit, run, code)
    low, high = range_of(fit, errors, run.stage, code, run.is_small_model)
    return HeldOut(run, error, low <= error <= high)


def by_kind(found: Sequence[HeldOut]) -> dict[str, Figures]:
    """Figures of each kind of work."""
    groups = {name: [h for h in found if holds(h.run)] for name, holds in KINDS.items()}
    return {name: _figures(group) for name, group in groups.items() if group}


def _figures(found: Sequence[HeldOut]) -> Figures:
    errors = [abs(one.error) for one in found]
    return Figures(
        runs=len(found),
        teams=len({one.run.team for one in found}),
        median=statistics.median(errors),
        within_half=statistics.fmean(e <= 0.5 for e in errors),
        covered=statistics.fmean(one.is_covered for one in found),
    )
