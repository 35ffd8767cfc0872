"""The plan form: the answer so far, the demand by month, the hardware chooser, long work."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlencode

import pytest
from django.http import QueryDict
from django.urls import reverse

from planner.models import Job
from planner.services.jobs import jobs
from planner.web.common.fields import find_label
from planner.web.common.plan_request import read_plan_request
from planner.web.plan.forms import PlanForm
from tests.planner.web.asking import HOURS, TRAINING, get, text

RUNS = {
    "workload.runs.0.start": "2027-01",
    "workload.runs.0.deadline": "2027-02",
    "workload.runs.1.start": "2027-05",
}
MANY = {**HOURS, "risk.samples": "150000"}


def test_an_answer_can_be_changed_in_the_form(client, prices):
    page = text(get(client, "plan", {**HOURS, "edit": "1"}))
    assert 'id="plan-form"' in page
    assert 'value="4000"' in page or "> 4000</textarea>" in page
    assert 'name="edit"' not in page


def test_the_form_keeps_what_it_has_no_box_for(client, prices):
    page = text(get(client, "plan", {**HOURS, "constraints.interconnect": "nvlink", "edit": "1"}))
    assert '<input type="hidden" name="constraints.interconnect" value="nvlink">' in page


def test_a_box_states_the_unit_in_which_the_address_was_written():
    cases = (("~bn", "1.5", "billion"), ("~mn", "1500", "million"), ("~tn", "0.0015", "trillion"),
             ("~k", "1500000", "thousand"), ("", "1500000000", ""))  # fmt: skip
    for scale, typed, unit in cases:
        name = f"workload.tokens{scale}"
        form = PlanForm(QueryDict(f"workload.kind=training&{name}={typed}"))
        boxes = {one.field.path: one for one in form.build_fields("training")}
        box = boxes["workload.tokens"]
        assert (box.bound.html_name, box.bound.initial, box.field.unit) == (name, typed, unit)
        assert form.hidden() == []


def test_the_panel_shows_hours_memory_and_fit(client, prices):
    live = get(client, "plan-live", TRAINING).context["live"]
    demand = live.answer.demand
    assert demand.total_hours_p10 < demand.total_hours < demand.total_hours_p90
    assert live.fit.memory_gib > 10
    assert live.fit.min_accelerators >= 1


def test_the_demand_of_the_runs_becomes_a_grid_of_months(client, prices):
    live = get(client, "plan-live", {**TRAINING, **RUNS}).context["live"]
    given = parse_qs(live.month_by_month)
    assert given["workload.kind"] == ["accelerator_hours"]
    hours = [float(one) for one in given["workload.hours_per_month"][0].split()]
    assert hours == pytest.approx([hours for _, hours, _ in live.months], rel=1e-5)
    assert not [name for name in given if name.startswith(("workload.runs", "workload.tokens"))]


def test_the_chooser_ranks_what_fits_and_says_why_the_rest_does_not(client, prices):
    response = get(client, "plan-accelerators", {**TRAINING, "workload.parameters~bn": "70"})
    rows = {row.candidate.accelerator: row for row in response.context["rows"]}
    assert rows["nvidia-h100-80gb-sxm"].candidate.rank >= 1
    assert rows["nvidia-k80"].candidate.why_not.startswith("retired")
    assert any("licence" in note for note in rows["nvidia-rtx-4090"].candidate.notes)


def test_choosing_fills_the_accelerator_of_the_form(client, prices):
    response = get(client, "plan-accelerators", TRAINING)
    row = next(
        r for r in response.context["rows"] if r.candidate.accelerator == "nvidia-h100-80gb-sxm"
    )
    page = text(client.get(f"{reverse('plan')}?{row.address}"))
    assert re.search(r'value="nvidia-h100-80gb-sxm" selected', page)


def test_the_chooser_prices_each_at_its_lowest_rate(client, prices):
    response = get(client, "plan-accelerators", TRAINING)
    rows = {row.candidate.accelerator: row for row in response.context["rows"]}
    assert rows["nvidia-h100-80gb-sxm"].usd_per_hour == pytest.approx(55.04 / 8)
    assert rows["nvidia-l4"].usd_per_hour is None


def test_the_chooser_names_who_rents_at_the_price(client, prices):
    response = get(client, "plan-accelerators", TRAINING)
    assert response.context["front"][0].place.startswith("AWS")
    assert "within its limits, in the parts of the clouds that it allows" in text(response)
    elsewhere = {**TRAINING, "constraints.regions": "eu-west-1"}
    shown = get(client, "plan-accelerators", elsewhere)
    assert not shown.context["front"]
    assert "none that this plan may take" in text(shown)


def test_the_chooser_shows_money_against_time_and_the_reasons(client, prices):
    response = get(client, "plan-accelerators", TRAINING)
    shown = text(response)
    assert "Money against time" in shown
    front = response.context["front"]
    rents = [card.candidate.rent_usd for card in front]
    hours = [card.candidate.wall_clock_hours for card in front]
    assert rents == sorted(rents)
    assert hours == sorted(hours, reverse=True)
    assert front[0].choice == "cheapest"
    assert "memory: weights are" in shown
    assert "FPGA" in shown


def test_the_chooser_says_what_is_missing(client, prices):
    missing = {"workload.kind": "training", "workload.parameters~bn": "7"}
    assert "Training tokens" in text(get(client, "plan-accelerators", missing))
    assert "Describe the workload first" in text(get(client, "plan-accelerators"))


def test_more_samples_than_a_page_waits_for_are_offered_as_a_job(client, prices):
    page = text(get(client, "plan", MANY))
    assert "take a while" in page
    assert "Run simulation" in page


def start(client, values):
    return client.post(reverse("samples-start"), {"plan": urlencode(values)})


def test_many_samples_run_as_a_job_and_end_in_the_answer(client, prices, settings):
    settings.JOBS_BACKEND = "inline"
    response = client.get(start(client, MANY)["Location"])
    assert response.context["page"].answer.risk.samples == 150_000
    assert "Assumptions" in text(response)


def test_a_waiting_job_shows_a_bar_and_can_be_cancelled(client, prices, settings):
    settings.JOBS_BACKEND = "none"
    here = start(client, MANY)["Location"]
    assert "<progress" in text(client.get(here))
    page = text(client.post(f"{here}cancel/", follow=True))
    assert "no results were kept" in page


def test_one_visitor_runs_one_at_a_time(client, prices, settings):
    settings.JOBS_BACKEND = "none"
    assert start(client, MANY)["Location"] == start(client, MANY)["Location"]
    assert Job.objects.count() == 1


def test_the_job_of_another_visitor_is_not_found(client, prices, settings):
    settings.JOBS_BACKEND = "none"
    here = start(client, MANY)["Location"]
    client.cookies.clear()
    assert client.get(here).status_code == 404


def test_a_job_that_is_asked_to_stop_ends_between_two_chunks(client, prices, settings):
    settings.JOBS_BACKEND = "none"
    start(client, MANY)
    job = Job.objects.get()
    Job.objects.update(cancel_requested=True)
    jobs.run(str(job.pk))
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert job.result is None


def test_a_request_that_is_refused_ends_the_job_with_its_reason(client, prices, settings):
    settings.JOBS_BACKEND = "inline"
    here = start(client, {**MANY, "workload.accelerator": "X9"})["Location"]
    assert "workload.accelerator" in text(client.get(here))


def test_an_amount_that_may_be_two_is_asked_about_and_a_size_takes_a_decimal_comma(client, prices):
    unclear = text(get(client, "plan", {**HOURS, "constraints.total_budget": "300.000"}))
    assert "'300.000' can be read in two ways: 300 or 300000?" in unclear
    assert get(client, "plan", {**TRAINING, "workload.model": "7,5B"}).status_code == 200


def test_a_server_s_quotes_and_late_delivery_have_boxes(client, prices):
    """What is typed reaches the request, comes back into its boxes, and is refused beside them."""
    at = "on_prem.servers.0"
    typed = {
        f"{at}.server": "dgx-h100", f"{at}.quotes.0.unit_price": "280000",
        f"{at}.quotes.0.quoted": "2026-01", f"{at}.quotes.1.unit_price": "310000",
        f"{at}.quotes.1.quoted": "2026-03", f"{at}.quotes.2.unit_price": "305000",
        f"{at}.quotes.2.quoted": "2026-02", f"{at}.late_delivery.probability~pct": "30",
        f"{at}.late_delivery.months": "6",
    }  # fmt: skip
    query = QueryDict(urlencode({**HOURS, **typed}))
    server = read_plan_request(query)["on_prem"]["servers"][0]
    assert [one["unit_price"] for one in server["quotes"]] == [280000, 310000, 305000]
    assert server["late_delivery"] == {"probability": 0.3, "months": 6}
    page = text(get(client, "plan", {**HOURS, **typed, "edit": "1"}))
    for name, value in typed.items():
        assert re.search(rf'<[^>]*name="{re.escape(name)}"[^>]*>', page), name
        assert f'value="{value}"' in page
    assert "Chance that it arrives late" in page
    wrong = {**HOURS, **typed, f"{at}.late_delivery.months": "61"}
    assert f'id="id_{at}.late_delivery.months_error"' in text(get(client, "plan", wrong))
    assert find_label(f"{at}.quotes.2.unit_price") == "A seller asks"


def test_of_several_servers_quotes_have_boxes_where_they_are_typed_or_asked_for(client, prices):
    at = "on_prem.servers"
    two = {**HOURS, f"{at}.0.server": "dgx-h100", f"{at}.1.server": "dgx-a100-640", "edit": "1",
           f"{at}.1.quotes.0.unit_price": "150000",
           f"{at}.1.quotes.0.quoted": "2026-01"}  # fmt: skip
    page = text(get(client, "plan", two))
    assert f'name="{at}.1.late_delivery.months"' in page
    assert f'name="{at}.0.late_delivery.months"' not in page
    assert "Add quotes and late delivery" in page
    page = text(get(client, "plan", {**two, f"rows.{at}.more": "1"}))
    assert f'name="{at}.0.late_delivery.months"' in page
    assert "Add quotes and late delivery" not in page
    assert f'name="rows.{at}.more" type="hidden"' not in page


def test_a_name_that_nothing_is_called_is_told_in_words_with_the_nearest_question(client, prices):
    page = text(get(client, "plan", {**HOURS, "constraints.total_budgt": "5"}))
    assert "gives “constraints.total_budgt”, which names no question" in page
    assert "did you mean “Total budget”?" in page
    page = text(get(client, "plan", {**HOURS, "foo": "1"}))
    assert "“foo”, which names no question; take it out of the address" in page
    assert "allowed are" not in page
