"""Large files of actuals: put aside, then read as a job that shows progress and can be stopped."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

from django.core.files import File
from django.core.files.storage import default_storage

from planner.models import Access, Job, Project
from planner.services.actuals.actuals import load_actuals
from planner.services.actuals.overlaps import overlaps
from planner.services.jobs import jobs
from planner.services.jobs.jobs import Progress
from planner.services.teams.errors import WrongStateError
from planner.services.teams.permissions import EDIT, require
from pricing.common.invalid_input import InvalidInput

UPLOAD_FOLDER = "actuals"
"""Folder of the storage in which files wait to be read."""
AT_ONCE_BYTES = 1_000_000
"""Files up to this size are read while the sender waits: about 10,000 rows, under a second."""


def start_upload(access: Access, project: Project, file: File[Any]) -> Job:
    """Puts the file aside and queues its reading; with several servers, storage is shared."""
    require(access, project.team_id, EDIT)
    stored_name = default_storage.save(f"{UPLOAD_FOLDER}/{project.pk}.csv", file)
    arguments = {
        "project": str(project.pk),
        "kept": stored_name,
        "file_name": file.name or "",
        "bytes": file.size,
    }
    return jobs.start(access, "actuals_upload", arguments, project.team)


def upload_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Reads the file that was put aside, which is removed whatever comes of it."""
    name = job.arguments["kept"]
    try:
        with default_storage.open(name) as stored_file:
            return _load(job, progress, stored_file)
    finally:
        default_storage.delete(name)


def _load(job: Job, progress: Progress, stored_file: Any) -> dict[str, Any]:
    project = Project.objects.select_related("team").get(pk=job.arguments["project"], team=job.team)
    stream = io.BufferedReader(
        _ProgressStream(stored_file, job.arguments["bytes"], progress), 1 << 16
    )
    try:
        upload = load_actuals(jobs.access_for_job(job), project, stream, job.arguments["file_name"])
    except WrongStateError as refusal:
        raise InvalidInput("file", str(refusal)) from None
    return {
        "upload": str(upload.pk),
        "project": str(project.pk),
        "rows": upload.rows,
        "warnings": overlaps(upload),
    }


class _ProgressStream(io.RawIOBase):
    """A stream that tells how much of it was read."""

    def __init__(self, stream: BinaryIO, size: int, progress: Progress) -> None:
        self._stream, self._size, self._progress = stream, size, progress
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._read += len(data)
        message = f"Read {self._read / 1e6:.1f} of {self._size / 1e6:.1f} MB"
        self._progress.step(self._read, self._size, message)
        buffer[: len(data)] = data
        return len(data)
