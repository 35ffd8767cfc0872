"""The range of a portfolio's total: as planned to the cent, as in comparisons, and shared."""

import io
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import openpyxl
import pytest

from planner.commands.tables import portfolio_tables
from planner.comparison import compare
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.risk import Cause
from planner.contract.request.portfolio import read_portfolio
from planner.costing.analysis.outcomes import PriceDrivers, planned_outcomes
from planner.costing.choice import round_to_error
from planner.costing.optimizer.work import WorkMeter
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from planner.portfolio.books import JointBudgets
from planner.portfolio.portfolio import plan_portfolio
from planner.portfolio.preparation import PortfolioPreparation
from planner.portfolio.results import PortfolioResults
from planner.portfolio.risk import JointLeaf, PortfolioSimulation, ProjectDraws
from planner.portfolio.words import NO_PLAN, TOO_LITTLE_WORK
from pricing.bundled.catalog import bundled_catalog
from tests.planner.portfolio.portfolios import H100, TODAY, burst, project, relay

CATALOG = bundled_catalog()
WINDOW = {"start": "2027-05", "deadline": "2029-06"}


def moving() -> dict[str, Any]:
    """A relay in which the hours of one project may move."""
    request = relay(3)
    request["projects"][1]["window"] = WINDOW
    return request


def less_than_a_node() -> dict[str, Any]:
    """The same with less at work at once than a node has."""
    request = moving()
    request["projects"][1]["window"] = {**WINDOW, "max_accelerators": 4}
    return request


def with_data() -> dict[str, Any]:
    """A relay in which one project stores data and carries some out."""
    request = relay(3)
    request["projects"][0]["data"] = {"storage_gib": 50_000, "egress_gib_per_month": 2_000}
    return request


def moving_in_part() -> dict[str, Any]:
    """Work all year that may move in some months alone, beside another project's."""
    work = {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 900}
    first = project("first", {**work, "hours_per_month": 3000, "peak_accelerators": 8})
    window = {"start": "2027-03", "deadline": "2028-06"}
    last = project("last", {**work, "peak_accelerators": 4}, window=window)
    return {"start": "2027-01", "horizon_months": 24, "projects": [first, last]}


def side_by_side(count: int = 3) -> dict[str, Any]:
    """Two years of work of several projects, begun one after the other."""
    projects = [project(f"p{i}", burst(36, 1 + 3 * i, 24, 12 if i else 20)) for i in range(count)]
    return {"start": "2027-01", "horizon_months": 36, "projects": projects}


def rented(count: int) -> dict[str, Any]:
    """Projects of half a year, each of which rents for itself at a price that seldom moves."""
    listed = {"providers": ["aws"], "purchase_options": ["on_demand"]}
    projects = [project(f"p{i}", burst(12, 2, 6), constraints=listed) for i in range(count)]
    return {"start": "2027-01", "horizon_months": 12, "projects": projects}


def simulated(request: dict[str, Any]) -> tuple[PortfolioResults, PortfolioSimulation]:
    preparation = PortfolioPreparation(read_portfolio(request), CATALOG, TODAY)
    results = PortfolioResults(preparation, WorkMeter(2_000_000_000))
    assert results.plan is not None
    return results, PortfolioSimulation(results.plan.books)


def answer(request: dict[str, Any], **fields: Any) -> PortfolioAnswer:
    return plan_portfolio({**request, "what_if": False}, CATALOG, today=TODAY, **fields)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("request_of", "is_joint"),
    [
        (relay(), True),
        (moving(), True),
        (side_by_side(), True),
        (rented(3), False),
        (moving_in_part(), True),
        (less_than_a_node(), True),
        (with_data(), True),
        (relay(3, finance={"tax_rate": 0.3, "discount_rate_per_year": 0.2}), True),
    ],
)
def test_an_outcome_as_planned_costs_the_plan(request_of: dict[str, Any], is_joint: bool) -> None:
    results, simulation = simulated(request_of)
    assert results.plan is not None
    books = results.plan.books
    assert (books.shared is not None) == is_joint
    lines = sum(len(part.lines) for part in books.parts)
    present, total = simulation.cost(simulation.as_planned())[:, 0]
    assert present == pytest.approx(float(books.net_present_cost), abs=0.005 * lines)
    assert total == pytest.approx(float(books.total_cost), abs=0.005 * lines)


def test_one_project_has_the_range_of_its_comparison() -> None:
    request = relay(1)
    alone = {**request, "workload": request["projects"][0]["workload"]}
    alone |= {"sensitivity": False, "cheaper_if": False}
    del alone["projects"]
    verdict = compare(alone, CATALOG, today=TODAY).verdict
    ends = answer(request).range
    assert verdict is not None
    assert verdict.range is not None
    assert ends is not None
    wide = float(verdict.range.p90 - verdict.range.p10)
    assert float(ends.p10) == pytest.approx(float(verdict.range.p10), abs=0.05 * wide)
    assert float(ends.p90) == pytest.approx(float(verdict.range.p90), abs=0.05 * wide)


def test_one_project_on_joint_machines_costs_what_it_does_on_its_own() -> None:
    """The same plan seen both ways, in the same outcomes."""
    results, alone = simulated(relay(1))
    member = results.preparation.projects
    joint, _ = JointBudgets(results.plans.joint(member)).search(results.work)
    assert joint is not None
    assert results.plan is not None
    assert joint.total_cost == results.plan.books.total_cost
    shared = PortfolioSimulation(joint)
    ones, others = (np.sort(s.cost(s.draw(1_000))[1]) for s in (alone, shared))
    assert others == pytest.approx(ones, rel=1e-6)


def test_independent_projects_widen_the_range_less_than_in_proportion() -> None:
    (_, one), (_, four) = simulated(rented(1)), simulated(rented(4))
    spreads = [np.ptp(np.percentile(s.cost(s.draw(2_000))[1], (10, 90))) for s in (one, four)]
    assert spreads[0] < spreads[1] < 3 * spreads[0]


def test_delays_of_projects_are_independent() -> None:
    _, simulation = simulated(rented(2))
    first, second = (d.outcomes for d in simulation.draw(2_000))
    assert abs(np.corrcoef(first.slip, second.slip)[0, 1]) < 0.1
    assert abs(np.corrcoef(first.level, second.level)[0, 1]) < 0.1
    assert second.prices is first.prices


def test_machines_that_others_need_less_are_taken_over() -> None:
    """Without handing over, each would rent while nodes of the others idle."""
    results, simulation = simulated(side_by_side())
    assert results.plan is not None
    draws = simulation.draw(500)
    shared = simulation.cost(draws)[1]
    stuck = PortfolioSimulation(results.plan.books)
    for leaf in stuck._leaves:
        assert isinstance(leaf, JointLeaf)
        for view in leaf.projects:
            vars(view)["keys"] = ()
    assert (stuck.cost(draws)[1] >= shared * 0.9999).mean() > 0.95
    assert stuck.cost(draws)[1].mean() > shared.mean() * 1.005


def test_the_answer_says_how_sure_it_is() -> None:
    today = answer(relay())
    ends = today.range
    assert ends is not None
    assert today.why_no_range == ""
    assert ends.p10 < ends.p50 < ends.p90
    assert (ends.samples, ends.holds) == (2_000, True)
    error = float(today.standard_error or 0)
    low, high = (f"{round_to_error(float(one), error):,.0f}" for one in (ends.p10, ends.p90))
    assert f" ({low} to {high}) for 4 projects" in today.headline


def test_an_answer_without_a_plan_says_that_nothing_varies() -> None:
    none = answer({**rented(1), "limits": {"total_budget": 1}})
    assert (none.feasible, none.range, none.why_no_range) == (False, None, NO_PLAN)
    assert f"The total has no range. {NO_PLAN}" in " ".join(portfolio_tables(none).split())


def test_the_demand_of_all_weighs_projects_by_their_accelerators() -> None:
    """One node of eight whose work doubles counts for eight, two of one for two."""
    growths, nodes = (2.0, 1.0), ({"eight": 1.0}, {"one": 2.0})
    sizes = {"eight": SimpleNamespace(accelerators=8.0), "one": SimpleNamespace(accelerators=1.0)}
    sized = SimpleNamespace(by_key=sizes)
    projects, draws = [], []
    for growth, held in zip(growths, nodes, strict=True):
        allotted = {key: np.full(3, n) for key, n in held.items()}
        projects.append(SimpleNamespace(allotted=allotted, inputs=sized))
        drivers = PriceDrivers((), {})
        outcomes = replace(planned_outcomes(drivers, 3), growth=np.full((1, 3), growth))
        draws.append(ProjectDraws(drivers, outcomes))
    inputs = SimpleNamespace(calendar=SimpleNamespace(months=3))
    books: Any = SimpleNamespace(inputs=[inputs])
    joint = JointLeaf(books, None, tuple(projects))  # type: ignore[arg-type]
    assert joint.outcomes_of_all(draws).growth.tolist() == [[pytest.approx(1.8)] * 3]


def test_hours_that_move_in_some_months_take_over_servers_of_others() -> None:
    """A month outside the window has no hours of a node to count with."""
    request = moving_in_part()
    server = {"server": "hgx-h100-8", "units": 1, "bought": "2026-06"}
    request["projects"][0]["already_owned"] = [server]
    results, simulation = simulated(request)
    assert results.plan is not None
    planned = simulation.cost(simulation.as_planned())[1, 0]
    assert planned == pytest.approx(float(results.plan.books.total_cost), abs=1)
    low, high = np.percentile(simulation.cost(simulation.draw(500))[1], (10, 90))
    assert low < planned < high


def test_command_and_workbook_tell_the_range() -> None:
    planned = answer(rented(2))
    ends = planned.range
    assert ends is not None
    told = " ".join(portfolio_tables(planned).split())
    error = float(planned.standard_error or 0)
    low, high = (round_to_error(float(end), error) for end in (ends.p10, ends.p90))
    assert f"USD ({low:,.0f} to {high:,.0f})" in told
    book = openpyxl.load_workbook(io.BytesIO(PORTFOLIO_FORMATS["xlsx"].make(planned)))
    summary = {row[0]: row[1] for row in book["Summary"].values}
    assert summary["Total, p10 of simulated cases, USD"] == pytest.approx(float(ends.p10))
    assert planned.expected is not None
    assert summary["Expected cost, USD"] == pytest.approx(float(planned.expected))
    assert planned.total_cost + sum(planned.risk_allowance.values()) == planned.expected
    assert [*planned.risk_allowance] == [one for one in Cause if one is not Cause.END]
    shown = round_to_error(float(planned.expected), error)
    assert f": expect {shown:,.0f} USD (" in planned.headline


def test_without_work_for_outcomes_the_answer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.portfolio.results.RANGE_SHARE", 0.0)
    bare = answer(rented(2))
    assert (bare.range, bare.why_no_range) == (None, TOO_LITTLE_WORK)
