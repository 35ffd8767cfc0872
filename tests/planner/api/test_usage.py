"""Files of usage over the API: the same sums as the command."""

from __future__ import annotations

import gzip

import pytest

from tests.planner.usage.make import cur_row, sacct, table

BILL = table([cur_row(1), cur_row(2, usage_amount="0.5")])


def post(client, content, kind="text/csv", **query):
    address = "/api/v1/usage/"
    return client.post(address, content, content_type=kind, query_params=query)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "kind"),
    [(BILL, "text/csv"), (gzip.compress(BILL), "application/octet-stream")],
)
def test_a_bill_is_summed(client, content, kind):
    answer = post(client, content, kind, by="month,machine", forecast_months="0").json()
    assert answer["complete"] is True
    assert answer["files"][0]["format"] == "aws_cur"
    [line] = answer["use"]
    assert (line["machine"], line["accelerator_hours"]) == ("p5.48xlarge", 12.0)
    assert line["billed"] == {"USD": "120.00"}
    assert answer["demand"] is None


@pytest.mark.django_db
def test_demand_follows(client):
    answer = post(client, sacct({}), start="2026-01", forecast_months="2").json()
    assert answer["demand"]["start"] == "2026-01"
    assert answer["demand"]["hours_per_month"] == [8.0, 8.0]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "kind", "query", "status", "words"),
    [
        (b"PAR1", "text/csv", {}, 400, "is damaged Parquet"),
        (BILL, "text/csv", {"colour": "blue"}, 400, "colour"),
        (BILL, "text/csv", {"by": "colour"}, 400, "is unknown"),
        (BILL, "text/csv", {"forecast_months": "many"}, 400, "is not a number of months"),
        (BILL, "text/csv", {"start": "soon"}, 400, "is not a month"),
        (BILL, "text/html", {}, 415, "text/html"),
    ],
)
def test_a_refusal_names_the_field(client, content, kind, query, status, words):
    answer = post(client, content, kind, **query)
    assert answer.status_code == status
    assert words in answer.content.decode()
