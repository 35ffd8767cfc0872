"""What was sized under rules 3 keeps its figures, and what rules 4 change."""

import pytest

from planner.sizing.estimate import estimate
from planner.sizing.performance.teams import FEWEST_OF_A_RANGE, range_of, team_fit

SEVEN = {"kind": "training", "parameters": 7e9, "tokens": 1e12}
UNDER_RULES_3 = [
    ("hand_tuned", (60208.7968, 84087.0156, 96433.5742)),
    ("standard", (92471.8640, 109027.6405, 140304.8908)),
    ("first_version", (145152.8210, 186278.1880, 238291.0865)),
]


def ask(rules, **changes):
    work = {name: value for name, value in (SEVEN | changes).items() if value is not None}
    asked = {"workload": work, "accelerator": "A100-80GB", "accelerators": 256}
    return estimate({**asked, "rules": rules}).answer


def hours(rules, **changes):
    one = ask(rules, **changes).accelerator_hours
    return one.p10, one.p50, one.p90


@pytest.mark.parametrize(("code", "before"), UNDER_RULES_3)
def test_edition_3_keeps_its_figures(code, before):
    assert hours(3, code=code) == pytest.approx(before, rel=1e-6)


def test_edition_4_changes_nothing_where_nothing_is_said_of_the_code():
    assert hours(4) == hours(3)


def test_a_tuning_that_few_teams_have_takes_the_range_of_all_codes():
    """Six teams are known to have tuned their code by hand: five of seven new ones would lie
    between their outermost errors, not four of five."""
    old, new = hours(3, code="hand_tuned"), hours(4, code="hand_tuned")
    assert new[1] == old[1]
    assert new[2] / new[0] > old[2] / old[0]
    assert hours(4, code="standard") == hours(3, code="standard")


def test_nine_teams_have_a_range_of_their_own_and_eight_do_not():
    fit = team_fit()
    same = [r for r, _ in fit.errors if r.stage == "pretraining" and r.code == "standard"]
    known = list(dict.fromkeys(r.team for r in same))

    def ranged(count):
        few = [pair for pair in fit.errors if pair[0] not in same or pair[0].team in known[:count]]
        part = type(fit)(fit.stages, fit.codes, tuple(few))
        return range_of(part, "pretraining", "standard", False, 4), range_of(
            part, "pretraining", "standard", False, 3
        )

    own, own_before = ranged(FEWEST_OF_A_RANGE)
    shared, own_of_eight = ranged(FEWEST_OF_A_RANGE - 1)
    assert own == own_before
    assert shared != own_of_eight


def test_a_model_of_the_size_of_the_largest_published_one_is_not_outside():
    work = {"model": "DeepSeek-V3", "parameters": None}
    old, new = (" ".join(ask(rules, **work).warnings) for rules in (3, 4))
    assert "outside the published runs" in old
    assert "outside the published runs" not in new
    assert "mixtures of experts" in new
    assert "outside the published runs" in " ".join(ask(4, parameters=7e11).warnings)
