"""Big price files: fetched whole to disk first, so that a torn one is never parsed."""

from __future__ import annotations

import errno
import gzip
import io
import tempfile
import time
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, cast

from pricing.ingest.endpoints import check_endpoint, redact_url
from pricing.ingest.failures import raise_for_status
from pricing.ingest.http import ProviderHttpClient
from pricing.ingest.provider import RunStopped
from pricing.ingest.retries import RetryableError
from pricing.ingest.stored_lists import CONDITIONS, NOT_MODIFIED, StoredList

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
    file; a torn transfer is fetched again. Recorded and replayed compressed. One that has not
    changed since it was stored is not fetched (`pricing.ingest.stored_lists`).
    """

    def __init__(self, http: ProviderHttpClient, name: str, url: str) -> None:
        self.http = http
        self.name = name
        self.url = url
        self._file: IO[bytes] | None = None
        self._stored = StoredList(http.context.settings, http.provider, name, url)

    def __enter__(self) -> IO[bytes]:
        if self.http.replaying:
            self._file = cast(IO[bytes], io.BytesIO(self.http.get(self.name, self.url).body))
        else:
            self._file = self.http.retry(self.name, self._fetch)
            self._record(self._file)
        return _open_decompressed(self._file)

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        if error_type is not None:
            self._stored.forget()  # what is not understood is not to be kept

    def _fetch(self) -> IO[bytes]:
        import httpx

        check_endpoint(self.http.provider, "address", self.url)
        file: IO[bytes] = tempfile.TemporaryFile(prefix="prices-")  # noqa: SIM115 - outlives this
        try:
            headers = _GZIP | self._stored.conditions()
            with self.http.client(self.url).stream("GET", self.url, headers=headers) as response:
                self.http.report_server_time(response.headers.get("date"))
                if response.status_code == NOT_MODIFIED and CONDITIONS & headers.keys():
                    file.close()
                    self.http.context.unchanged(self.name)
                    return self._stored.open()
                raise_for_status(self.http.provider, self.url, response)
                self._write(response, file)
                self._stored.store(file, response.headers)
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
            self._write_chunk(file, chunk)
            received_bytes += len(chunk)
            self.http.context.progress(self.name, received_bytes, expected_bytes or None)
            self._check_pace(received_bytes, time.monotonic() - started)
        if expected_bytes and received_bytes != expected_bytes:
            raise RetryableError(
                f"{redact_url(self.url)}: {received_bytes:,} of {expected_bytes:,} bytes received"
            )

    def _check_pace(self, received_bytes: int, elapsed_s: float) -> None:
        if elapsed_s > self.http.call_timeout_s and received_bytes < MIN_BYTES_PER_S * elapsed_s:
            what = f"{received_bytes:,} bytes received in {elapsed_s:,.0f} s"
            raise RetryableError(f"{redact_url(self.url)}: {what}")

    def _write_chunk(self, file: IO[bytes], chunk: bytes) -> None:
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

    def _record(self, file: IO[bytes]) -> None:
        if self.http.context.record is None:
            return
        self.http.record_page(self.name, b"".join(_iterate_compressed(file)))
        file.seek(0)


def _open_decompressed(file: IO[bytes]) -> IO[bytes]:
    head = file.read(2)
    file.seek(0)
    return cast(IO[bytes], gzip.GzipFile(fileobj=file)) if head == _GZIP_MAGIC else file


def _iterate_compressed(file: IO[bytes]) -> Iterator[bytes]:
    """The bytes of `file`, gzip-compressed unless they already are."""
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
