"""What teams make of an accelerator and a layout, and how far they differ. PURE.

    ln(hours used / hours of the step model) = stage + code + mixture + spread

The step model (level, layout, cluster, goodput) says what a well-tuned framework would take. What
real runs took beyond it is the team's: the median of the teams by stage (pre-training,
fine-tuning), how well tuned the code is, what sending tokens to experts takes beyond the step
model, and a spread that is the range. Every team has one vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from planner.contract.request.workload import Training
from planner.sizing.evidence.cluster_scaling import ONE_NODE
from planner.sizing.footprint.stages import FINE_TUNING, PRETRAINING, by_stage
from planner.sizing.footprint.training_flops import mixture_share, shape_of_training
from planner.sizing.performance.conformal import QUANTILES, conformal_range
from planner.sizing.performance.levels import STEP_RULES, is_vector
from planner.sizing.performance.mixtures import WIDTH_RULES, MixtureTerm, fit_mixtures
from planner.sizing.performance.relative_throughput import DIGITS
from planner.sizing.performance.team_runs import TeamRun, edition, team_runs
from pricing.market.accelerators import Accelerator

FEWEST_TEAMS = 5
"""Teams from which a kind of work has a range of its own; a planning choice, 2026."""
FEWEST_OF_A_RANGE = 9
"""The same from rules 4 on: of T teams the outermost errors stand at 1 / (T + 1) and T / (T + 1),
so that fewer than nine have no p10 and p90 between them (Lei et al. 2018, see
`conformal_quantile`)."""
RANGE_RULES = 4
"""Edition of the rules from which that counts, 2026."""
SIZE_RULES = 6
"""Edition from which pre-trainings of models that do not fill an accelerator have a range of their
own: single persons train them, and their code differs by ten times (published_runs.csv), 2026."""
HALF_TRUST = 2.0
"""Teams at which the median of a group counts half against the median of all; planning value,
2026."""
HUBER, ROUNDS = 0.3, 20
"""Excess beyond which a run loses weight (Huber, Annals of Mathematical Statistics 35, 1964), and
rounds of reweighting; chosen on held-out teams, 2026."""
STANDARD = "standard"
CODES = ("hand_tuned", STANDARD, "first_version")


@dataclass(frozen=True)
class TeamFit:
    """What the runs say: medians by stage and code, and the errors of predicting each team by the
    others."""

    stages: dict[str, float]
    codes: dict[str, dict[str, float]]
    """By stage."""
    errors: tuple[tuple[TeamRun, float], ...]
    """Each run with ln(hours used / hours predicted), predicted without its team."""
    mixture: MixtureTerm = field(default_factory=MixtureTerm)
    """Of mixtures of experts beside the dense models of their stage and code; from rules 5 on."""
    vector: float | None = None
    """On vector units, whose arithmetic takes so long that neither stage nor code tells; from
    rules 5 on."""

    def excess(
        self,
        stage: str,
        code: str | None,
        mixture: float = 0.0,
        is_vector: bool = False,
    ) -> float:
        """ln of the hours of the median team over those of the step model, and what a `mixture`
        takes beside dense models."""
        if is_vector and self.vector is not None:
            return self.vector
        of_code = self.codes[stage][code] if code else 0.0
        return self.stages[stage] + of_code + mixture

    def excess_of(self, run: TeamRun, code: str | None) -> float:
        """The same for the work of a run, with the tuning of its code said or not."""
        mixture = self.mixture.at(run.hidden_size) if run.is_mixture else 0.0
        return self.excess(run.stage, code, mixture, run.is_vector)

    def mixture_of(self, training: Training, rules: int) -> float:
        """ln of what experts take beside a dense model, by the part that a training takes of it."""
        share = mixture_share(training, rules)
        return share * self.mixture.at(shape_of_training(training).hidden_size) if share else 0.0


def team_fit(rules: int = 2) -> TeamFit:
    """The fit on every run that an edition of the rules knows."""
    return _team_fit(edition(rules))


@cache
def _team_fit(rules: int) -> TeamFit:
    return fit_teams(team_runs(rules), rules)


def team_excess(training: Training, one: Accelerator, precision: str, rules: int = 2) -> float:
    """ln of the hours that the median team takes over those of the step model."""
    vector = is_vector(one, precision)
    fit = team_fit(rules)
    mixture = fit.mixture_of(training, rules)
    return by_stage(training, rules, lambda at: fit.excess(at, training.code, mixture, vector))


def excess_beside_standard(
    training: Training, one: Accelerator, precision: str, rules: int = 2
) -> float:
    """ln of the time of a step over that of the step model: by the tuning of the code beside a
    standard framework's, and by what experts take; lost hours are not in it. Measured steps of
    mixtures are no faster than the step model however tuned (framework_throughput.csv)."""
    if is_vector(one, precision):
        return 0.0
    fit, code = team_fit(rules), training.code or STANDARD
    share, mixture = mixture_share(training, rules), fit.mixture_of(training, rules)

    def beside(stage: str) -> float:
        of_standard = fit.excess(stage, STANDARD)
        least = min(0.0, fit.excess(stage, code) - of_standard) * (1 - share)
        return max(least, fit.excess(stage, code, mixture) - of_standard)

    return by_stage(training, rules, beside)


def fit_teams(runs: Sequence[TeamRun], rules: int = 2) -> TeamFit:
    """Medians over all runs, errors by leaving one team out."""
    errors = []
    for team in dict.fromkeys(run.team for run in runs):
        others = _middles([run for run in runs if run.team != team], rules)
        own = (run for run in runs if run.team == team)
        errors += [(run, run.excess - others.excess_of(run, None)) for run in own]
    return replace(_middles(runs, rules), errors=tuple(errors))


def log_range(
    stage: str,
    code: str | None,
    accelerators: int,
    rules: int = 2,
    is_small_model: bool = False,
) -> tuple[float, float]:
    """p10 and p90 of ln(hours used / hours predicted), conformal over teams.

    By stage; up to one node the small jobs of every stage are added, whose teams differ more; from
    rules 6 on pre-trainings go by the size of their model instead. With the code's tuning given the
    errors are those left once it is known.

    >>> low, high = log_range("pretraining", None, 256)
    >>> low < 0 < high
    True
    """
    return _log_range(stage, code, accelerators <= ONE_NODE, rules, is_small_model)


def range_of(
    fit: TeamFit,
    stage: str,
    code: str | None,
    is_small: bool,
    rules: int = 2,
    is_small_model: bool = False,
) -> tuple[float, float]:
    """The same from a given fit.

    Under rules 2 the quantiles are moved outwards twice for the number of teams, and rates of
    frameworks count as runs everywhere; from rules 3 on p10 and p90 hold as often as they say, and
    beyond one node no rate counts, as none holds what a run loses. From rules 4 on a pool of teams
    has a range of its own only where it is large enough for one, and from rules 6 on the errors of
    pre-trainings are those of models as small, or as large, as it.
    """
    fewest = FEWEST_OF_A_RANGE if rules >= RANGE_RULES else FEWEST_TEAMS
    errors = fit.errors
    if rules >= STEP_RULES or (rules > 2 and not is_small):
        errors = tuple((run, error) for run, error in errors if not run.is_rate)
    if rules >= STEP_RULES and not code:
        errors = tuple((run, error) for run, error in errors if run.is_typical)
    if rules >= SIZE_RULES and stage == PRETRAINING:
        chosen = [
            (r, e) for r, e in errors if r.stage == stage and r.is_small_model == is_small_model
        ]
    else:
        chosen = [(r, e) for r, e in errors if r.stage == stage or (is_small and _is_small(r))]
    if code:
        chosen = [(r, e - _of_code(fit, r)) for r, e in chosen]
        same = [(r, e) for r, e in chosen if r.code == code]
        chosen = same if len({r.team for r, _ in same}) >= fewest else chosen
    if len({run.team for run, _ in chosen}) < fewest:
        chosen = list(errors)
    if rules > 2:
        return conformal_range([(run.team, error) for run, error in chosen])
    teams = len({run.team for run, _ in chosen})
    low, high = (min(1.0, max(0.0, q + (q - 0.5) / 0.4 * QUANTILES[1] / teams)) for q in QUANTILES)
    return _quantile(chosen, low), _quantile(chosen, high)


@cache
def _log_range(
    stage: str, code: str | None, is_small: bool, rules: int, is_small_model: bool
) -> tuple[float, float]:
    return range_of(team_fit(rules), stage, code, is_small, rules, is_small_model)


def _of_code(fit: TeamFit, run: TeamRun) -> float:
    return fit.excess_of(run, run.code) - fit.excess_of(run, None)


def _is_small(run: TeamRun) -> bool:
    return run.accelerators <= ONE_NODE


def _middles(runs: Sequence[TeamRun], rules: int) -> TeamFit:
    """Median excess by stage, and of each code beside it, drawn towards all and none; from rules 5
    on of each code within a stage, drawn towards that of both, by dense models, and of mixtures
    beside them. Without errors."""
    if rules < STEP_RULES:
        stages = _stages(runs, rules)
        of_both = _codes(runs, stages, dict.fromkeys(CODES, 0.0))
        return TeamFit(stages, dict.fromkeys(stages, of_both), ())
    usual = [run for run in runs if not (run.is_mixture or run.is_vector)]
    stages = _stages(usual, rules)
    of_both = _codes(usual, stages, dict.fromkeys(CODES, 0.0))
    by_stage = {s: [run for run in usual if run.stage == s] for s in stages}
    fit = TeamFit(stages, {s: _codes(own, stages, of_both) for s, own in by_stage.items()}, ())
    return replace(
        fit,
        mixture=_mixture([run for run in runs if run.is_mixture], fit, rules),
        vector=_drawn([run for run in runs if run.is_vector], lambda run: run.excess, 0.0),
    )


def _mixture(runs: Sequence[TeamRun], fit: TeamFit, rules: int) -> MixtureTerm:
    """What mixtures take beside dense models: of runs, drawn towards that of rates, whose routing
    is mostly made even; from rules 6 on by their width."""

    def value(run: TeamRun) -> float:
        return run.excess - fit.excess(run.stage, run.code)

    if rules >= WIDTH_RULES:
        return fit_mixtures(runs, value)
    of_rates = _drawn([run for run in runs if run.is_rate], value, 0.0)
    return MixtureTerm(_drawn([run for run in runs if not run.is_rate], value, of_rates))


def _drawn(runs: Sequence[TeamRun], value: Callable[[TeamRun], float], towards: float) -> float:
    """Their middle, drawn towards a given one where teams are few."""
    trust = _trust(runs)
    return trust * _middle(runs, value) + (1 - trust) * towards if runs else towards


def _stages(runs: Sequence[TeamRun], rules: int) -> dict[str, float]:
    overall = _middle(runs, lambda run: run.excess)
    stages = {}
    for stage in (PRETRAINING, FINE_TUNING):
        own = [run for run in runs if run.stage == stage and (rules < STEP_RULES or run.is_typical)]
        stages[stage] = _drawn(own, lambda run: run.excess, overall)
    return stages


def _codes(
    runs: Sequence[TeamRun], stages: dict[str, float], towards: dict[str, float]
) -> dict[str, float]:
    """Median of each code beside the stage, drawn towards a given one where teams are few."""
    codes = {}
    for code in CODES:
        own = [run for run in runs if run.code == code]
        codes[code] = _drawn(own, lambda run: run.excess - stages[run.stage], towards[code])
    return codes


def _trust(runs: Sequence[TeamRun]) -> float:
    teams = len({run.team for run in runs})
    return teams / (teams + HALF_TRUST)


def _middle(runs: Sequence[TeamRun], value: Callable[[TeamRun], float]) -> float:
    """Huber's mean with one vote a team: runs further off than `HUBER` count less."""
    of_team = Counter(run.team for run in runs)
    values = np.array([value(run) for run in runs])
    votes = np.array([run.trust / of_team[run.team] for run in runs])
    middle, weights = float(np.median(values)), votes
    for _ in range(ROUNDS):
        weights = votes * np.minimum(1.0, HUBER / np.maximum(np.abs(values - middle), 1e-9))
        middle = float(weights @ values / weights.sum())
    return round(middle, DIGITS)


def _quantile(errors: Sequence[tuple[TeamRun, float]], level: float) -> float:
    """Quantile with one vote a team, between the middles of the weights."""
    ordered = sorted(errors, key=lambda pair: pair[1])
    of_team = Counter(run.team for run, _ in ordered)
    weights = np.array([1 / of_team[run.team] for run, _ in ordered])
    places = (np.cumsum(weights) - weights / 2) / weights.sum()
    return float(np.interp(level, places, [error for _, error in ordered]))
