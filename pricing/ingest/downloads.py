"""Big price files: fetched whole to disk first, so that a torn one is never parsed."""

from __future__ import annotations

import gzip
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, cast

from pricing.ingest.http import (
    ProviderHttpClient,
    RetryableError,
    check_endpoint,
    raise_for_status,
    redact_url,
)

if TYPE_CHECKING:
    import httpx

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = {"Accept-Encoding": "gzip"}
"""httpx would accept more, and what is kept as it comes must be readable as a file."""
CHUNK_BYTES = 1 << 18
MIN_BYTES_PER_S = 4096
"""A file that comes more slowly, once the longest silence of a server has passed, is torn."""


@contextmanager
def download(http: ProviderHttpClient, name: str, url: str) -> Iterator[IO[bytes]]:
    """The file at `url`, opened for reading bytes.

    It is fetched completely, as compressed as the server sends it, into an unnamed temporary
    file; a torn transfer is fetched again.
    """
    with http.retry(name, lambda: _fetch(http, name, url)) as file:
        head = file.read(2)
        file.seek(0)
        yield cast(IO[bytes], gzip.GzipFile(fileobj=file)) if head == _GZIP_MAGIC else file


def _fetch(http: ProviderHttpClient, name: str, url: str) -> IO[bytes]:
    import httpx

    check_endpoint(http.provider, "address", url)
    file: IO[bytes] = tempfile.TemporaryFile(prefix="prices-")  # noqa: SIM115 - outlives this
    try:
        with http.client(url).stream("GET", url, headers=_GZIP) as response:
            http.report_server_time(response.headers.get("date"))
            raise_for_status(http.provider, url, response)
            _write(http, name, response, file)
    except httpx.HTTPError as error:
        file.close()
        raise RetryableError(f"{redact_url(url)}: {type(error).__name__} {error}") from None
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _write(http: ProviderHttpClient, name: str, response: httpx.Response, file: IO[bytes]) -> None:
    where = redact_url(str(response.url))
    expected_bytes = int(response.headers.get("content-length") or 0)
    received_bytes, started = 0, time.monotonic()
    for chunk in response.iter_raw():
        file.write(chunk)
        received_bytes += len(chunk)
        http.context.progress(name, received_bytes, expected_bytes or None)
        elapsed_s = time.monotonic() - started
        if elapsed_s > http.call_timeout_s and received_bytes < MIN_BYTES_PER_S * elapsed_s:
            what = f"{received_bytes:,} bytes received in {elapsed_s:,.0f} s"
            raise RetryableError(f"{where}: {what}")
    if expected_bytes and received_bytes != expected_bytes:
        what = f"{received_bytes:,} of {expected_bytes:,} bytes received"
        raise RetryableError(f"{where}: {what}")
