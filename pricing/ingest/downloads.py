"""Big price files: fetched whole to disk first, so that a torn one is never parsed."""

from __future__ import annotations

import errno
import gzip
import tempfile
import time
from typing import IO, TYPE_CHECKING, cast

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
    file; a torn transfer is fetched again.
    """

    def __init__(self, http: ProviderHttpClient, name: str, url: str) -> None:
        self.http = http
        self.name = name
        self.url = url
        self._file: IO[bytes] | None = None

    def __enter__(self) -> IO[bytes]:
        self._file = self.http.retry(self.name, self._fetch)
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
