"""Price lists as they came last, so that one that has not changed is not fetched again.

With `PRICE_LIST_FOLDER` set, a list that a server marks with an ETag or the time of its last
change is stored there and asked for with it: the answer 304 means the stored one. It is read
anew all the same, so that our own tables and checks always see it. A stored list is used only for
the very address that it came from, and where its bytes are those that were stored.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO

log = logging.getLogger(__name__)

FOLDER_SETTING = "PRICE_LIST_FOLDER"
_CHUNK_BYTES = 1 << 20
_CONDITIONS = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}
CONDITIONS = frozenset(_CONDITIONS.values())
NOT_MODIFIED = 304


class StoredList:
    """What is stored of one list; nothing ever where no folder is set."""

    def __init__(self, settings: Mapping[str, str], provider: str, name: str, url: str) -> None:
        folder = settings.get(FOLDER_SETTING, "").strip()
        file_name = "-".join(PurePosixPath(name).parts)
        self._path = Path(folder) / provider / file_name if folder else None
        self._url = url

    def conditions(self) -> dict[str, str]:
        """Headers that ask for the list only if it is another one."""
        return {
            condition: validator
            for header, condition in _CONDITIONS.items()
            if (validator := self._read_notes().get(header))
        }

    def open(self) -> IO[bytes]:
        """The stored bytes."""
        if self._path is None:
            raise FileNotFoundError("no list is stored")
        return self._path.open("rb")

    def store(self, file: IO[bytes], headers: Mapping[str, str]) -> None:
        """Keep `file`, from its start, where its server says how to ask for a change of it."""
        validators = {name: headers[name] for name in _CONDITIONS if headers.get(name)}
        if self._path is None or not validators:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            digest = self._write(file)
            notes = {"url": self._url, "sha256": digest, **validators}
            self._notes_path(self._path).write_text(json.dumps(notes))
        except OSError as error:
            self.forget()
            log.warning("%s cannot be stored (%s)", self._path, error.strerror)
        finally:
            file.seek(0)

    def forget(self) -> None:
        """Take away what cannot be read, so that it is fetched again."""
        if self._path is not None:
            self._notes_path(self._path).unlink(missing_ok=True)
            self._path.unlink(missing_ok=True)

    def _write(self, file: IO[bytes]) -> str:
        assert self._path is not None
        handle, temporary = tempfile.mkstemp(dir=self._path.parent, prefix=".part-")
        try:
            with os.fdopen(handle, "wb") as target:
                digest = _copy(file, target)
            self._notes_path(self._path).unlink(missing_ok=True)
            os.replace(temporary, self._path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return digest

    def _read_notes(self) -> dict[str, str]:
        """What is known of the stored list; nothing where it is another's, or was changed."""
        if self._path is None:
            return {}
        try:
            notes: dict[str, str] = json.loads(self._notes_path(self._path).read_text())
            with self._path.open("rb") as file:
                is_same = notes["url"] == self._url and notes["sha256"] == _copy(file, None)
        except (OSError, ValueError, KeyError, TypeError):
            return {}
        return notes if is_same else {}

    @staticmethod
    def _notes_path(path: Path) -> Path:
        return path.with_name(path.name + ".json")


def _copy(source: IO[bytes], target: IO[bytes] | None) -> str:
    """Copies all of `source`; gives its SHA-256."""
    digest = hashlib.sha256()
    source.seek(0)
    while chunk := source.read(_CHUNK_BYTES):
        digest.update(chunk)
        if target is not None:
            target.write(chunk)
    return digest.hexdigest()
