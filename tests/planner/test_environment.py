"""Settings from variables and from files, as Docker, Kubernetes and systemd hand over secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

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


def test_a_choice_is_one_of_those_allowed() -> None:
    assert Environment({}).choice("LOG_FORMAT", ("plain", "json")) == "plain"
    with pytest.raises(ImproperlyConfigured, match="LOG_FORMAT='xml' is none of plain, json"):
        Environment({"LOG_FORMAT": "xml"}).choice("LOG_FORMAT", ("plain", "json"))
