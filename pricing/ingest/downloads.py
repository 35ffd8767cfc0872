"""Big price files: fetched whole to disk first, so that a torn one is never parsed."""

from __future__ import annotations

import datetime as dt
import errno
import gzip
import io
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, cast

from pricing.common.invalid_input import InvalidInput
from pricing.ingest.http import (
    ProviderHttpClient,
    RetryableError,
    check_endpoint,
    raise_for_status,
    redact_url,
)
from pricing.ingest.provider import RunStopped

if TYPE_CHECKING:
    import httpx

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = {"Accept-Encoding": "gzip"}
"""httpx would accept more, and what is kept as it comes must be readable as a file."""
CHUNK_BYTES = 1 << 18
MIN_BYTES_PER_S = 4096
"""A file that comes more slowly, once the longest silence of a server has passed, is torn."""


class Download:
    """A file at `url`, opened for reading bytes as a context manager.

    It is fetched completely, as compressed as the server sends it, into an unnamed temporary
    file; a torn transfer is fetched again. Recorded and replayed compressed.
    """

    def __init__(self, http: ProviderHttpClient, name: str, url: str) -> None:
        self.http = http
        self.name = name
        self.url = url
        self._file: IO[bytes] | None = None

    def __enter__(self) -> IO[bytes]:
        if self.http.replaying:
            self._file = cast(IO[bytes], io.BytesIO(self.http.get(self.name, self.url).body))
        else:
            self._file = self.http.retry(self.name, self._fetch)
            self._record(self._file)
        head = self._file.read(2)
        self._file.seek(0)
        return (
            cast(IO[bytes], gzip.GzipFile(fileobj=self._file))
            if head == _GZIP_MAGIC
            else self._file
        )

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def _fetch(self) -> IO[bytes]:
        import httpx

        check_endpoint(self.http.provider, "address", self.url)
        file: IO[bytes] = tempfile.TemporaryFile(prefix="prices-")  # noqa: SIM115 - outlives this
        try:
            with self.http.client(self.url).stream("GET", self.url, headers=_GZIP) as response:
                self.http.report_server_time(response.headers.get("date"))
                raise_for_status(self.http.provider, self.url, response)
                self._write(response, file)
        except httpx.HTTPError as error:
            file.close()
            raise RetryableError(
                f"{redact_url(self.url)}: {type(error).__name__} {error}"
            ) from None
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return file

    def _write(self, response: httpx.Response, file: IO[bytes]) -> None:
        expected_bytes = int(response.headers.get("content-length") or 0)
        received_bytes, started = 0, time.monotonic()
        for chunk in response.iter_raw():
            try:
                file.write(chunk)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                raise RunStopped(
                    self.http.provider,
                    f"no space left on disk for {self.name} in {tempfile.gettempdir()}",
                    "Free some space, or set TMPDIR to a disk that has it. The last published "
                    "prices stay in force.",
                ) from None
            received_bytes += len(chunk)
            self.http.context.progress(self.name, received_bytes, expected_bytes or None)
            elapsed_s = time.monotonic() - started
            if (
                elapsed_s > self.http.call_timeout_s
                and received_bytes < MIN_BYTES_PER_S * elapsed_s
            ):
                what = f"{received_bytes:,} bytes received in {elapsed_s:,.0f} s"
                raise RetryableError(f"{redact_url(self.url)}: {what}")
        if expected_bytes and received_bytes != expected_bytes:
            raise RetryableError(
                f"{redact_url(self.url)}: {received_bytes:,} of {expected_bytes:,} bytes received"
            )

    def _record(self, file: IO[bytes]) -> None:
        if self.http.context.record is None:
            return
        self.http.record_page(self.name, b"".join(_iterate_compressed(file)))
        file.seek(0)


def _iterate_compressed(file: IO[bytes]) -> Iterator[bytes]:
    head = file.read(2)
    file.seek(0)
    if head == _GZIP_MAGIC:
        yield file.read()
        return
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as gzip_file:
        while chunk := file.read(CHUNK_BYTES):
            gzip_file.write(chunk)
    yield out.getvalue()


_METADATA_FILE = "recorded.json"
"""Says when the pages were read: a replay must not look fresher than what it replays."""


def make_recorder(
    folder: Path, provider: str, recorded_at: dt.datetime
) -> Callable[[str, bytes], None]:
    """What keeps a page of the provider under its name. A page is written whole or not at all."""
    provider_folder = folder / provider

    def record(name: str, page: bytes) -> None:
        try:
            path = _page_path(provider_folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(path.name + ".part")
            temporary.write_bytes(page)
            os.replace(temporary, path)
        except OSError as error:
            raise RunStopped(
                provider,
                f"{name} cannot be kept in {folder} ({error.strerror})",
                "Free disk space or choose another folder for --record; nothing was published.",
            ) from None

    record(_METADATA_FILE, json.dumps({"read_at": recorded_at.isoformat()}).encode())
    return record


def make_replayer(folder: Path, provider: str) -> Callable[[str], bytes | None]:
    """What gives a recorded page of the provider back, None for one that was not recorded."""
    provider_folder = _provider_folder(folder, provider)

    def replay(name: str) -> bytes | None:
        path = _page_path(provider_folder, name)
        return path.read_bytes() if path.is_file() else None

    return replay


def find_recorded(folder: Path, names: Sequence[str], *, required: bool) -> list[str]:
    """Those of `names` whose pages `folder` holds; `InvalidInput` for one asked for by name
    that it does not hold, or when it holds none."""
    _check_folder(folder)
    if required:
        for name in names:
            _provider_folder(folder, name)
    recorded = [name for name in names if (folder / name).is_dir()]
    if not recorded:
        raise InvalidInput("from", f"{folder} has no recorded pages of {', '.join(names)}")
    return recorded


def read_recording_time(folder: Path, provider: str) -> dt.datetime:
    """When the pages were read; without a note of it, the day of the oldest file."""
    provider_folder = _provider_folder(folder, provider)
    metadata = provider_folder / _METADATA_FILE
    if not metadata.is_file():
        oldest = min(
            (p.stat().st_mtime for p in provider_folder.rglob("*") if p.is_file()), default=0.0
        )
        return dt.datetime.fromtimestamp(oldest, dt.UTC)
    try:
        return dt.datetime.fromisoformat(json.loads(metadata.read_text())["read_at"])
    except (ValueError, KeyError, TypeError):
        raise InvalidInput("from", f"{metadata} does not say when the pages were read") from None


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InvalidInput("from", f"{folder} is not a folder; give one written by --record")


def _provider_folder(folder: Path, provider: str) -> Path:
    _check_folder(folder)
    provider_folder = folder / provider
    if not provider_folder.is_dir():
        raise InvalidInput("from", f"{folder} has no recorded pages of {provider}")
    return provider_folder


def _page_path(provider_folder: Path, name: str) -> Path:
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute() or "\x00" in name:
        raise ValueError(f"{name!r} is not a name for a page")
    return provider_folder.joinpath(*parts)
