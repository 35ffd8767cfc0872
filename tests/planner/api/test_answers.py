"""Real answers are what the document says they are, and the document leaves nothing out."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rest_framework.test import APIClient

from planner.api.base import render_answer
from planner.api.media import AnswerRenderer
from planner.api.views.documents import document
from planner.contract.answer.common import AnswerModel, Money, Share
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.tables import table_names
from planner.models import Job
from tests.planner.api.routes import OPERATIONS, PORTFOLIO, Operation
from tests.planner.api.world import World
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


def post(path: str, body: dict[str, Any], include: str = "all") -> dict[str, Any]:
    query = f"?include={include}" if include else ""
    answer = APIClient().post(f"/api/v1/{path}/{query}", body, format="json")
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.one_in(3)
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


class Part(AnswerModel):
    """Figures whose JSON is easily written otherwise."""

    name: str = "NaN, Größe"
    amounts: tuple[Money, ...] = (Decimal("1E-7"), Decimal("12.50"), Decimal("3E+2"), Decimal(0))
    shares: tuple[Share, ...] = (1e-7, 1e16, 0.1 + 0.2, 5e-324, -0.0)


def test_an_answer_written_at_once_says_what_its_plain_values_do() -> None:
    part, renderer = Part(), AnswerRenderer()
    plain = part.model_dump(mode="json")
    assert plain["amounts"] == ["0.0000001", "12.50", "300", "0"]
    for one in (part, part.model_copy(update={"name": "x"})):
        written = renderer.render(render_answer(one, ()))
        assert json.dumps(json.loads(written)) == json.dumps(one.model_dump(mode="json"))
    indented = renderer.render(render_answer(part, ()), "application/json; indent=2")
    assert indented.count(b"\n") > 3
    assert json.loads(renderer.render({"a": [1]})) == {"a": [1]}


@pytest.mark.parametrize("figure", [float("nan"), float("inf")])
def test_no_answer_is_written_whose_figure_is_no_number(figure: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        render_answer(Part.model_construct(shares=(figure,)), ())


TABLES = [
    ("comparisons", REQUEST | WHOLE, ComparisonAnswer, "lines", "scenarios"),
    ("estimates", {"workload": TRAINING}, EstimateAnswer, "candidates", ""),
    ("portfolios", PORTFOLIO, PortfolioAnswer, "uses", ""),
]


@pytest.mark.parametrize(("path", "body", "model", "table", "rows"), TABLES)
def test_tables_are_included_by_name(
    path: str, body: dict[str, Any], model: type[AnswerModel], table: str, rows: str
) -> None:
    """By default the verdict and totals alone, below 10 kB."""
    market()

    def named(include: str) -> set[str]:
        answer = post(path, body, include)
        return set(answer) | {name for row in answer.get(rows, ()) for name in row}

    tables = set(table_names(model))
    assert len(json.dumps(post(path, body, ""))) < 10_000
    assert named("") & tables == set()
    assert named(table) & tables == {table}
    assert named("all") >= tables
    refused = APIClient().post(f"/api/v1/{path}/?include=costs", body, format="json")
    assert refused.status_code == 400
    assert all(name in refused.json()["errors"][0]["message"] for name in tables)


READS = [o for o in OPERATIONS if o.method == "get" and o.ok == 200]
READS_WITHOUT_JSON = (
    *("schema", "docs", "saved-comparison-export", "saved-portfolio-export", "team-focus"),
)


def test_saved_plans_and_jobs_take_the_same_tables(world: World) -> None:
    owner, ids = world.clients["owner"], world.ids

    def read(path: str, include: str) -> dict[str, Any]:
        return owner.get(f"/api/v1/{path}/", {"include": include} if include else {}).json()

    saved, joint = f"saved-comparisons/{ids['draft']}", f"saved-portfolios/{ids['portfolio']}"
    assert "rows" not in read(saved, "")
    assert "lines" not in read(saved, "")["answer"]["scenarios"][0]
    whole = read(saved, "rows,lines")
    assert whole["rows"]
    assert whole["answer"]["scenarios"][0]["lines"]
    assert "lines" not in read(joint, "")["answer"]
    assert read(joint, "lines")["answer"]["lines"]
    assert read(joint, "rows")["errors"][0]["field"] == "include"
    job = Job.objects.create(
        team=world.alpha.team, kind="comparison", state="succeeded", result=whole["answer"]
    )
    assert "lines" not in read(f"jobs/{job.pk}", "")["result"]["scenarios"][0]
    assert read(f"jobs/{job.pk}", "lines")["result"]["scenarios"][0]["lines"]


def documented(path: str) -> dict[str, Any] | None:
    """What the document says of reading this address; the names of older ones are not in it."""
    for template in sorted(document()["paths"], key=lambda one: one.count("{")):
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            return document()["paths"][template].get("get")
    return None


def undescribed(value: Any, schema: dict[str, Any], at: str = "") -> list[str]:
    """Fields of an answer that the document does not have."""
    if "$ref" in schema:
        return undescribed(value, component_of(schema["$ref"]), at)
    described = [option for word in ("anyOf", "oneOf", "allOf") for option in schema.get(word, ())]
    if described:
        return min((undescribed(value, one, at) for one in described), key=len)
    if isinstance(value, list):
        return [name for one in value for name in undescribed(one, schema.get("items", {}), at)]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    unknown = [f"{at}.{name}" for name in value if name not in schema["properties"]]
    known = [(name, part) for name, part in schema["properties"].items() if name in value]
    return unknown + [
        one for name, part in known for one in undescribed(value[name], part, f"{at}.{name}")
    ]


def component_of(reference: str) -> dict[str, Any]:
    return document()["components"]["schemas"][reference.rsplit("/", 1)[1]]


NUMBERS = {"rent_usd", "porting_usd", "saving_usd", "launch_price_usd", "street_price_usd"}
"""Planning values, as the guide and the head of the document say."""


def test_the_guide_names_the_lists_that_come_whole() -> None:
    """And the head of the document, all that some readers know, says how the others go on."""
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "api.md").read_text()
    (sentence,) = re.findall(r"until it is null\. (.*?) come whole\.", guide)
    whole = set()
    for path, operations in document()["paths"].items():
        read = operations.get("get", {})
        names = [one["name"] for one in read.get("parameters", ())]
        is_list = read.get("operationId", "").startswith("list_")
        if is_list and "page_size" not in names:
            whole.add(path.removeprefix("/api/v1/"))
    assert set(re.findall(r"`([\w/-]+)`", sentence)) == whole
    assert "`page_size`, which is at most 500" in document()["info"]["description"]


@pytest.mark.parametrize("operation", READS, ids=str)
def test_every_read_has_exactly_what_the_document_says(operation: Operation, world: World) -> None:
    """`is_sold_elsewhere` of `coverage/` was in no document; tokens, jobs and entries of the audit
    log were said to answer 304 and have no ETag."""
    path = operation.address(world)
    told = documented(path)
    if told is None or operation.route.removeprefix("api:") in READS_WITHOUT_JSON:
        return
    client = world.clients["token-refresh" if operation.needs == "refresh" else "owner"]
    answer = client.get(path)
    schema = told["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(answer.json(), {**schema, "components": document()["components"]})
    assert undescribed(answer.json(), schema) == []
    assert ("304" in told["responses"]) == answer.has_header("ETag")
