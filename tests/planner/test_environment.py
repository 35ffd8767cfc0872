"""Settings from variables and from files, as Docker, Kubernetes and systemd hand over secrets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db.utils import OperationalError

import manage
from planner.environment import SECRETS, VARIABLES, Environment
from planner.places import BASE_DIR
from tests.planner.settings_of import environment_of


def test_a_secret_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("  a long secret\n")
    assert Environment({"SECRET_KEY_FILE": str(file)}).text("SECRET_KEY") == "a long secret"
    keys = Environment({"SECRET_KEY_FALLBACKS_FILE": str(file)}).words("SECRET_KEY_FALLBACKS")
    assert keys == ["a long secret"]
    assert set(VARIABLES) >= SECRETS


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b"\xff\xfe", "cannot be read"), (b"x" * 65_537, "larger")],
)
def test_a_file_without_a_secret_stops_the_start(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "key"
    file.write_bytes(content)
    with pytest.raises(ImproperlyConfigured, match=f"SECRET_KEY_FILE=.*{message}"):
        Environment({"SECRET_KEY_FILE": str(file)}).text("SECRET_KEY")


def test_an_address_of_no_database_is_refused_without_its_password() -> None:
    for url, message in (
        ("nonsense://ada:s3cret@host/x", "DATABASE_URL: 'nonsense' is no kind of database"),
        ("postgres://ada:s3:cret@host:port/x", "DATABASE_URL: it cannot be read as an address"),
    ):
        with pytest.raises(ImproperlyConfigured, match=f"{message}.*; write postgres://") as error:
            Environment({"DATABASE_URL": url}).database("DATABASE_URL", "")
        assert "cret" not in str(error.value)
    kept = Environment({}).database("DATABASE_URL", "sqlite:////data/db.sqlite3")
    assert kept["NAME"] == "/data/db.sqlite3"


def test_a_setting_that_cannot_be_used_ends_a_command_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: list[str]) -> None:
        raise ImproperlyConfigured("LOG_FORMAT='xml' is none of plain, json.")

    monkeypatch.setattr("django.core.management.execute_from_command_line", refuse)
    monkeypatch.setattr("sys.argv", ["manage.py", "check"])
    with pytest.raises(SystemExit, match="The settings cannot be used: LOG_FORMAT='xml'"):
        manage.main()


@pytest.mark.parametrize("text", ["10.0.0", "10.0.0.1/8", "office"])
def test_a_network_that_is_none_is_named(text: str) -> None:
    name = "WEBHOOK_ALLOWED_NETWORKS"
    assert Environment({name: "10.0.0.0/8, ::1"}).networks(name) == ["10.0.0.0/8", "::1"]
    with pytest.raises(ImproperlyConfigured, match=f"{name}: '{text}' is no network; write"):
        Environment({name: text}).networks(name)


BROKEN_SETTINGS = {
    "ALLOWED_HOSTS": ("https://planner.example.com", "of another form than planner.example.com"),
    "API_MAX_BODY_BYTES": ("0", "not from 1 to"),
    "CACHE_URL": ("redis://:s3cret@host/one", "write it like redis://"),
    "CELERY_BROKER_URL": ("redsi://:s3cret@127.0.0.1/0", "write it like redis://"),
    "CSRF_TRUSTED_ORIGINS": ("planner.example.com", "than https://planner.example.com"),
    "DATABASE_URL": ("postgres://ada:s3cret@127.0.0.1:5432", "names no database"),
    "DEFAULT_FROM_EMAIL": ("planner", "of another form than operator@example.com"),
    "EMAIL_HOST": ("smtp.example.com:587", "of another form than smtp.example.com"),
    "EMAIL_PORT": ("70000", "not from 1 to 65,535; write one, or unset it for 587"),
    "JOBS_BACKEND": ("Celery", "is none of thread, inline, celery; write one of them"),
    "NUM_PROXIES": ("-1", "not from 0 to 100"),
    "OIDC_SERVER_URL": ("http://[login", "write it like https://login.example.com"),
    "PRICES_RED_AFTER_DAYS": ("30", "not from 90 to"),
    "PRICE_NOTICE_EMAILS": ("it@example.com, ops", "'ops' is of another form"),
    "PRICE_REFRESH_JITTER_SECONDS": ("soon", "is not a whole number; write one from 0 to 86,400"),
    "RETAIN_JOBS_DAYS": ("-5", "not from 0 to 36,500"),
    "SENTRY_DSN": ("sentry.example.com/s3cret", "write it like https://"),
    "UPLOAD_S3_ENDPOINT": ("minio", "write it like https://"),
}
"""Settings by which the start used to succeed, and something failed hours later: with
RETAIN_JOBS_DAYS=-5 housekeeping removed every job that had ended."""


@pytest.mark.parametrize("name", BROKEN_SETTINGS)
def test_a_setting_that_would_fail_later_stops_the_start(name: str) -> None:
    value, words = BROKEN_SETTINGS[name]
    with (
        pytest.raises(ImproperlyConfigured, match=name) as error,
        environment_of(**{name: value}),
    ):
        pass
    assert words in str(error.value)
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize(
    "variables",
    [
        {"JOBS_BACKEND": "celery"},
        {"OIDC_SERVER_URL": "https://login.example.com"},
        {"PRICES_AMBER_AFTER_DAYS": "400"},
    ],
)
def test_a_setting_that_needs_another_stops_the_start(variables: dict[str, str]) -> None:
    with pytest.raises(ImproperlyConfigured, match=r" needs |PRICES_RED.*=365 .*; set it"):
        environment_of(**variables).__enter__()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CACHE_URL", "rediss://ada:p%40ss@cache.example.com:6380/1,redis://10.0.0.2"),
        ("CACHE_URL", "unix:///run/redis.sock?db=1"),
        ("CELERY_BROKER_URL", "amqp://ada:pw@broker:5672/vhost"),
        ("CELERY_BROKER_URL", "redis+socket:///run/redis.sock"),
        ("CELERY_BROKER_URL", "sentinel://a:26379;sentinel://b:26379"),
        ("OIDC_SERVER_URL", "https://login.example.com:8443/realms/ml/.well-known/x"),
        ("SENTRY_DSN", "https://key@o1.ingest.sentry.io/2"),
    ],
)
def test_an_address_that_can_be_called_is_taken(name: str, value: str) -> None:
    assert Environment({name: value}).address(name) == value


def test_a_setting_that_cannot_be_used_ends_gunicorn_in_one_line() -> None:
    environment = {"LOG_FORMAT": "xml", "PATH": os.environ["PATH"]}
    program = Path(sys.executable).with_name("gunicorn")
    ended = subprocess.run(
        [program, "planner.wsgi"], cwd=BASE_DIR, env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("The settings cannot be used: LOG_FORMAT='xml' is none of plain, json")


def test_a_database_that_is_away_ends_a_command_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: list[str]) -> None:
        raise OperationalError("connection refused\n\tIs the server running?")

    monkeypatch.setattr("django.core.management.execute_from_command_line", fail)
    monkeypatch.setattr("pricing.management.database_command._has_unapplied_migrations", bool)
    monkeypatch.setattr("sys.argv", ["manage.py", "migrate"])
    words = r"cannot be used \(connection refused Is the server running\?\).*Check DATABASE_URL"
    with pytest.raises(SystemExit, match=words):
        manage.main()
