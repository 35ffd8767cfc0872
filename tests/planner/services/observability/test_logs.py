"""What is logged and reported of a request, and what is not."""

import io
import json
import logging
from contextlib import suppress
from logging.config import DictConfigurator
from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import Resolver404, resolve

from planner.services.observability.logs import accept_request_id, configure_logging


def console(form: str = "json") -> Any:
    """The handler of the settings, which writes to memory."""
    config = configure_logging(form, "INFO")
    read = DictConfigurator(config)
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(read.configure_formatter(dict(config["formatters"][form])))
    for name in config["handlers"]["console"]["filters"]:
        handler.addFilter(read.configure_filter(dict(config["filters"][name])))
    return handler


def written(record: logging.LogRecord, form: str = "json") -> str:
    handler = console(form)
    handler.handle(record)
    return str(handler.stream.getvalue()).removesuffix("\n")


def line(text: str, *arguments: object, error: Exception | None = None, **extra: object) -> Any:
    record = logging.getLogger("planner.test").makeRecord(
        "planner.test",
        logging.INFO,
        "file.py",
        1,
        text,
        arguments,
        (type(error), error, None) if error else None,
        extra=extra,
    )
    return json.loads(written(record))


def test_a_line_is_one_object_with_what_it_was_given() -> None:
    got = line("Job %s ended", "7", job="7", state="failed")
    assert got.pop("time").endswith("+00:00")
    assert got == {
        "level": "INFO",
        "logger": "planner.test",
        "message": "Job 7 ended",
        "job": "7",
        "state": "failed",
    }


def test_requests_and_responses_are_left_out_and_errors_are_told() -> None:
    got = line("failed", request=object(), error=ValueError("no such thing"))
    assert "request" not in got
    assert "ValueError: no such thing" in got["exception"]


@pytest.mark.parametrize("text", ["", "a b", "a" * 65, "é", "a\n", '"'])
def test_an_id_that_a_log_line_could_not_carry_is_replaced(text: str) -> None:
    assert accept_request_id(text) != text


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/join/inv_secret/", "Service Unavailable: /join/<str:secret>/"),
        ("/join/inv_secret/)", "Service Unavailable: /…"),
        ("/join/inv_secretÄ/more/", "Service Unavailable: /…"),
    ],
)  # fmt: skip
def test_the_framework_names_no_secret_of_a_path(path: str, message: str) -> None:
    request = RequestFactory().get(path)
    with suppress(Resolver404):
        request.resolver_match = resolve(path)
    escaped = path.encode("unicode_escape").decode("ascii")  # as the framework logs it
    record = logging.getLogger("django.request").makeRecord(
        "django.request", 40, "f.py", 1, "%s: %s", ("Service Unavailable", escaped), None,
        extra={"request": request},
    )  # fmt: skip
    assert json.loads(written(record))["message"] == message


def test_a_host_that_is_not_served_is_a_line_and_no_error(
    caplog: pytest.LogCaptureFixture, client: Client, settings: Any
) -> None:
    """Whoever scans addresses would else fill the log with tracebacks, and Sentry with errors."""
    settings.ALLOWED_HOSTS = ["planner.example.com"]
    assert client.get("/", headers={"Host": "scanned.example"}).status_code == 400
    line = next(r for r in caplog.records if r.name == "django.security.DisallowedHost")
    assert (line.levelname, line.exc_info) == ("WARNING", None)
    assert "add 'scanned.example' to ALLOWED_HOSTS" in line.getMessage()
