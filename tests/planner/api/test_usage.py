"""Files of usage over the API: the same sums as the command."""

import gzip
import io
import zipfile

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from planner.models import Role
from tests.planner.usage.make import cur_row, sacct, table
from tests.planner.workspace import Workspace

BILL = table([cur_row(1), cur_row(2, usage_amount="0.5")])


def post(client, content, kind="text/csv", **query):
    address = "/api/v1/usage/"
    return client.post(address, content, content_type=kind, query_params=query)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "kind"), [(BILL, "text/csv"), (gzip.compress(BILL), "application/octet-stream")]
)
def test_a_bill_is_summed(client, content, kind):
    answer = post(client, content, kind, by="month,machine", forecast_months="0").json()
    assert answer["complete"] is True
    assert answer["files"][0]["format"] == "aws_cur"
    [line] = answer["use"]
    assert (line["machine"], line["accelerator_hours"]) == ("p5.48xlarge", 12.0)
    assert line["billed"] == {"USD": "120.00"}
    assert answer["demand"] is None


def post_zip(client, files, **query):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    query = {"forecast_months": "0"} | query
    return post(client, packed.getvalue(), "application/octet-stream", **query)


@pytest.mark.django_db
def test_several_files_are_added_up_as_on_the_page(client):
    """A file that is sent twice, and a row that is in two of them, count once."""
    later = table([cur_row(2, usage_amount="0.5"), cur_row(3)])
    files = {"1.csv": BILL, "2.csv": later, "3.csv.gz": gzip.compress(BILL), "4.csv": BILL}
    answer = post_zip(client, files, by="machine", file_name="bills.zip").json()
    assert [(file["name"], file["rows"]) for file in answer["files"]] == [
        (f"bills.zip/{name}", 2) for name in files
    ]
    assert [line["accelerator_hours"] for line in answer["use"]] == [20.0]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "kind", "query", "status", "words"),
    [
        (b"PAR1", "text/csv", {}, 400, "is damaged Parquet"),
        (BILL, "text/csv", {"colour": "blue"}, 400, "colour"),
        (BILL, "text/csv", {"by": "colour"}, 400, "is unknown"),
        (BILL, "text/csv", {"forecast_months": "many"}, 400, "is not a number"),
        (BILL, "text/csv", {"growth": "-2"}, 400, "is outside -1 to 100"),
        (BILL, "text/csv", {"start": "soon"}, 400, "is not a month"),
        (BILL, "text/html", {}, 415, "text/html"),
    ],
)
def test_a_refusal_names_the_field(client, content, kind, query, status, words):
    answer = post(client, content, kind, **query)
    assert answer.status_code == status
    assert words in answer.content.decode()


@pytest.mark.django_db
def test_rules_of_the_team_are_kept_and_used():
    client = APIClient()
    Workspace("alpha")
    client.force_login(get_user_model().objects.get(username=f"{Role.OWNER.value}-of-alpha"))
    rules = ["account:100200300400=Vision"]
    kept = client.patch("/api/v1/teams/alpha/", {"project_rules": rules}, format="json")
    assert kept.json()["project_rules"] == rules
    refused = client.patch("/api/v1/teams/alpha/", {"project_rules": ["red"]}, format="json")
    assert refused.json()["errors"][0]["field"] == "project_rules.0"
    query = {"team": "alpha", "by": "project", "forecast_months": "0"}
    answer = client.post("/api/v1/usage/", BILL, content_type="text/csv", query_params=query).json()
    assert [line["project"] for line in answer["use"]] == ["Vision"]


@pytest.mark.django_db
def test_idle_and_signed_stand_beside_the_use(client):
    unused = table([cur_row(1, usage_type="UnusedBox:p5.48xlarge", unblended_cost="55")])
    answer = post(client, unused, forecast_months="0").json()
    assert [(row["accelerator_hours"], row["cost"]) for row in answer["idle"]] == [(8.0, "55")]


@pytest.mark.django_db
def test_a_body_without_a_length_is_refused_in_words(client):
    meta = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}
    done = client.post("/api/v1/usage/", BILL, content_type="application/octet-stream", **meta)
    assert done.status_code == 411
    assert "send it whole, with Content-Length" in done.json()["detail"]


@pytest.mark.django_db
def test_files_become_a_portfolio_that_the_api_plans(client):
    files = {"bill.csv": BILL}
    answer = post_zip(client, files, include="portfolio", forecast_months="3", growth="0.5").json()
    request, questions = answer["portfolio"], answer["questions"]
    assert post_zip(client, files, include="portfolios").status_code == 400
    assert questions == {}
    assert request["horizon_months"] == 3
    assert request["projects"][0]["workload"]["hours_per_month"] == [18.0] * 3
    request |= {"shares": "use", "what_if": False}
    planned = client.post("/api/v1/portfolios/", request, content_type="application/json")
    assert planned.status_code == 200, planned.content
    assert len(planned.json()["projects"]) == len(request["projects"])


@pytest.mark.django_db
def test_a_name_that_may_mean_two_accelerators_is_asked_about_once(client):
    log = sacct({"AllocTRES": "gres/gpu:a100=8,gres/gpu=8"})
    files = {"jobs.txt": log}
    asked = post_zip(client, files, include="portfolio", forecast_months="3").json()
    assert asked["questions"] == {"a100": ["nvidia-a100-40gb-sxm", "nvidia-a100-80gb-sxm"]}
    told = {"include": "portfolio", "forecast_months": "3", "name": "a100=80GB"}
    answer = post_zip(client, files, **told).json()
    assert answer["questions"] == {}
    (project,) = answer["portfolio"]["projects"]
    assert project["workload"]["accelerator"] == "nvidia-a100-80gb-sxm"
