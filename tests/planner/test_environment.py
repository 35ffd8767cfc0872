"""Settings from variables and from files, as Docker, Kubernetes and systemd hand over secrets."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.utils import OperationalError

import manage
from planner.environment import connect_mail_server
from planner.places import BASE_DIR
from tests.planner.settings_of import environment_of


def test_secrets_are_read_from_their_folder(tmp_path: Path) -> None:
    (tmp_path / "secret_key").write_text("  a long secret\n")
    (tmp_path / "metrics_token").write_text("from the file")
    (tmp_path / "postgres_password").write_text("")
    with environment_of(SECRETS_DIR=str(tmp_path), METRICS_TOKEN="from the variable"):
        assert settings.SECRET_KEY == "a long secret"
        assert settings.METRICS_TOKEN == "from the variable"


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe"])
def test_a_file_without_a_secret_stops_the_start(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "database_url").write_bytes(content)
    with (
        pytest.raises(ImproperlyConfigured, match=r"^SECRETS_DIR='/.* cannot be read: "),
        environment_of(SECRETS_DIR=str(tmp_path)),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ALLOWED_HOSTS", "https://planner.example.com", "it has another form. Write it like"),
        ("CACHE_URL", "redis://:s3cret@host/one", "no address that can be called"),
        ("CACHE_URL", "redis://:s3cret@host:70000/1", "port out of range"),
        ("CELERY_BROKER_URL", "redsi://:s3cret@127.0.0.1/0", "Write it like redis://"),
        ("DATABASE_URL", "postgres://ada:s3cret@127.0.0.1:5432", "it names no database"),
        ("DATABASE_URL", "nonsense://ada:s3cret@host/x", "no address of a database"),
        ("DATABASE_URL", "postgres://ada:s3:cret@host:port/x", "no address of a database"),
        ("DATABASE_URL", "mysql://ada:s3cret@host/x", "postgres and sqlite alone"),
        ("DEBUG", "perhaps", "='perhaps': input should be a valid boolean"),
        ("DEFAULT_FROM_EMAIL", "planner", "no address of mail"),
        ("EMAIL_URL", "smtp.example.com:587", "Write it like smtp+tls://user:password@"),
        ("NUM_PROXIES", "-1", "greater than or equal to 0"),
        ("OIDC_GROUPS", "ml=vision:boss", "'ml=vision:boss': it gives no role"),
        ("OIDC_SERVER_URL", "http://[login", "Write it like https://"),
        ("DEFAULT_FROM_EMAIL", "ops", "='ops': it is no address of mail"),
        ("PRICE_REFRESH_SCHEDULE", "15 3 *", "no schedule"),
        ("WEBHOOK_ALLOWED_NETWORKS", "::1, 10.0.0.1/8", "10.0.0.1/8 has host bits set"),
        ("DEBUG", "0", "DEBUG=0 needs SECRET_KEY"),
        ("OIDC_SERVER_URL", "https://login.example.com", "needs OIDC_CLIENT_ID"),
        ("SSO_ONLY", "1", "SSO_ONLY=1 needs OIDC_SERVER_URL"),
    ],
)
def test_a_setting_that_would_fail_later_stops_the_start(name: str, value: str, words: str) -> None:
    with (
        pytest.raises(ImproperlyConfigured, match=f"^{name}") as error,
        environment_of(**{name: value}),
    ):
        pass
    assert words in str(error.value)
    assert "cret@" not in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CACHE_URL", "rediss://ada:p%40ss@cache.example.com:6380/1,redis://10.0.0.2"),
        ("CACHE_URL", "unix:///run/redis.sock?db=1"),
        ("CELERY_BROKER_URL", "amqp://ada:pw@broker:5672/vhost"),
        ("CELERY_BROKER_URL", "redis+socket:///run/redis.sock"),
        ("CELERY_BROKER_URL", "sentinel://a:26379;sentinel://b:26379"),
    ],
)
def test_an_address_that_can_be_called_is_taken(name: str, value: str) -> None:
    with environment_of(**{name: value}):
        assert getattr(settings, name) == value


def test_one_address_names_the_mail_server() -> None:
    server = connect_mail_server("smtps://ada:p%40ss@smtp.example.com")
    assert (server["EMAIL_PORT"], server["EMAIL_USE_SSL"], server["EMAIL_USE_TLS"]) == (
        *(465, True),
        False,
    )
    assert (server["EMAIL_HOST_USER"], server["EMAIL_HOST_PASSWORD"]) == ("ada", "p@ss")


def test_a_setting_that_cannot_be_used_ends_gunicorn_in_one_line() -> None:
    environment = {"LOG_FORMAT": "xml", "PATH": os.environ["PATH"]}
    program = Path(sys.executable).with_name("gunicorn")
    ended = subprocess.run(
        [program, "planner.wsgi"], cwd=BASE_DIR, env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("The settings cannot be used: LOG_FORMAT='xml': input should be 'plain'")


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (
            ImproperlyConfigured("LOG_FORMAT='xml': it is none."),
            "The settings cannot be used: LOG_FORMAT='xml'",
        ),
        (
            OperationalError("connection refused\n\tIs the server running?"),
            r"cannot be used \(connection refused Is the server running\?\).*Check DATABASE_URL",
        ),
    ],
)
def test_a_failure_at_the_start_ends_a_command_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, failure: Exception, words: str
) -> None:
    def fail(_: list[str]) -> None:
        raise failure

    monkeypatch.setattr("django.core.management.execute_from_command_line", fail)
    monkeypatch.setattr("pricing.management.database_command._has_unapplied_migrations", bool)
    monkeypatch.setattr("sys.argv", ["manage.py", "migrate"])
    with pytest.raises(SystemExit, match=words):
        manage.main()
