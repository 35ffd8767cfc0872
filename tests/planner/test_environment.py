"""Settings from variables and from files, as Docker, Kubernetes and systemd hand over secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

import manage
from planner.environment import SECRETS, VARIABLES, Environment


def test_a_secret_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("  a long secret\n")
    assert Environment({"SECRET_KEY_FILE": str(file)}).text("SECRET_KEY") == "a long secret"
    keys = Environment({"SECRET_KEY_FALLBACKS_FILE": str(file)}).words("SECRET_KEY_FALLBACKS")
    assert keys == ["a long secret"]
    assert set(VARIABLES) >= SECRETS


def test_what_is_no_secret_is_not_read_from_files() -> None:
    assert Environment({"LOG_LEVEL_FILE": "/etc/hostname"}).text("LOG_LEVEL", "INFO") == "INFO"


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


def test_a_missing_file_and_two_values_stop_the_start() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"SECRET_KEY_FILE='/no/such' cannot be read"):
        Environment({"SECRET_KEY_FILE": "/no/such"}).text("SECRET_KEY")
    both = Environment({"SECRET_KEY_FILE": "/etc/hostname", "SECRET_KEY": "x"})
    with pytest.raises(ImproperlyConfigured, match="both set"):
        both.text("SECRET_KEY")


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


def test_a_choice_is_one_of_those_allowed() -> None:
    assert Environment({}).choice("LOG_FORMAT", ("plain", "json")) == "plain"
    with pytest.raises(ImproperlyConfigured, match="LOG_FORMAT='xml' is none of plain, json"):
        Environment({"LOG_FORMAT": "xml"}).choice("LOG_FORMAT", ("plain", "json"))
