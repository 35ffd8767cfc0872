"""Large files of actuals: put aside, then read as a job that shows progress and can be stopped."""

from __future__ import annotations

import io
import uuid
from collections import defaultdict
from typing import Any
from uuid import UUID

from django.core.files import File
from django.core.files.storage import default_storage

from planner.contract.amounts import name_day, name_month
from planner.models import Access, ActualLine, ActualsUpload, Job, Project
from planner.services.actuals.actuals import load_actuals
from planner.services.jobs import jobs
from planner.services.jobs.jobs import Progress, check_room
from planner.services.teams.access import (
    EDIT,
    DiskFullError,
    WrongStateError,
    require,
    require_room,
)
from pricing.common.invalid_input import InvalidInput
from pricing.publish.refresh import is_disk_full

UPLOAD_FOLDER = "actuals"
"""Folder of the storage in which files wait to be read."""
AT_ONCE_BYTES = 1_000_000
"""Files up to this size are read while the sender waits: about 10,000 rows, under a second."""


def start_upload(access: Access, project: Project, file: File[Any]) -> Job:
    """Puts the file aside and queues its reading; with several servers, storage is shared."""
    require(access, project.team_id, EDIT)
    require_room("uploads", project.uploads.all())
    check_room(access, project.team, "")
    stored_name = _store(f"{UPLOAD_FOLDER}/{project.pk}-{uuid.uuid4()}.csv", file)
    arguments = {
        "project": str(project.pk),
        "kept": stored_name,
        "file_name": file.name or "",
        "bytes": file.size,
    }
    try:
        return jobs.start(access, "actuals_upload", arguments, project.team)
    except BaseException:
        default_storage.delete(stored_name)
        raise


def _store(name: str, file: File[Any]) -> str:
    try:
        return default_storage.save(name, file)
    except BaseException as failure:
        default_storage.delete(name)
        if is_disk_full(failure):
            raise DiskFullError from failure
        raise


def remove_file(job: Job) -> None:
    """Takes away the file of a job that is over."""
    default_storage.delete(job.arguments["kept"])


def upload_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Reads the file that was put aside, which is removed when the job is over."""
    with default_storage.open(job.arguments["kept"]) as stored_file:
        project = Project.objects.select_related("team").get(
            pk=job.arguments["project"], team=job.team
        )
        stream = io.BufferedReader(
            _ProgressStream(stored_file, job.arguments["bytes"], progress), 1 << 16
        )
        try:
            upload = load_actuals(
                jobs.access_for_job(job), project, stream, job.arguments["file_name"]
            )
        except WrongStateError as refusal:
            raise InvalidInput("file", str(refusal)) from None
        return {
            "upload": str(upload.pk),
            "project": str(project.pk),
            "rows": upload.rows,
            "warnings": upload_warnings(upload),
        }


class _ProgressStream(io.RawIOBase):
    def __init__(self, stream: File[Any], size: int, progress: Progress) -> None:
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


def upload_warnings(upload: ActualsUpload) -> list[str]:
    """What whoever uploads a file is to look at: rows that are doubtful, months counted twice."""
    return [*upload.doubtful, *overlaps(upload)]


def overlaps(upload: ActualsUpload) -> list[str]:
    """A sentence for each other upload of the project that counts the same months again.

    Files of different providers may hold the same month; one that names none may hold any.
    """
    others = ActualsUpload.objects.filter(project=upload.project_id, currency=upload.currency)
    lines = ActualLine.objects.filter(upload__in=others).order_by()
    paid: dict[tuple[UUID, str], set[str]] = defaultdict(set)
    for pk, month, provider in lines.values_list("upload", "month", "provider").distinct():
        paid[pk, month].add(provider)
    mine = sorted((month, providers) for (pk, month), providers in paid.items() if pk == upload.pk)
    sentences = []
    for other in others.exclude(pk=upload.pk):
        months = [
            m for m, own in mine if (theirs := paid.get((other.pk, m))) and _meet(own, theirs)
        ]
        if months:
            first, last = name_month(months[0]), name_month(months[-1])
            when = f"{first} is" if len(months) == 1 else f"{first} to {last} are"
            sentences.append(
                f"{when} counted in an earlier upload too: {other}, of "
                f"{name_day(other.created_at)}. If this file restates them, take that one out, "
                "beside its name under Uploads or with "
                f"DELETE /api/v1/projects/{other.project_id}/actuals/{other.pk}/."
            )
    return sentences


def _meet(mine: set[str], theirs: set[str]) -> bool:
    return bool(mine & theirs or "" in mine | theirs)
