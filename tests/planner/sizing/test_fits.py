"""What `tools.sizing_fit` makes of published runs, and that the product holds it."""

import math
import statistics
from dataclasses import asdict

import pytest

from planner.sizing.evidence import fitted
from planner.sizing.performance.confidence import MixtureTerm, TeamFit
from planner.sizing.performance.neighbours import near_runs
from pricing.market.accelerators import get
from tools.sizing_fit import teams
from tools.sizing_fit.__main__ import fit_rates, fit_runs
from tools.sizing_fit.evidence import (
    finetune_runs,
    framework_rates,
    read_rows,
    rl_steps,
    sample_runs,
)
from tools.sizing_fit.samples import errors_as_stated
from tools.sizing_fit.teams import (
    TeamRun,
    conformal_range,
    fit_mixtures,
    fit_teams,
    range_of,
    team_runs,
)


def same(now, then):
    if isinstance(then, dict):
        assert now.keys() == then.keys()
        return all(same(now[name], then[name]) for name in then)
    if isinstance(then, list | tuple):
        return all(same(a, b) for a, b in zip(now, then, strict=True))
    return (
        now == pytest.approx(then, rel=1e-6, abs=1e-8) if isinstance(then, float) else now == then
    )


@pytest.mark.sweep
def test_the_product_holds_the_fits_of_the_evidence():
    """`python -m tools.sizing_fit` writes them anew."""
    assert same(fit_rates() | fit_runs(), fitted())
    for now, then in zip(teams.near_runs(), near_runs(), strict=True):
        assert same(asdict(now), asdict(then))


def test_tables_of_evidence_are_read_whole():
    assert (len(finetune_runs()), len(framework_rates()), len(rl_steps())) == (55, 260, 26)
    assert sum(run.is_stated and run.is_images for run in sample_runs()) == 139


@pytest.mark.parametrize("table", ["published_runs", "sample_runs"])
def test_every_row_has_a_source_a_year_and_a_known_accelerator(table):
    rows = read_rows(table)
    assert all(row["source"] and 2015 <= int(row["year"]) <= 2026 for row in rows)
    assert all(get(slug) for slug in {row["accelerator"] for row in rows})


def test_one_team_has_one_vote():
    """Ten copies of one team's run move nothing."""
    runs = list(team_runs())
    copied = [*runs, *[run for run in runs if run.team == "bloom"] * 10]
    assert fit_teams(copied).stages == pytest.approx(fit_teams(runs).stages, abs=1e-6)


def run(team, hidden_size, beside, is_rate=False):
    return TeamRun(
        run=f"{team} {hidden_size}",
        team=team,
        stage="pretraining",
        code="standard",
        accelerators=64,
        is_mixture=True,
        excess=beside,
        is_rate=is_rate,
        hidden_size=hidden_size,
    )


def mixtures_of(*runs):
    return fit_mixtures(runs, lambda one: one.excess)


def test_narrow_mixtures_lose_and_wide_ones_do_not():
    runs = [run(f"{d} {i}", d, 0.5 - 0.4 * math.log(d / 2048)) for d in (2048, 7168) for i in "abc"]
    line = mixtures_of(*runs)
    assert line.at(2048) == pytest.approx(0.5, abs=0.1)
    assert line.at(512) == line.at(2048)
    assert line.at(7168) == pytest.approx(0.0, abs=0.1)
    assert line.at(30_000) == 0.0


def test_a_team_has_one_vote_and_a_framework_half():
    many = [run("loud", 4096 + i, 0.6) for i in range(9)]
    assert mixtures_of(*many, run("still", 4096, 0.4)).usual == pytest.approx(0.5, abs=0.02)
    rate = run("rates", 4096, 0.3, is_rate=True)
    assert mixtures_of(run("runs", 4096, 0.6), rate).usual == pytest.approx(0.5, abs=0.01)
    assert fit_mixtures([], lambda one: one.excess) == MixtureTerm()


def run_of_kind(team, excess, is_mixture=False, is_rate=False, is_vector=False):
    return TeamRun(
        run=team,
        team=team,
        stage="pretraining",
        code="standard",
        accelerators=64,
        is_mixture=is_mixture,
        excess=excess,
        is_rate=is_rate,
        is_vector=is_vector,
    )


DENSE = [run_of_kind(f"dense {i}", 0.2) for i in range(3)]


MIXTURES = [run_of_kind(f"mixture {i}", 0.8, is_mixture=True) for i in range(2)]


RATES = [run_of_kind(f"rate {i}", 0.5, is_mixture=True, is_rate=True) for i in range(2)]


def test_a_mixture_takes_what_runs_took_drawn_towards_rates():
    """Two teams count half: of runs 0.6 beyond dense ones, of rates 0.3, which count half of 0."""
    fit = fit_teams([*DENSE, *MIXTURES, *RATES])
    assert fit.excess("pretraining", "standard") == pytest.approx(0.2)
    assert fit.excess("pretraining", "standard", mixture=0.375) == pytest.approx(0.2 + 0.375)


def test_on_vector_units_neither_stage_nor_code_tells():
    others = [run_of_kind(f"old card {i}", -0.1, is_vector=True) for i in range(2)]
    fit = fit_teams([*DENSE, *others])
    assert fit.vector == pytest.approx(-0.05)
    for code in (None, "hand_tuned", "first_version"):
        assert fit.excess("fine_tuning", code, is_vector=True) == fit.vector


BY_CODE = {
    "pretraining": {"hand_tuned": -0.4, "standard": 0.1, "first_version": 0.2},
    "fine_tuning": {"hand_tuned": -0.6, "standard": 0.0, "first_version": 0.8},
}


def team_run(team, stage, accelerators=8, is_rate=False, code="standard"):
    return TeamRun(
        run=team,
        team=team,
        stage=stage,
        code=code,
        accelerators=accelerators,
        is_mixture=False,
        excess=0.0,
        is_rate=is_rate,
    )


FIT = TeamFit({"pretraining": 0.2, "fine_tuning": 0.4}, BY_CODE)


def nine_teams():
    """Of nine teams the outermost errors are p10 and p90."""
    errors = (0.0, 0.0, 0.1, 0.2, 0.2, 0.3, 0.4, 0.4, 0.6)
    return [(team_run(f"team {i}", "fine_tuning"), error) for i, error in enumerate(errors)]


def test_an_error_is_less_what_its_code_makes_in_its_own_stage():
    low, high = range_of(FIT, nine_teams(), "fine_tuning", "standard", True)
    assert (low, high) == pytest.approx((0.0, 0.6))


def test_a_code_makes_in_each_stage_what_it_makes_there():
    assert FIT.excess("pretraining", "hand_tuned") == pytest.approx(0.2 - 0.4)
    assert FIT.excess("fine_tuning", "hand_tuned") == pytest.approx(0.4 - 0.6)
    assert FIT.excess("fine_tuning", None) == 0.4


def test_a_rate_of_a_framework_widens_no_range_of_a_small_job():
    rate = team_run("framework", "fine_tuning", is_rate=True)
    errors = nine_teams()
    before, after = (
        range_of(FIT, pairs, "fine_tuning", None, True)
        for pairs in (errors, [*errors, (rate, 5.0)])
    )
    assert after == before == pytest.approx((0.0, 0.6))


def test_a_vendor_s_benchmark_widens_the_range_of_hand_tuned_code_alone():
    """p10 of ten errors lies a tenth of the way from the first, -2 + 0.6, to the second, 0."""
    benchmark = team_run("vendor", "fine_tuning", code="hand_tuned")
    errors = [*nine_teams(), (benchmark, -2.0)]
    assert range_of(FIT, errors, "fine_tuning", None, True) == pytest.approx((0.0, 0.6))
    assert range_of(FIT, errors, "fine_tuning", "hand_tuned", True)[0] == pytest.approx(-1.4 + 0.14)


def misses(errors):
    return [abs(math.exp(-error) - 1) for _, error in errors]


def share_inside(judged, every):
    def is_inside(run, error):
        low, high = conformal_range([(r.team, e) for r, e in every if r.team != run.team])
        return low <= error <= high

    return statistics.fmean(is_inside(run, error) for run, error in judged)


def test_images_as_stated_are_close_without_their_team():
    errors = errors_as_stated()
    assert len(errors) == sum(run.is_stated and run.is_images for run in sample_runs())
    assert statistics.median(misses(errors)) <= 0.27
    assert statistics.fmean(miss <= 0.5 for miss in misses(errors)) >= 0.79
    assert 0.76 <= share_inside(errors, errors) <= 0.86
