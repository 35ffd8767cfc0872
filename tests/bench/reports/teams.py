"""How well the rules predict runs of teams that the fit has not seen, by kind of work."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from planner.contract.request.comparison import CURRENT_RULES
from planner.sizing.performance.teams import TeamRun, fit_teams, range_of, team_fit, team_runs


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
    "mixture of experts": lambda run: run.is_mixture,
    "frameworks' rates": lambda run: run.is_rate,
}


def held_out(rules: int = CURRENT_RULES) -> list[HeldOut]:
    """Every run, its team unseen in fit and range."""
    fit, found = team_fit(), []
    for team in dict.fromkeys(run.team for run in team_runs()):
        others = fit_teams([run for run in team_runs() if run.team != team])
        for run, error in fit.errors:
            if run.team == team:
                low, high = range_of(others, run.stage, None, run.accelerators <= 8, rules)
                found.append(HeldOut(run, error, low <= error <= high))
    return found


def by_kind(found: Sequence[HeldOut]) -> dict[str, Figures]:
    """Figures of each kind of work."""
    return {name: _figures([h for h in found if holds(h.run)]) for name, holds in KINDS.items()}


def _figures(found: Sequence[HeldOut]) -> Figures:
    errors = [abs(one.error) for one in found]
    return Figures(
        runs=len(found),
        teams=len({one.run.team for one in found}),
        median=statistics.median(errors),
        within_half=statistics.fmean(e <= 0.5 for e in errors),
        covered=statistics.fmean(one.is_covered for one in found),
    )
