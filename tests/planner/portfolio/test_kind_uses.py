"""Why a project pays what it pays: which part of which machines it uses, when, and how shares are
worked out."""

from collections import defaultdict

import pytest

from planner.portfolio.portfolio import plan_portfolio
from planner.portfolio.shares import divide_exactly
from planner.portfolio.words import describe_months, explain_share
from planner.services.portfolio.portfolios import show_only
from pricing.bundled.catalog import bundled_catalog
from tests.planner.portfolio.portfolios import TODAY, burst, project

STEADY = {
    "kind": "accelerator_hours",
    "accelerator": "H100",
    "hours_per_month": 5000,
    "peak_accelerators": 8,
}


@pytest.fixture(scope="module")
def answer():
    """A steady project that rents and owns, and one that is busy four months on what it owns."""
    request = {
        "start": "2027-01",
        "horizon_months": 24,
        "projects": [
            project("bursty", burst(24, 3, 4)),
            project("movable", burst(24, 14, 3),
                    window={"start": "2027-01", "deadline": "2028-12"}),
            project("steady", STEADY),
        ],
    }  # fmt: skip
    return plan_portfolio(request, bundled_catalog(), today=TODAY)


def use_of(answer, name, kind):
    (use,) = (u for u in answer.uses_by_kind if (u.project, u.kind) == (name, kind))
    return use


def test_uses_by_kind_are_the_sums_of_uses_by_month(answer):
    kinds = {machine.source: machine.kind for machine in answer.machines}
    by_month = defaultdict(lambda: defaultdict(float))
    for use in answer.uses:
        by_month[use.project, kinds[use.source]][use.month] += use.accelerator_hours
    assert {(u.project, u.kind) for u in answer.uses_by_kind} == set(by_month)
    for use in answer.uses_by_kind:
        own = by_month[use.project, use.kind]
        most = max(own.values())
        assert use.accelerator_hours == pytest.approx(sum(own.values()), abs=0.01)
        assert use.months == len(own)
        assert set(use.fullest_months) == {m for m, h in own.items() if h >= 0.9 * most}
        others = [rows for (_, kind), rows in by_month.items() if kind == use.kind]
        then = sum(rows.get(month, 0) for rows in others for month in use.fullest_months)
        own_then = sum(own[month] for month in use.fullest_months)
        assert use.fullest_fraction == pytest.approx(own_then / then, abs=1e-5)


def test_fractions_of_all_projects_sum_to_one_in_each_kind(answer):
    by_kind = defaultdict(float)
    for use in answer.uses_by_kind:
        by_kind[use.kind] += use.fraction
    assert set(by_kind) == {"owned", "rented"}
    assert all(total == pytest.approx(1, abs=1e-5) for total in by_kind.values())


def test_a_reason_names_the_part_of_each_kind_of_machine_and_its_fullest_months(answer):
    one = answer.project("steady")
    owned, rented = (use_of(answer, "steady", kind) for kind in ("owned", "rented"))
    hours = f"({owned.accelerator_hours:,.0f} accelerator-hours)"
    assert f"uses {owned.fraction:.0%} of the hours used on owned servers {hours}" in (
        one.explanation
    )
    when = describe_months(answer, owned.fullest_months)
    assert f", the most {when}, when nobody else uses any" in one.explanation
    assert f"uses {rented.fraction:.0%} of the hours used on rented" in one.explanation
    assert "about evenly from April to July 2027" in (answer.project("bursty").explanation)


def test_the_fullest_months_are_not_said_to_hold_most_of_the_hours(answer):
    """Its fullest months may be two of sixteen, with a seventh of its hours."""
    owned = use_of(answer, "steady", "owned")
    assert len(owned.fullest_months) < owned.months
    assert "mostly" not in answer.project("steady").explanation


def test_months_that_are_shared_say_which_part_is_its_own(answer):
    uses = tuple(
        use.model_copy(update={"fullest_fraction": 0.4}) if use.project == "bursty" else use
        for use in answer.uses_by_kind
    )
    shared = answer.model_copy(update={"uses_by_kind": uses})
    assert "when it uses 40% and the others the rest" in explain_share(
        shared, shared.project("bursty")
    )


def test_a_reason_tells_the_least_and_the_most_that_a_project_adds(answer):
    for one in answer.projects:
        assert one.adds <= one.share <= one.alone
        assert f"As the first to join, it would add {one.alone:,.0f} USD" in one.explanation
        assert f"As the last, it adds {one.adds:,.0f} USD, since the others would pay " in (
            one.explanation
        )
        assert one.explanation.endswith(
            "Its share is the average over every order in which the projects could join."
        )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shares_method": "use"}, "Its share is its part of the hours used of every machine"),
        ({"shares_method": "shapley_sampled", "shares_orders": 1040},
         "average over 1,040 orders in which"),
        ({"shares_moved": True}, "could join, adjusted by the least that leaves no group"),
    ],
)  # fmt: skip
def test_a_reason_says_how_the_share_was_worked_out(answer, changes, words):
    changed = answer.model_copy(update=changes)
    assert words in explain_share(changed, changed.project("steady"))


def test_a_project_that_sees_itself_alone_reads_nothing_of_the_others(answer):
    seen = show_only(answer, ["bursty"])
    (use,) = seen.uses_by_kind
    (one,) = seen.projects
    assert (use.project, use.fraction, use.fullest_fraction) == ("bursty", None, None)
    assert f"uses {use.accelerator_hours:,.0f} accelerator-hours of owned servers, about" in (
        one.explanation
    )
    assert "%" not in one.explanation
    assert "others" not in one.explanation
    assert "averaged over every order" in one.explanation


def test_an_answer_from_before_uses_were_told_by_kind_still_reads(answer):
    old = answer.model_copy(update={"uses_by_kind": ()})
    text = explain_share(old, old.project("steady"))
    assert "of the hours that projects use of the machines they share" in text


def test_shares_say_whether_they_stand_off_the_average():
    costs = {"a": 60, "b": 60, "c": 60, "ab": 62, "ac": 110, "bc": 110, "abc": 122}
    alone = dict.fromkeys("abc", 60)
    moved = divide_exactly("abc", lambda g: costs.get("".join(sorted(g)), 0), 122, alone)
    assert moved.moved
    flat = {1: 60, 2: 100, 3: 120}
    assert not divide_exactly("abc", lambda g: flat.get(len(g), 0), 120, alone).moved


@pytest.mark.parametrize(
    ("fraction", "words"),
    [(0.0036, "less than 1% of the hours"), (0.998, "more than 99% of"), (0.494, "49% of the")],
)
def test_a_part_is_rounded_neither_to_none_nor_to_all(answer, fraction, words):
    uses = tuple(u.model_copy(update={"fraction": fraction}) for u in answer.uses_by_kind)
    told = explain_share(answer.model_copy(update={"uses_by_kind": uses}), answer.project("steady"))
    assert f"It uses {words}" in told


def test_parts_of_the_projects_add_up_as_told(answer):
    """Each by itself, 16.5, 16.5 and 67 % would be 16, 16 and 67 %."""
    parts = dict(zip(("bursty", "movable", "steady"), (0.165, 0.165, 0.67), strict=True))
    of_kind = {
        use.project: use.model_copy(update={"fraction": parts[use.project], "shared": True})
        for use in answer.uses_by_kind
    }
    split = answer.model_copy(
        update={
            "projects": tuple(
                one.model_copy(update={"fraction": parts[one.name]}) for one in answer.projects
            ),
            "uses_by_kind": tuple(
                use.model_copy(update={"kind": "owned"}) for use in of_kind.values()
            ),
        }
    )
    told = {one.name: explain_share(split, one) for one in split.projects}
    assert sum(int(told[name].split("% of the plan")[0].split()[-1]) for name in parts) == 100
    uses = (text.split("It uses ")[1].split("% of the hours used")[0] for text in told.values())
    assert sum(map(int, uses)) == 100
