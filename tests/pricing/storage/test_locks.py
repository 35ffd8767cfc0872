"""One refresh of a provider at a time, whatever folder for temporary files a process has."""

import tempfile
from pathlib import Path

import pytest

from pricing.storage.bulk import AlreadyRunning, provider_lock
from tests.another_database import sqlite_at

pytestmark = pytest.mark.django_db


def test_two_units_of_systemd_meet_at_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has a /tmp of its own (PrivateTmp), in which the lock lay: both refreshed at once."""
    file = tmp_path / "db.sqlite3"
    file.touch()
    (tmp_path / "tmp").mkdir()
    with sqlite_at(file), provider_lock("aws"):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
        with pytest.raises(AlreadyRunning), provider_lock("aws"):
            pass
        with provider_lock("azure"):
            pass
    with sqlite_at(file), provider_lock("aws"):
        assert list((tmp_path / "tmp").iterdir()) == []


def test_where_no_file_can_be_made_beside_it_the_lock_is_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk stops no refresh by its lock."""
    file = tmp_path / "db.sqlite3"
    file.touch()
    (tmp_path / "db.sqlite3-refresh-aws.lock").symlink_to("/nowhere/at/all")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with sqlite_at(file), provider_lock("aws"):
        assert len(list(tmp_path.glob("gpu-cost-planner-*.lock"))) == 1
        with pytest.raises(AlreadyRunning), provider_lock("aws"):
            pass
    assert list(tmp_path.glob("gpu-cost-planner-*.lock")) == []
