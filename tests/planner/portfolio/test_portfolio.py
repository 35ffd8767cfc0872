"""A portfolio's answer at the bundled prices: what it promises whatever is asked."""

import datetime as dt
from decimal import Decimal

import pytest

from planner.comparison import TooMuchWork, compare
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.costing.optimizer.work import WorkMeter
from planner.portfolio.portfolio import plan_portfolio
from planner.portfolio.words import explain_share, list_orders
from pricing.bundled.catalog import bundled_catalog
from pricing.common.invalid_input import InvalidInput
from tests.planner.portfolio.portfolios import TODAY, burst, project, relay
from tests.planner.portfolio.portfolios import planned as plan


@pytest.fixture(scope="module")
def answer():
    return plan(relay())


def test_projects_that_take_turns_own_together_what_each_would_rent(answer):
    assert sum(one.alone_way == "Cloud" for one in answer.projects) >= 3
    (bought,) = answer.purchases
    assert (bought.kind, bought.idle_months) == ("server", ())
    assert answer.saving_fraction > 0.25
    assert answer.next_order.month == bought.month
    assert answer.headline.startswith("Buy 1 × ")


def test_every_order_names_its_machine_place_and_amount(answer):
    rents = plan(
        {
            **{"start": "2027-01", "horizon_months": 3, "on_prem": {"servers": []}},
            "projects": [project("A", burst(3, 0, 1)), project("B", burst(3, 1, 1, 4))],
        }
    )
    assert {one.project for one in rents.orders} == {"A", "B"}
    assert all(one.place and one.label in one.sentence for one in rents.orders)
    assert sum(one.amount for one in (*answer.orders, *rents.orders)) == (
        answer.total_cost + rents.total_cost
    )
    first, *_ = list_orders(rents)
    assert first.startswith(f"For {rents.orders[0].project}, re")
    assert first[:-5].partition(":")[0] in rents.headline


def test_shares_sum_to_the_cent_and_nobody_pays_more_than_alone(answer):
    assert sum(one.share for one in answer.projects) == answer.net_present_cost
    assert all(one.share <= one.alone for one in answer.projects)
    assert all(one.saving == one.alone - one.share for one in answer.projects)
    assert answer.shares_method == "shapley"


def test_every_cost_stands_in_one_line(answer):
    assert sum(line.amount for line in answer.lines) == answer.total_cost
    assert sum(answer.cost_by_category.values()) == answer.total_cost
    assert sum(answer.cash_per_month) == answer.total_cost
    for one in answer.projects:
        lines = (line.amount for line in answer.lines if line.project == one.name)
        assert sum(lines, Decimal(0)) == one.direct_cost


def test_the_hours_that_projects_use_are_those_of_their_work(answer):
    for one in answer.projects:
        used = sum(u.accelerator_hours for u in answer.uses if u.project == one.name)
        assert used == pytest.approx(one.hours, rel=1e-4)
    for row in answer.in_service:
        used = sum(
            u.accelerator_hours
            for u in answer.uses
            if u.month == row.month and u.source == row.source
        )
        assert used == pytest.approx(row.hours_used, abs=0.01)
        assert row.hours_used <= row.hours_available * (1 + 1e-9)


def test_an_explanation_says_what_is_paid_alone_and_together(answer):
    one = answer.projects[0]
    assert f"{one.share:,.0f} USD" in one.explanation
    assert f"{one.alone:,.0f} USD" in one.explanation
    assert f"{one.saving:,.0f} USD less than the {one.alone:,.0f} USD" in one.explanation


def test_one_project_is_its_comparison():
    request = relay(1, 24)
    plain = {"start": "2027-01", "horizon_months": 24, "sensitivity": False, "cheaper_if": False}
    plain |= {"workload": request["projects"][0]["workload"], "on_prem": request["on_prem"]}
    alone = compare(plain, bundled_catalog(), today=TODAY)
    answer = plan(request)

    best = alone.recommended
    assert answer.total_cost == best.total_cost
    assert answer.net_present_cost == best.net_present_cost == answer.projects[0].share
    assert [line.amount for line in answer.lines] == [line.amount for line in best.lines]
    assert answer.saving == 0


def test_the_order_of_projects_changes_nothing(answer):
    request = relay()
    turned = plan({**request, "projects": request["projects"][::-1]})
    assert turned == answer


def test_a_project_that_is_left_out_changes_the_others_as_the_answer_says(answer):
    request = relay()
    request["projects"][1]["included"] = False
    fewer = plan(request)
    without = next(one for one in answer.projects if one.name == "project 1").without

    assert fewer.project("project 1") is None
    assert float(fewer.net_present_cost) == pytest.approx(float(without), rel=0.005)


def test_a_window_moves_work_to_where_machines_are_free():
    months = 24
    gap, movable = burst(months, 4, 20), burst(months, 10, 4)
    gap["hours_per_month"][14:18] = [0.0] * 4
    gap["peak_accelerators"][14:18] = [0] * 4
    request = {
        "start": "2027-01",
        "horizon_months": months,
        "projects": [project("steady", gap), project("movable", movable)],
    }
    fixed = plan(request)
    window = {"start": "2027-05", "deadline": "2028-12"}
    request["projects"][1]["window"] = window
    moved = plan(request)

    assert moved.net_present_cost < fixed.net_present_cost
    used = [u for u in moved.uses if u.project == "movable"]
    assert sum(u.accelerator_hours for u in used) == pytest.approx(4 * 8 * 730 * 0.9, rel=1e-4)
    assert {u.month for u in used} != {10, 11, 12, 13}
    assert sum(one.share for one in moved.projects) == moved.net_present_cost


def test_shares_by_use_follow_the_hours():
    answer = plan(relay(), shares="use", what_if=False)
    assert answer.shares_method == "use"
    assert sum(one.share for one in answer.projects) == answer.net_present_cost
    assert all(one.without is None for one in answer.projects)
    fractions = [one.fraction for one in answer.projects]
    assert max(fractions) - min(fractions) < 0.05
    assert sum(Decimal(str(fraction)) for fraction in fractions) == 1
    for one in answer.projects:
        assert one.fraction == pytest.approx(float(one.share / answer.net_present_cost), abs=1e-6)


def test_where_a_budget_binds_the_last_in_priority_waits():
    request = relay(3, 24)
    for i, one in enumerate(request["projects"]):
        one["priority"] = 3 - i
    answer = plan(request, limits={"total_budget": 450_000, "capex_budget": 0})

    assert [one.name for one in answer.projects if one.waits] == ["project 0"]
    assert answer.feasible
    assert answer.cost_of_waiting is not None
    assert "project 0 waits" in answer.why_not[0]
    waiting = answer.project("project 0")
    assert waiting.share is None
    assert waiting.explanation.startswith("It waits")
    served = [one for one in answer.projects if not one.waits]
    assert sum(one.share for one in served) == answer.net_present_cost


def test_a_server_of_one_project_serves_the_others():
    request = relay(2, 24)
    owned = [{"server": "hgx-h100-8", "units": 1, "bought": "2026-06"}]
    without = plan(request)
    request["projects"][0]["already_owned"] = owned
    held = plan(request)

    assert held.net_present_cost < without.net_present_cost
    used_by = {u.project for u in held.uses if u.shared}
    assert used_by == {"project 0", "project 1"}
    assert sum(one.share for one in held.projects) == held.net_present_cost
    assert [(one.action, one.project) for one in held.orders] == [("keep", "")]
    assert held.headline.startswith("Keep 1 × HGX H100 server")


def test_projects_of_different_places_share_what_both_may_use():
    request = relay(2, 36)
    request["projects"][0]["constraints"] = {"providers": ["aws"]}
    request["projects"][1]["constraints"] = {"providers": ["gcp"]}
    answer = plan(request)
    rented = {
        (line.project, line.provider) for line in answer.lines if line.project and line.provider
    }
    assert rented <= {("project 0", "aws"), ("project 1", "gcp")}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"projects": []}, "projects"),
        ({"projects": [project("a", burst(12, 0, 2)), project("a", burst(12, 3, 2))]},
         "projects.1.name"),
        ({"projects": [project("a", burst(12, 0, 2), constraints={"monthly_budget": 5})]},
         "projects.0.constraints.monthly_budget"),
        ({"projects": [project("a", burst(12, 0, 2), priority=0)]}, "projects.0.priority"),
        ({"projects": [project("a", burst(6, 0, 2))]}, "projects.0.workload.hours_per_month"),
        ({"projects": [project("a", burst(12, 0, 2), included=False)]}, "projects"),
        ({"projects": [project("a", burst(12, 0, 2),
                               window={"start": "2027-01", "deadline": "2029-01"})]},
         "projects.0.window"),
        ({"projects": [project("a", burst(12, 0, 2),
                               window={"start": "2027-01", "deadline": "2027-06",
                                       "max_accelerators": 0.5})]},
         "projects.0.window.max_accelerators"),
        ({"on_prem": {"already_owned": [{"server": "hgx-h100-8", "units": 1,
                                         "bought": "2026-06"}]}},
         "on_prem.already_owned"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_field(change, field):
    request = {**relay(2, 12), **change}
    with pytest.raises(InvalidInput) as refusal:
        plan(request)
    assert refusal.value.field == field


def test_an_answer_is_read_back_from_its_json(answer):
    assert PortfolioAnswer.model_validate(answer.to_json()) == answer


def test_months_count_from_the_start(answer):
    assert answer.month(0) == dt.date(2027, 1, 1)
    assert len(answer.months) == answer.horizon_months


def test_where_the_work_is_over_shares_follow_use_and_the_answer_says_so():
    work = WorkMeter(140_000)
    answer = plan_portfolio(relay(), bundled_catalog(), today=TODAY, work=work)
    assert answer.shares_method == "use"
    assert sum(one.share for one in answer.projects) == answer.net_present_cost
    assert any("shares follow use" in warning for warning in answer.warnings)


def test_a_request_that_leaves_no_room_for_a_plan_is_refused():
    with pytest.raises(TooMuchWork, match="4 projects over 36 months"):
        plan_portfolio(relay(), bundled_catalog(), today=TODAY, work=WorkMeter(20_000))


def test_payments_that_come_later_cost_every_part_as_they_do_apart():
    request = relay(2, 24)
    request["projects"][0]["already_owned"] = [
        {"server": "hgx-h100-8", "units": 1, "bought": "2026-06"}
    ]
    finance = {"cash_timing": "month_end", "payment_terms_days": 60}
    answer = plan(request, finance=finance)
    assert answer.gap <= 0.006
    assert sum(one.share for one in answer.projects) == answer.net_present_cost


@pytest.mark.parametrize(
    ("start", "own", "in_plan"),
    [
        ("2026-11", [9.0, 9.0, 1000.0, 2000.0, 0.0, 0.0], [1000.0, 2000.0, 0.0, 0.0]),
        ("2027-03", [3000.0, 500.0], [0.0, 0.0, 3000.0, 500.0]),
    ],
)
def test_work_that_begins_before_or_after_the_plan_keeps_its_months(start, own, in_plan):
    def of(hours, **fields):
        work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": hours}
        request = {"start": "2027-01", "horizon_months": 4, "what_if": False}
        return {**request, "projects": [project("a", work, **fields)]}

    assert plan(of(own, start=start)) == plan(of(in_plan))


@pytest.mark.parametrize("start", ["2026-11", "2027-02"])
def test_runs_that_begin_before_or_after_the_plan_are_planned(start):
    runs = [{"start": start, "deadline": "2027-04", "count": 4}]
    work = {"kind": "training", "parameters": 7e9, "tokens": 2e10, "runs": runs}
    request = {"start": "2027-01", "horizon_months": 6, "what_if": False}
    answer = plan({**request, "projects": [project("a", work, start=start)]})
    assert answer.projects[0].share > 0


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("2026-11", "workload: is over before the plan begins"),
        ("2028-01", "start: 2028-01 is after the plan"),
        ("2010-01", "start: 2010-01 is 204 months before the plan; allowed are 120"),
    ],
)
def test_work_with_no_month_in_the_plan_is_refused(start, words):
    work = {"kind": "accelerator_hours", "accelerator": "H100"}
    work["hours_per_month"] = [100] + [0] * (5 if start == "2026-11" else 0)
    request = {"start": "2027-01", "horizon_months": 4}
    with pytest.raises(InvalidInput, match=words):
        plan({**request, "projects": [project("a", work, start=start)]})


def test_a_plan_that_begins_before_today_says_so(answer):
    before = "The plan begins before today"
    assert not any(before in warning for warning in answer.warnings)
    later = TODAY.replace(year=TODAY.year + 10)
    late = plan_portfolio(relay(2, 6), bundled_catalog(), today=later)
    assert any(before in warning for warning in late.warnings)


STEADY = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5000}
YEAR = {"start": "2027-01", "horizon_months": 12, "on_prem": {"servers": []}, "what_if": False}


def test_a_project_that_nobody_can_serve_is_told_from_one_that_waits():
    large = project("large", STEADY, constraints={"min_accelerator_memory_gib": 5000})
    together = plan({**YEAR, "projects": [project("plain", STEADY), large]})
    refused = together.project("large")
    assert refused.explanation.startswith("It is not served: even on its own, no plan keeps to")
    assert together.why_not[0].startswith("large has no plan of its own: ")
    assert together.project("plain").share == together.net_present_cost


def test_a_window_that_holds_none_of_the_work_is_told():
    hours = {**STEADY, "hours_per_month": [0] * 6 + [5000] * 6}
    late = project("late", hours, window={"start": "2027-01", "deadline": "2027-03"})
    together = plan({**YEAR, "projects": [late]})
    assert any("No hours of late fall into the months" in text for text in together.warnings)


def test_equal_projects_pay_the_same():
    together = plan({**YEAR, "projects": [project("one", STEADY), project("two", STEADY)]})
    one, two = together.projects
    assert one.share == pytest.approx(two.share, abs=Decimal("0.01"))  # an odd cent is one's
    assert one.share <= one.alone


def test_a_share_above_what_a_project_pays_alone_is_called_so(answer):
    one = answer.projects[0]
    dearer = one.model_copy(update={"saving": -one.saving})
    assert f"{one.saving:,.0f} USD more than the" in explain_share(answer, dearer)


def test_limits_that_all_plans_keep_to_cost_no_share_a_cent():
    quota = {"provider": "aws", "accelerator": "H100", "max_accelerators": 0}
    pair = [project("one", STEADY), project("two", STEADY)]
    together = plan({**YEAR, "projects": pair, "limits": {"quotas": [quota]}})
    assert together.net_present_cost == together.apart
    assert all(one.share == one.alone for one in together.projects)
