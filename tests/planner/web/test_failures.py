"""Errors of ours, as problem details and as a page without a database; uploads that are cut off."""

import errno
import gc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.db import OperationalError
from django.http import UnreadablePostError
from django.test import Client
from redis.exceptions import ConnectionError as RedisConnectionError

from pricing.api.views import FreshnessView

pytestmark = pytest.mark.django_db

API, PAGE = "/api/v1/freshness/", "/method/"
AWAY = (OperationalError("the database system is shutting down"), RedisConnectionError("refused"))


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, db: Any) -> Any:
    """A request whose view raises."""

    def send(address: str, error: Exception) -> Any:
        def fail(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(FreshnessView, "get", fail)
        monkeypatch.setattr("planner.web.plan.start.TERMS", SimpleNamespace(items=fail))
        client = Client(raise_request_exception=False)
        return client.get(address, headers={"X-Request-Id": "asked-1"})

    return send


def test_a_bug_is_a_500_with_problem_details(ask: Any) -> None:
    answer = ask(API, ZeroDivisionError("private detail"))
    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
    assert answer.json() == {
        "type": "urn:gpu-cost-planner:problem:internal_server_error",
        "title": "Internal Server Error",
        "status": 500,
        "code": "internal_server_error",
        "detail": "The error is ours and has been logged.",
        "remedy": "",
        "errors": [],
        "request_id": "asked-1",
    }


@pytest.mark.parametrize("error", AWAY, ids=["database", "cache"])
def test_a_part_that_is_away_is_a_503_that_says_when_to_try_again(
    ask: Any, error: Exception
) -> None:
    answer = ask(API, error)
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["title"] == "Service Unavailable"


@pytest.mark.parametrize(
    ("error", "status", "heading"),
    [
        (KeyError("private detail"), 500, "Something went wrong"),
        (AWAY[0], 503, "Temporarily unavailable"),
    ],
)
def test_a_page_names_the_reference_of_the_log(
    ask: Any, error: Exception, status: int, heading: str
) -> None:
    answer = ask(PAGE, error)
    assert answer.status_code == status
    text = answer.content.decode()
    assert heading in text
    assert "<code>asked-1</code>" in text
    assert "private detail" not in text


LARGE = b"a" * 3_000_000
"""More than Django keeps in memory."""


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 507),
        (UnreadablePostError("the client left"), 400),
    ],
)
def test_no_file_of_an_upload_that_was_cut_off_stays(
    client: Client,
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failure: OSError,
    status: int,
) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    seen: list[Path] = []

    def cut_off(self: TemporaryFileUploadHandler, raw_data: bytes, start: int) -> None:
        seen.extend(tmp_path.iterdir())
        raise failure

    monkeypatch.setattr(TemporaryFileUploadHandler, "receive_data_chunk", cut_off)
    gc.disable()
    try:
        answer = client.post("/usage/", {"log": SimpleUploadedFile("log.csv", LARGE)})
        left = list(tmp_path.iterdir())
    finally:
        gc.enable()
    assert (answer.status_code, len(seen), left) == (status, 1, [])


def test_a_form_beyond_the_limit_is_told_both_sizes_in_megabytes(settings: Any) -> None:
    settings.API_MAX_UPLOAD_BYTES = 50_000_000
    answer = Client().get("/usage/", headers={"Content-Length": "52100000"})
    assert answer.status_code == 413
    assert "It has 52.1 MB; at most 50 MB can be sent at once." in answer.content.decode()
