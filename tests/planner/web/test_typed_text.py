"""Numbers and texts typed into addresses, forms and logs: refused at once, never a 500."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from planner.sizing.calibration.smi_log import MAX_GPUS
from tests.planner.web.asking import HOURS, get, text

pytestmark = pytest.mark.django_db


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("workload.hours_per_month", "1e999999", "'1e999999' cannot be used; allowed are numbers"),
        ("workload.hours_per_month", "9" * 5000, "cannot be used; allowed are numbers"),
        ("horizon_months", "1e9999999", "'1e9999999' cannot be used; allowed are numbers"),
        ("constraints.total_budget", "1e-300000000", "'1e-300000000' cannot be used"),
        ("workload." + "." * 3000, "1", "which names no question"),
        ("servers" + ".0" * 1500, "1", "which names no question"),
        ("custom_offers.²", "1", "not a list"),
        ("custom_offers." + "9" * 5000 + ".label", "1", "not a list"),
    ],
)
def test_a_hostile_address_is_refused_in_words(client: Any, name, value, words) -> None:
    began = time.process_time()
    response = get(client, "plan", HOURS | {name: value})
    assert response.status_code == 400
    assert words in text(response)
    assert time.process_time() - began < 5


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rows", ["²", "9" * 5000, "-1"])
def test_a_count_of_rows_that_is_none_counts_as_one(client: Any, rows: str) -> None:
    assert get(client, "plan", HOURS | {"rows.servers": rows}).status_code == 200


@pytest.mark.parametrize("path", ["/market/offer/?id=%00", "/%00/", "/plan/?%00=1", "/?a=%00"])
def test_a_nul_in_an_address_is_refused_by_name(client: Any, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 400
    assert "holds a NUL or an incomplete surrogate pair; remove it" in text(response)


def test_the_api_says_so_in_its_own_words(client: Any) -> None:
    response = client.get("/api/v1/offers/?region=%00")
    assert (response.status_code, response["Content-Type"]) == (400, "application/problem+json")
    assert response.json()["errors"][0]["field"] == "region"


def test_a_nul_in_a_cookie_or_a_form_is_refused(client: Any) -> None:
    assert client.post("/theme/", {"theme": "\0"}).status_code == 400
    assert client.post("/plan/samples/", {"plan": "name=%00"}).status_code == 400
    client.cookies["sessionid"] = "\0abcdefghijk"
    assert client.get("/").status_code == 400


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "content",
    [
        b"a," * 1_000_000,
        b"9" * 5_000_000,
        b"utilization.gpu [%]\n" + (b"1" + b" " * 9_000 + b"x\n") * 500,
        b"index,utilization.gpu [%]\n" + b"".join(b"%d,5\n" % i for i in range(MAX_GPUS + 1)),
    ],
    ids=["cells", "digits", "spaces", "GPUs"],
)
def test_a_hostile_log_is_refused_at_once(client: Any, content: bytes) -> None:
    began = time.process_time()
    log = SimpleUploadedFile("log.csv", content)
    assert client.post("/calibrate/", {"log": log}).status_code == 400
    assert time.process_time() - began < 5
