"""What a plan may choose from: the form's boxes, the request, and the assumptions of the answer."""

from typing import Any

from django.http import QueryDict

from planner.web.common.plan_request import read_plan_request
from planner.web.plan.forms import as_query
from tests.planner.web.asking import HOURS, get

RULES = {
    "workload.software": "any",
    "workload.interruptible": "true",
    "workload.accelerators_per_job": "4",
    "constraints.countries": "US, DE",
    "constraints.geographies": "eea",
    "constraints.partitions": "commercial",
    "constraints.allow_partial_nodes": "true",
    "constraints.allow_any_node": "true",
    "term_end": "within",
}


def rows(response: Any) -> dict[str, Any]:
    return {row.path: row for row in response.context["page"].assumptions}


def test_the_address_carries_them_into_the_request() -> None:
    request = read_plan_request(as_query(HOURS | RULES))
    assert request["workload"]["software"] == "any"
    assert request["workload"]["interruptible"] is True
    assert request["workload"]["accelerators_per_job"] == 4
    assert request["constraints"] == {
        "countries": ["US", "DE"],
        "geographies": ["eea"],
        "partitions": ["commercial"],
        "allow_partial_nodes": True,
        "allow_any_node": True,
    }
    assert request["term_end"] == "within"


def test_each_is_lifted_from_the_table(client, prices):
    """The box of a rule stands in the table under the name that the address uses."""
    response = get(client, "plan", HOURS)
    stated = response.context["page"].answer.by_key["cloud"]
    box = rows(response)["workload.interruptible"]
    assert ("true", "Yes, it can be interrupted") in box.choices
    lifted = get(client, "plan", HOURS | {box.name: "true"})
    assert lifted.context["page"].answer.by_key["cloud"].total_cost < stated.total_cost


def test_several_choices_at_once_are_kept_beside_an_edit(client, prices):
    query = QueryDict(mutable=True)
    for name, value in HOURS.items():
        query.appendlist(name, value)
    query.setlist("constraints.partitions", ["commercial", "aws-china"])
    response = client.get(f"/plan/?{query.urlencode()}")
    row = rows(response)["constraints.partitions"]
    assert (row.name, row.shown) == ("", "Commercial regions, AWS China")
    kept = response.context["page"].kept_address
    assert [value for name, value in kept if name == "constraints.partitions"] == [
        "commercial",
        "aws-china",
    ]
