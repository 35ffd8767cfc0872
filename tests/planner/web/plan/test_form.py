"""The plan form: the answer so far, the demand by month, the hardware chooser, long work."""

from __future__ import annotations

import re

from django.http import QueryDict
from django.urls import reverse

from planner.web.plan.forms import PlanForm
from tests.planner.web.asking import HOURS, TRAINING, get, text

RUNS = {
    "workload.runs.0.start": "2027-01",
    "workload.runs.0.deadline": "2027-02",
    "workload.runs.1.start": "2027-05",
}
MANY = {**HOURS, "risk.samples": "150000"}


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


def test_more_samples_than_a_page_waits_for_are_refused_with_a_way(client, prices):
    response = get(client, "plan", MANY)
    assert response.status_code == 400
    assert "150,000 take longer than a page waits; ask for at most 100,000" in text(response)


def test_an_amount_that_may_be_two_is_asked_about_and_a_size_takes_a_decimal_comma(client, prices):
    unclear = text(get(client, "plan", {**HOURS, "constraints.total_budget": "300.000"}))
    assert "'300.000' can be read in two ways: 300 or 300000?" in unclear
    assert get(client, "plan", {**TRAINING, "workload.model": "7,5B"}).status_code == 200


def test_a_name_that_nothing_is_called_is_told_in_words_with_the_nearest_question(client, prices):
    page = text(get(client, "plan", {**HOURS, "constraints.total_budgt": "5"}))
    assert "gives “constraints.total_budgt”, which names no question" in page
    assert "did you mean “Total budget”?" in page
    page = text(get(client, "plan", {**HOURS, "foo": "1"}))
    assert "“foo”, which names no question; take it out of the address" in page
    assert "allowed are" not in page
