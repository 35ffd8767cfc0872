"""Portfolios that a team keeps: approved, and seen by whoever may."""

import csv
import datetime as dt
import io
import json
from decimal import Decimal

import pytest
import time_machine
from django.core.exceptions import PermissionDenied

from planner.contract.request.portfolio import read_portfolio
from planner.exports.saved_context import team_focus
from planner.models import AuditEntry, Role, SavedPortfolio, State
from planner.portfolio.preparation import PortfolioPreparation
from planner.services.actuals import actuals
from planner.services.actuals.actuals import list_charges
from planner.services.portfolio import portfolios
from planner.services.portfolio.portfolios import describe_past, portfolio_of_projects
from planner.services.projects import projects
from planner.services.teams.access import WrongStateError
from pricing.common.invalid_input import InvalidInput
from tests.planner.costing.market_of import CATALOG
from tests.planner.workspace import H100, PLAIN, WORKLOAD

pytestmark = pytest.mark.django_db


def two_projects(work):
    return [work.project(name="speech"), work.project(name="vision")]


def saved_of(work, **values):
    return work.portfolio(request=portfolio_of_projects(work.team, two_projects(work)), **values)


def test_the_request_of_a_team_puts_projects_on_one_calendar(work):
    later = {**PLAIN, "start": "2027-04", "horizon_months": 3}
    hours = {**WORKLOAD, "hours_per_month": [100, 200, 300]}
    rows = [work.project(name="a"), work.project(name="b", assumptions=later, workload=hours)]
    request = portfolio_of_projects(work.team, rows, [str(rows[1].pk)])

    assert (request["start"], request["horizon_months"]) == ("2027-01", 6)
    first, second = request["projects"]
    assert first["workload"]["hours_per_month"] == [4000] * 6
    assert second["workload"]["hours_per_month"] == [0, 0, 0, 100, 200, 300]
    assert second["workload"]["peak_accelerators"] == [0, 0, 0, 8, 8, 8]
    assert [one["included"] for one in request["projects"]] == [False, True]


@time_machine.travel("2027-03-10")
def test_months_that_are_over_count_as_done(work):
    begun = {**PLAIN, "start": "2027-02", "horizon_months": 6}
    hours = {**WORKLOAD, "hours_per_month": [100, 200, 300, 400, 500, 600]}
    over = {**PLAIN, "start": "2026-10", "horizon_months": 6}
    done = {**WORKLOAD, "hours_per_month": [900, 0, 0, 0, 0, 0]}
    rows = [
        work.project(name="begun", assumptions=begun, workload=hours),
        work.project(name="over", assumptions=over),
        work.project(name="done", assumptions=begun, workload=done),
    ]
    request = portfolio_of_projects(work.team, rows)
    assert (request["start"], request["horizon_months"]) == ("2027-04", 4)
    assert [one["name"] for one in request["projects"]] == ["begun"]
    assert request["projects"][0]["workload"]["hours_per_month"] == [300, 400, 500, 600]
    assert describe_past(rows) == (
        "The plan begins in April 2027. Months before it count as done, of begun. "
        "over and done are left out, as they end before April 2027."
    )
    assert describe_past([]) == ""
    with pytest.raises(InvalidInput, match="every project ends before April 2027"):
        portfolio_of_projects(work.team, rows[1:])


@time_machine.travel("2027-03-10")
def test_sized_work_that_runs_already_is_planned_for_what_is_left_of_it(work):
    runs = [
        {"start": "2026-08", "deadline": "2026-12"},
        {"start": "2027-02", "deadline": "2027-05"},
    ]
    training = {"kind": "training", "parameters": 7e9, "tokens": 2e11, "accelerator": H100}
    begun = {**PLAIN, "start": "2026-08", "horizon_months": 12}
    row = work.project(assumptions=begun, workload={**training, "runs": runs})
    request = portfolio_of_projects(work.team, [row])
    (entry,) = request["projects"]
    whole = {**request, "start": "2026-08", "horizon_months": 12}
    of_all, of_rest = (
        PortfolioPreparation(read_portfolio(one), CATALOG, dt.date(2027, 3, 10))
        .projects[0]
        .alone.demand
        for one in (whole, request)
    )

    assert (request["start"], entry["start"]) == ("2027-04", "2026-08")
    assert of_rest.hours_per_month.tolist() == of_all.hours_per_month.tolist()[8:]
    assert of_rest.hours_per_month[:3].tolist() == [of_rest.hours_per_month[0]] * 2 + [0]


def test_budgets_of_a_project_are_left_out_of_the_plan_for_all(work):
    limits = {"monthly_budget": 5, "providers": ["aws"]}
    project = work.project(assumptions={**PLAIN, "constraints": limits})
    request = portfolio_of_projects(work.team, [project])
    assert request["projects"][0]["constraints"] == {"providers": ["aws"]}


def test_approvers_and_who_saved_it_see_a_plan_and_others_where_it_is_shown_to_all(work):
    def seen_by(saved):
        rows = SavedPortfolio.objects.filter(pk=saved.pk)
        return {role for role in Role if rows.for_access(work.access(role))}

    deciders = {Role.APPROVER, Role.OWNER}
    assert seen_by(work.portfolio()) == deciders
    assert seen_by(work.portfolio(role=Role.EDITOR)) == deciders | {Role.EDITOR}
    assert seen_by(work.portfolio(shown_to_all=True)) == set(Role)


def test_an_approval_takes_two_people_and_supersedes_the_one_before(work):
    first = saved_of(work)
    portfolios.approve_portfolio(work.access(Role.APPROVER), first)
    second = work.portfolio(role=Role.EDITOR)
    approved = portfolios.approve_portfolio(work.access(Role.APPROVER), second)

    assert approved.state == State.APPROVED
    assert SavedPortfolio.objects.get(pk=first.pk).state == State.SUPERSEDED
    with pytest.raises(WrongStateError):
        portfolios.delete_portfolio(work.access(), approved)
    actions = AuditEntry.objects.filter(object_type="savedportfolio").values_list(
        "action", flat=True
    )
    assert set(actions) == {
        "saved_portfolio.created",
        "saved_portfolio.approved",
        "saved_portfolio.superseded",
    }


def test_nobody_but_an_owner_approves_what_they_saved_themselves(work):
    own = work.portfolio(role=Role.APPROVER)
    with pytest.raises(WrongStateError, match="You saved it"):
        portfolios.approve_portfolio(work.access(Role.APPROVER), own)
    with pytest.raises(PermissionDenied):
        portfolios.approve_portfolio(work.access(Role.EDITOR), own)


@pytest.mark.parametrize("is_shown", [False, True])
def test_a_team_s_feed_has_the_approved_plan_for_all_that_everybody_sees(work, is_shown):
    project, owner = work.project(name="A", cost_centre="4711"), work.access()
    projects.approve(owner, projects.submit(owner, work.saved(project)))
    saved = work.portfolio(shown_to_all=is_shown)
    total = portfolios.approve_portfolio(owner, saved).read_answer().total_cost
    feed = list(csv.DictReader(io.StringIO(team_focus(work.team, None).decode())))
    tags = [json.loads(row["Tags"]) for row in feed]
    assert {(one["project"], one["cost_centre"]) for one in tags} == {("A", "4711")}
    for column in ("BilledCost", "EffectiveCost") if is_shown else ():
        assert sum(Decimal(row[column]) for row in feed) == total
    assert {bool(row["x_State"]) for row in feed} == {not is_shown}


CREDIT = {"label": "Grant", "amount": 5000, "provider": "aws", "expires": "2027-05"}


def test_a_project_with_credits_is_refused_by_name_unless_it_is_left_out(work):
    credits = {**PLAIN, "existing": {"credits": [CREDIT]}}
    rows = [work.project(name="granted", assumptions=credits), work.project(name="plain")]
    told = (
        "granted has credits, which a joint plan cannot count; untick the project or leave it out"
    )
    with pytest.raises(InvalidInput, match=told):
        portfolio_of_projects(work.team, rows)
    request = portfolio_of_projects(work.team, rows, [str(rows[1].pk)])
    assert [one["included"] for one in request["projects"]] == [False, True]


@pytest.mark.parametrize("place", ["", "projects.0."])
@pytest.mark.parametrize("field", ["existing", "credits", "minimum_spend"])
def test_what_a_joint_plan_cannot_count_is_refused_with_what_to_do(place, field):
    extra = {field: {"credits": [CREDIT]} if field == "existing" else [CREDIT]}
    project = {"name": "speech", "workload": WORKLOAD, **(extra if place else {})}
    with pytest.raises(InvalidInput, match="cannot be counted in a joint plan") as refused:
        read_portfolio({"projects": [project], **({} if place else extra)})
    assert refused.value.field == f"{place}{field}"


SIGNED = {
    "label": "Model A: p5.48xlarge in us-east-1, reserved 12 months, no upfront, 2027-01",
    "provider": "aws",
    "region": "us-east-1",
    "accelerator": H100,
    "accelerator_count": 8.0,
    "units": 2,
    "price_per_month": "24820.00",
    "ends": "2027-12",
}
BOUGHT = {"server": "hgx-h100-8", "units": 1, "bought": "2027-01"}


@pytest.mark.parametrize(
    ("on_prem", "part", "entry"),
    [({}, "already_owned", BOUGHT | {"units": 2}), ({"servers": []}, "commitments", SIGNED)],
)
def test_what_an_approved_plan_buys_or_signs_is_there_for_all(work, on_prem, part, entry):
    """Of the terms that follow one another only the first is signed."""
    options = {"purchase_options": ["reserved", "on_demand"] if on_prem else ["on_demand"]}
    long = {**PLAIN, "horizon_months": 48, "constraints": options, "on_prem": on_prem}
    two = {**WORKLOAD, "hours_per_month": 11000, "peak_accelerators": 16}
    project = work.project(assumptions=long, workload=two)
    saved = work.saved(project)

    def held():
        (row,) = portfolio_of_projects(work.team, [project])["projects"]
        return {name: row[name] for name in ("already_owned", "commitments", "leased_servers")}

    none = {"already_owned": [], "commitments": [], "leased_servers": []}
    assert held() == none
    projects.approve(work.access(), projects.submit(work.access(), saved))
    assert held() == none | {part: [entry]}
    read_portfolio(portfolio_of_projects(work.team, [project]))  # which the joint plan accepts

    stated = {"server": "hgx-h100-8", "units": 2, "bought": "2026-06"}
    project.assumptions = {**long, "on_prem": {**on_prem, "already_owned": [stated]}}
    assert held() == none | {"already_owned": [stated]}, "what is stated anew is believed alone"


def test_what_approved_joint_plans_bought_is_not_ordered_again_nor_counted_twice(work):
    """And the plan of a project that says the same adds nothing."""
    owning = {**PLAIN, "horizon_months": 48, "constraints": {"purchase_options": ["on_demand"]}}
    hours = {**WORKLOAD, "hours_per_month": 5500}
    rows = [work.project(name=name, assumptions=owning, workload=hours) for name in "ab"]
    own = projects.submit(work.access(), work.saved(rows[0]))

    def plan():
        saved = work.portfolio(request=portfolio_of_projects(work.team, rows))
        held = [one["already_owned"] for one in saved.request["projects"]]
        orders = [one for one in saved.read_answer().purchases if one.kind == "server"]
        return portfolios.approve_portfolio(work.access(), saved), held, orders

    _, held, orders = plan()
    assert (held, [(one.month, one.units) for one in orders]) == ([[], []], [(0, 2)])
    projects.approve(work.access(), own)
    with time_machine.travel("2027-01-20"):
        for _ in range(2):  # the first plan is superseded in between
            _, held, orders = plan()
            assert (held, orders) == ([[BOUGHT], [BOUGHT]], [])
        stated = [{**BOUGHT, "units": 2}]
        rows[0].assumptions = {**owning, "on_prem": {"already_owned": stated}}
        entries = portfolio_of_projects(work.team, rows)["projects"]
    assert [one["already_owned"] for one in entries] == [stated, []], "stated anew counts alone"


def test_what_plans_bought_stays_owned_once_another_replaces_them_or_their_project_ends(work):
    """Orders of months that the later plan plans anew count once, those before it stand."""
    owning = {**PLAIN, "horizon_months": 48, "constraints": {"purchase_options": ["on_demand"]}}
    hours = {**WORKLOAD, "hours_per_month": 5500}
    project, other = (work.project(name=n, assumptions=owning, workload=hours) for n in "ab")

    def approve():
        saved = projects.submit(work.access(), work.saved(project))
        projects.approve(work.access(), saved)

    def owned(rows):
        return [one["already_owned"] for one in portfolio_of_projects(work.team, rows)["projects"]]

    approve()
    with time_machine.travel("2027-01-10"):
        approve()
        assert owned([project, other]) == [[BOUGHT], []], "the same months, planned again"
    with time_machine.travel("2027-03-10"):
        project.assumptions = {**owning, "start": "2027-04"}
        project.save()
        approve()
        both = [{**BOUGHT, "bought": "2027-04"}, BOUGHT]
        assert owned([project, other]) == [both, []]
        project.assumptions = {**owning, "start": "2027-01", "horizon_months": 2}
        project.save()
        assert owned([project, other]) == [both]
        project.archived = True
        project.save()
        assert owned([other]) == [both]


def test_metered_hours_at_the_rate_card_stand_against_what_was_paid(work):
    saved, row = work.portfolio(), work.project(name="A")
    answer = saved.read_answer()
    assert list_charges(work.team, answer) == []
    paid = io.BytesIO(b"month,cost,hours\n2027-01,31000.50,500\n2019-01,7,7\n")
    actuals.load_actuals(work.access(), row, paid)
    [one] = list_charges(work.team, answer)
    [rate] = [card.cost_per_hour for card in answer.rate_card if card.kind == "all"]
    assert (one.accelerator_hours, one.paid) == (500, Decimal("31000.50"))
    assert float(one.charged) == pytest.approx(500 * rate, abs=0.01)
    assert one.difference == one.charged - one.paid
