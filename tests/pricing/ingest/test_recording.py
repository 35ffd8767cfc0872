from __future__ import annotations

import datetime as dt
import os

import pytest

from pricing.common.invalid_input import InvalidInput
from pricing.ingest.downloads import (
    find_recorded,
    make_recorder,
    make_replayer,
    read_recording_time,
)
from pricing.ingest.provider import ProviderUnavailable

READ_AT = dt.datetime(2026, 9, 1, 12, tzinfo=dt.UTC)


def test_a_page_comes_back_byte_for_byte(tmp_path):
    make_recorder(tmp_path, "aws", READ_AT)("offers/us-east-1.json.gz", b"\x1f\x8b\x00")
    assert make_replayer(tmp_path, "aws")("offers/us-east-1.json.gz") == b"\x1f\x8b\x00"


def test_a_page_that_was_not_recorded_is_none(tmp_path):
    make_recorder(tmp_path, "aws", READ_AT)
    assert make_replayer(tmp_path, "aws")("offers/other.json") is None


def test_trap_9_a_replay_knows_when_its_pages_were_read(tmp_path):
    make_recorder(tmp_path, "aws", READ_AT)
    assert read_recording_time(tmp_path, "aws") == READ_AT


def test_pages_without_a_note_of_the_time_are_as_old_as_the_oldest(tmp_path):
    page = tmp_path / "aws" / "page.json"
    page.parent.mkdir()
    page.write_text("{}")
    os.utime(page, (READ_AT.timestamp(), READ_AT.timestamp()))
    assert read_recording_time(tmp_path, "aws") == READ_AT


@pytest.mark.parametrize("name", ["../other/page.json", "/etc/passwd", "a/../../b", ""])
def test_a_page_cannot_leave_the_folder(tmp_path, name):
    with pytest.raises(ValueError, match="not a name for a page"):
        make_recorder(tmp_path, "aws", READ_AT)(name, b"x")


def test_a_disk_that_cannot_take_a_page_ends_the_fetch_with_a_remedy(tmp_path, monkeypatch):
    record = make_recorder(tmp_path, "aws", READ_AT)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(ProviderUnavailable, match=r"No space left on device.*Free disk space"):
        record("page.json", b"x")


def test_only_recorded_providers_are_replayed(tmp_path):
    make_recorder(tmp_path, "aws", READ_AT)
    assert find_recorded(tmp_path, ["aws", "gcp"], required=False) == ["aws"]
    with pytest.raises(InvalidInput, match="has no recorded pages of gcp"):
        find_recorded(tmp_path, ["gcp"], required=True)
