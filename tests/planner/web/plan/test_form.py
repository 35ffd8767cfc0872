"""The form of a plan: boxes drawn from the schema, all else as JSON, the hardware chooser."""

import json
import re

import pytest
from django.http import QueryDict
from django.urls import reverse

from planner.web.common.fields import FIELD_TYPES, SINGLE, find_field
from planner.web.common.plan_request import read_plan_request, spread_rest
from planner.web.plan.forms import OPTIONS, ROWS, WORKS, PlanForm, as_query
from pricing.common.invalid_input import InvalidInput
from tests.planner.web.asking import HOURS, TRAINING, get, text

MANY = {**HOURS, "risk.samples": "150000"}


def test_every_box_of_a_list_has_choices(prices):
    """A list that is not known makes a box of free text in silence."""
    listed = [field for field in SINGLE if field.choices or field.values]
    assert len(listed) > 20
    assert [field.path for field in listed if not field.options] == []
    samples = find_field("workload.code", "samples")
    assert samples is not None
    assert dict(samples.options)["hand_tuned"] == "Hand-tuned for speed"


def test_what_has_no_box_stands_in_the_box_of_json_and_comes_back_the_same(client, prices):
    asked = {**HOURS, "constraints.interconnect": "nvlink", "finance.payment_terms_days": "30"}
    form = PlanForm(as_query(asked))
    boxes = [*form.questions(), *(box for one in form.subjects() for box in one.boxes)]
    form.groups()
    rest = form.rest()
    assert json.loads(rest.value) == {
        "constraints": {"interconnect": "nvlink"},
        "finance": {"payment_terms_days": 30},
        "sensitivity": False,
        "cheaper_if": False,
    }
    sent = QueryDict(mutable=True)
    for name, value in form.hidden():
        sent[name] = value
    for box in (*boxes, rest):
        sent.setlist(box.name, list(box.values))
    again = spread_rest(sent)
    assert read_plan_request(again) == read_plan_request(as_query(asked))
    spread = client.get(f"{reverse('plan')}?{sent.urlencode()}")
    assert "all_else=" not in spread["Location"]


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("{finance}", "line 1: this is no JSON"),
        ("[1]", "write an object of fields"),
        ('{"horizon_months": 5}', "“Horizon” has a value in a box already"),
    ],
)
def test_the_box_of_json_is_checked(client, prices, written, words):
    with pytest.raises(InvalidInput):
        spread_rest(as_query({**HOURS, "all_else": written}))
    page = get(client, "plan", {**HOURS, "all_else": written})
    assert (page.status_code, words in text(page)) == (400, True)


def test_a_form_has_few_boxes_and_each_is_of_the_request(client, prices):
    for work in WORKS:
        form = PlanForm(as_query({"work": work.key}))
        asked, subjects = form.questions(), form.subjects()
        assert len(asked) <= 12
        assert sum(len(one.boxes) for one in subjects) <= 38
        assert all(one.boxes for one in subjects)
        assert len({box.name for box in asked}) == len(asked)
    paths = [path for of_one in OPTIONS.values() for path in of_one]
    assert len({one for work in WORKS for one in work.boxes}) <= 25
    assert all(path in FIELD_TYPES for path in (*paths, *ROWS))


def test_a_tab_keeps_what_its_work_shares_and_begins_with_the_rest(client, prices):
    typed = {**TRAINING, "constraints.total_budget": "9000", "work": "serve"}
    form = get(client, "plan", typed).context["form"]
    assert (form.work.kind, form.query["workload.kind"]) == ("serving", "serving")
    assert form.query["constraints.total_budget"] == "9000"
    assert form.query["workload.prompt_tokens"] == "500"
    assert "workload.tokens~bn" not in form.query
    assert form.query["start"] == "2027-01"
    left = {**TRAINING, "workload.tokens~bn": "140", "work": "fine_tune"}  # as a training begins
    assert get(client, "plan", left).context["form"].query["workload.tokens~mn"] == "50"


def test_credits_leases_and_commitments_are_one_press_away(client, prices):
    for name in ("existing.credits", "existing.leased_servers", "existing.commitments"):
        page = text(client.get("/"))
        assert re.search(rf'formaction="/plan/#{name}"\s+name="rows.{name}" value="1"', page)
        shown = text(get(client, "plan", {**HOURS, f"rows.{name}": "1"}))
        assert f'name="{name}.0.' in shown


def test_labels_and_units_come_from_the_schema():
    cases = (
        ("on_prem.lead_time_months", "Lead time", "months", ""),
        ("on_prem.electricity_per_kwh", "Electricity", "money/kWh", ""),
        ("on_prem.resale_cost_rate", "Cost of a resale", "% of the sale", "pct"),
        ("finance.cloud_price_trend_per_year", "Cloud price trend", "% a year", "pct"),
        ("constraints.capex_budget", "Capital budget", "money", ""),
        ("finance.payment_terms_days", "Payment terms", "days", ""),
    )
    for path, label, unit, scale in cases:
        field = find_field(path)
        assert field is not None
        assert (field.label, field.unit, field.scale) == (label, unit, scale)
    assert not [one.path for one in SINGLE if "_" in one.label or not one.label]


def test_a_box_states_the_unit_in_which_the_address_was_written():
    cases = (("~bn", "1.5", "billion"), ("~mn", "1500", "million"), ("~tn", "0.0015", "trillion"),
             ("~k", "1500000", "thousand"), ("", "1500000000", ""))  # fmt: skip
    for scale, typed, unit in cases:
        name = f"workload.tokens{scale}"
        form = PlanForm(QueryDict(f"workload.kind=training&{name}={typed}"))
        box = {one.field.path: one for one in form.questions()}["workload.tokens"]
        assert (box.name, box.value, box.field.unit) == (name, typed, unit)
        assert form.rest().value == ""


def test_the_chooser_ranks_what_fits_and_says_why_the_rest_does_not(client, prices):
    response = get(client, "plan-accelerators", {**TRAINING, "workload.parameters~bn": "70"})
    rows = {row.candidate.accelerator: row for row in response.context["rows"]}
    assert rows["nvidia-h100-80gb-sxm"].candidate.rank >= 1
    assert rows["nvidia-k80"].candidate.why_not.startswith("retired")
    assert any("licence" in note for note in rows["nvidia-rtx-4090"].candidate.notes)
    row = rows["nvidia-h100-80gb-sxm"]
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


def test_a_model_left_empty_is_asked_for_at_its_box(client, prices):
    values = {name: value for name, value in TRAINING.items() if "parameters" not in name}
    page = get(client, "plan", {**values, "edit": "1"})
    box = next(
        one for one in page.context["form"].questions() if one.field.path == "workload.model"
    )
    assert box.error == "is required: a name, or a size such as 7B"
    assert "Model parameters</strong>" not in text(page)


def test_a_service_is_not_asked_whether_it_may_be_interrupted(client, prices):
    names = {box.name for box in PlanForm(as_query({"work": "serve"})).questions()}
    assert "workload.interruptible" not in names
    assert "workload.interruptible" in {
        box.name for box in PlanForm(as_query({"work": "train"})).questions()
    }
