"""An upload that is cut off, by its client or by a full disk, leaves no file behind."""

from __future__ import annotations

import errno
import gc
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import UnreadablePostError
from django.test import Client

pytestmark = pytest.mark.django_db
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
