"""What the first screen of an answer says before anything is unfolded."""

from typing import Any

from planner.comparison import compare
from planner.contract.figures import reserved_ahead
from planner.web.answer.charts import categories
from planner.web.answer.verdict import short_title
from pricing.bundled.catalog import bundled_catalog
from tests.bench.bench_compare import TODAY
from tests.golden.answers import answered
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer
from tests.planner.web.asking import HOURS, TRAINING, get, text


def test_a_start_that_is_over_is_refused(client: Any, prices: Any) -> None:
    page = text(get(client, "plan", HOURS | {"start": "2019-01"}))
    assert "2019-01 is over: today is " in page
    assert 'class="decision"' not in page
    assert "is over: today" not in text(get(client, "plan", HOURS | {"start": "2031-01"}))


def test_more_machines_than_clouds_keep_ready_have_to_be_secured(client: Any, prices: Any) -> None:
    busy = {"start": "2031-01", "workload.hours_per_month": str(40 * 5840)}
    many = text(get(client, "plan", HOURS | busy | {"workload.peak_accelerators": "320"}))
    few = text(get(client, "plan", HOURS | {"start": "2031-01"}))
    assert "Secure capacity first: no cloud keeps 40 × " in many
    assert "Secure capacity first" not in few


HUGE = TRAINING | {
    "workload.parameters~bn": "10000",
    "workload.tokens~bn": "100",
    "cheaper_if": "false",
    "sensitivity": "false",
}
FAR = "10 trillion parameters are 19 times as many as in the largest published training"


def test_work_beyond_every_published_run_is_said_before_the_advice(
    client: Any, prices: Any
) -> None:
    page = text(get(client, "plan", HUGE | {"start": "2031-01"}))
    assert page.index(FAR) < page.index('class="card verdict')
    assert FAR in text(get(client, "plan-live", HUGE))
    assert FAR in text(get(client, "plan-accelerators", HUGE))
    assert "does not hold here" not in text(get(client, "plan-accelerators", TRAINING))


def test_what_is_paid_ahead_is_what_the_decision_says_to_sign() -> None:
    """The support plan and the staff of a reservation are no part of its invoice."""
    weeks = {"kind": "accelerator_hours", "accelerator": "nvidia-b200", "hours_per_month": 5840}
    asked = {"start": "2027-01", "horizon_months": 1, "workload": weeks, "cheaper_if": False}
    answer = compare(asked, bundled_catalog(), today=TODAY)
    shown = reserved_ahead(answer)
    plan = answer.by_key[answer.recommendation.scenario]
    ahead = sum(line.amount for line in plan.lines if line.category == "upfront")
    assert shown == ahead


def test_a_range_that_does_not_hold_is_not_called_8_of_10_cases_below_the_table(
    client: Any, prices: Any
) -> None:
    """A model of four times the parameters of any published run."""
    shown = text(get(client, "plan", TRAINING | {"workload.parameters~bn": "2000"}))
    words = "The range does not hold here, as the work is far from every published run"
    assert f"The bar is the range of published runs. {words}" in shown
    assert "in 8 of 10 simulated cases" not in shown
    held = text(get(client, "plan", TRAINING))
    assert "The bar is where it lies in 8 of 10 simulated cases." in held


def test_a_plan_is_named_by_the_months_in_which_it_pays():
    work = {"kind": "training", "parameters": 7e9, "tokens": 1e10, "accelerator": "H100"}
    found = compared(catalog(offer("50")), workload=work, on_prem={"servers": []})
    assert found.answer.horizon_months == 24
    assert short_title(found.answer) == "Rent, 1 month from January 2027"
    later = work | {"runs": [{"start": "2027-03", "deadline": "2027-04"}]}
    found = compared(catalog(offer("50")), workload=later, on_prem={"servers": []})
    assert short_title(found.answer) == "Rent, 2 months from March 2027"


def test_a_plan_is_named_by_all_that_it_does():
    answer = compared(catalog(offer("50")), on_prem={"servers": []}).answer
    (rent,) = answer.verdict.decision

    def named(*actions: str) -> str:
        parts = tuple(rent.model_copy(update={"action": one}) for one in actions)
        verdict = answer.verdict.model_copy(update={"decision": parts})
        return short_title(answer.model_copy(update={"verdict": verdict})).rpartition(",")[0]

    assert named("rent", "rent") == "Rent"
    assert named("buy", "rent") == "Buy and rent"
    assert named("keep", "lease", "buy", "rent") == "Keep what is there, lease, buy and rent"


def test_servers_that_do_all_the_work_leave_no_rent_to_pay():
    owned = [{"server": "hgx-h100-8", "units": 1, "bought": "2026-07"}]
    found = compared(catalog(offer("50")), hours=3000, horizon_months=12,
                     on_prem={"servers": [], "already_owned": owned})  # fmt: skip
    assert found.answer.verdict.capital_to_approve is None
    assert short_title(found.answer) == "Keep what is there, 12 months from January 2027"


def test_a_scenario_of_many_times_the_cost_leaves_the_others_their_bars() -> None:
    answer = answered("samples with a range, risk")
    dear = [
        one.model_copy(update={"total_cost": one.total_cost * 50})
        if one.feasible and one.key == "on_prem"
        else one
        for one in answer.scenarios
    ]
    chart = categories(answer.model_copy(update={"scenarios": tuple(dear)}))
    assert "On-prem" in categories(answer).x
    assert "On-prem" not in chart.x
    assert "On-prem costs " in chart.summary
    assert "is not drawn" in chart.summary
