"""The questions of the start page lead to the plan that they ask for."""

from decimal import Decimal
from typing import Any

from django.http import QueryDict

from planner.contract.request.comparison import read_request
from planner.web.common.fields import FIELD_TYPES
from planner.web.common.query_codec import read, with_start


def questions(client: Any, work: str = "train") -> dict[str, str]:
    """What the form holds before anybody types: name → value."""
    context = client.get("/", {"work": work}).context
    form, groups = context["form"], context["groups"]
    assert not any(group.rows for group in groups)
    fields = {box.name: box.value for box in context["questions"]}
    of_options = {box.name: box.value for one in context["subjects"] for box in one.boxes}
    return fields | of_options | dict(form.hidden())


def asked(client: Any, work: str = "train", **changes: str) -> Any:
    fields = questions(client, work)
    assert {name.partition("~")[0] for name in changes} <= {n.partition("~")[0] for n in fields}
    query = QueryDict(mutable=True)
    query.update({name: value for name, value in (fields | changes).items() if value})
    return read_request(read(with_start(query), FIELD_TYPES))


def test_the_plan_begins_with_the_work_where_no_other_start_is_named(client, prices) -> None:
    runs = {"workload.runs.0.start": "2028-01", "workload.runs.0.deadline": "2028-12"}
    request = asked(client, **runs)
    assert (f"{request.start:%Y-%m}", request.horizon_months) == ("2028-01", 12)
    answer = client.get("/plan/", {**questions(client), **runs, "workload.runs.1.start": "2027-10"})
    assert "start=2027-10" in answer["Location"]
    kept = client.get("/plan/", {"start": "2027-09", **runs})
    assert kept.status_code != 302


def test_twice_in_the_eu_with_a_budget(client, prices) -> None:
    answers = {
        "workload.model": "Llama-3.1-8B", "workload.runs.0.count": "2",
        "constraints.geographies": "eu", "constraints.total_budget": "300,000",
        "workload.interruptible": "true",
    }  # fmt: skip
    request = asked(client, **answers)
    workload: Any = request.workload
    assert (round(workload.parameters / 1e9), workload.runs[0].count) == (8, 2)
    assert request.constraints.geographies == ("eu",)
    assert request.constraints.total_budget == 300_000
    assert workload.interruptible


def test_known_hours_are_asked_for_in_hours(client, prices) -> None:
    request = asked(client, "hours", **{"workload.hours_per_month": "1460"})
    workload: Any = request.workload
    assert (workload.kind, workload.accelerator) == ("accelerator_hours", "nvidia-h100-80gb-sxm")
    assert set(workload.hours_per_month) == {1460}
    assert request.horizon_months == 12


def test_servers_at_hand_are_named_with_how_many_there_are(client, prices) -> None:
    row = "on_prem.already_owned.0"
    owned = {f"{row}.server": "dgx-h100", f"{row}.units": "2", f"{row}.bought": "2025-06"}
    page = client.get("/plan/", {**questions(client), **owned, "edit": "1"}, follow=True)
    form = page.context["form"]
    shown = {box.name: box.value for rows in form.groups() for row in rows.rows for box in row}
    assert shown == {**owned, f"{row}.resale_value": ""}


def test_what_is_to_be_served_is_asked_in_requests(client, prices) -> None:
    answers = {"workload.requests_per_second": "1,5", "workload.peak_requests_per_second": "12"}
    request = asked(client, "serve", **answers, **{"workload.engine": "tuned"})
    workload: Any = request.workload
    assert (workload.kind, workload.model, workload.engine) == ("serving", "7B", "tuned")
    assert (workload.requests_per_second, workload.peak_requests_per_second) == (1.5, 12)
    assert (workload.prompt_tokens, workload.answer_tokens) == (500, 250)
    assert request.horizon_months == 12


def test_the_budget_is_in_the_currency_that_is_chosen(client, prices) -> None:
    budget = {"constraints.total_budget": "300.000,50"}
    assert asked(client, **budget).currency == "USD"
    request = asked(client, **budget, currency="EUR")
    assert (request.currency, request.constraints.total_budget) == ("EUR", Decimal("300000.50"))
