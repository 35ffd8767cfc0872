"""Real answers are what the document says they are, and the document leaves nothing out."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from rest_framework.test import APIClient

from planner.api.views.documents import document
from tests.planner.costing.market_of import H100
from tests.planner.workspace import REQUEST, WHOLE, market

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("document")]
TRAINING = {"kind": "training", "parameters": 7e9, "tokens": 1e11, "accelerator": H100}
SAMPLES = {"kind": "samples", "samples": 1e8, "epochs": 3, "samples_per_second": 2000.0,
           "accelerator": H100}  # fmt: skip
REQUESTS = {
    "plain": REQUEST | WHOLE,
    "training": {**REQUEST, **WHOLE, "workload": TRAINING},
    "samples": {**REQUEST, **WHOLE, "workload": SAMPLES},
    "risk": {**REQUEST, **WHOLE, "risk": {"samples": 200}},
    "nothing feasible": {**REQUEST, **WHOLE, "constraints": {"monthly_budget": 1}},
    "own offers alone": {
        **REQUEST,
        **WHOLE,
        "use_catalog": False,
        "custom_offers": [
            {"label": "Ours", "accelerator": H100, "accelerator_count": 8,
             "purchase_option": "on_demand", "usd_per_hour": 20.0}
        ],
    },
}  # fmt: skip


def component(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}", "components": document()["components"]}


def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = APIClient().post(f"/api/v1/{path}/", body, format="json")
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_comparison_is_what_the_document_says(request_: dict[str, Any]) -> None:
    market()
    answer = post("comparisons", request_)
    jsonschema.validate(answer, component("ComparisonAnswer"))
    described = document()["components"]["schemas"]["ComparisonAnswer"]["properties"]
    assert set(answer) <= set(described)


@pytest.mark.parametrize("workload", [REQUEST["workload"], TRAINING, SAMPLES])
def test_an_estimate_is_what_the_document_says(workload: dict[str, Any]) -> None:
    answer = post("estimates", {"workload": workload})
    jsonschema.validate(answer, component("EstimateAnswer"))
    described = document()["components"]["schemas"]["EstimateAnswer"]["properties"]
    assert set(answer) == set(described)
