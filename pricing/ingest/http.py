"""Reads pages of a provider: one policy for every adapter.

Every adapter reads through `ProviderHttpClient`, whether a page comes from an SDK (`call`), an
open API (`get_json`) or a big file (`pricing.ingest.downloads.Download`). Each page

- is requested at most `MAX_CALLS` times, with back-off that honours `Retry-After`, and never
  after the run's deadline;
- is given to `context.record` under its name, secrets taken out, and read from
  `context.replay` instead of the network when that is set;
- fails as `ProviderUnavailable`, which says what happened and what to do, without secrets.

    http = ProviderHttpClient("azure", context)
    base = http.endpoint("AZURE_RETAIL_PRICES_URL", "https://prices.azure.com")
    body = http.get_json("prices/0001.json", f"{base.url}/api/retail/prices", params={...})
    usages = http.call("usages/eastus.json", lambda: client.usage.list(...).as_dict(),
                       translate_error)  # error -> RetryableError | AccessDenied | None (a bug)
    with Download(http, "offers/us-east-1.json.gz", url) as file: ...

A refusal by the provider (401, 403) raises `AccessDenied`, a `ProviderUnavailable`: an adapter
may catch it where the page is optional. In the context, `extra={"sleep": f}` replaces `time.sleep`
and `extra={"call_timeout_s": 5}` the longest silence of a server.
"""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

import tenacity

from pricing.ingest import failures
from pricing.ingest.connections import make_client, silence_sdk_loggers
from pricing.ingest.endpoints import Endpoint, Secrets, check_endpoint, is_loopback, redact_url
from pricing.ingest.failures import (
    AccessDenied,
    BadRequest,
    SignInExpired,
    raise_for_status,
)
from pricing.ingest.provider import FetchContext, ProviderUnavailable, RunStopped
from pricing.ingest.retries import (
    LONGEST_RETRY_AFTER_S,
    MAX_CALLS,
    RetryableError,
    certificate_error,
    is_retryable,
    wait_s,
)
from pricing.ingest.side_by_side import call_within
from pricing.ingest.stored_lists import CONDITIONS, NOT_MODIFIED, StoredList

if TYPE_CHECKING:
    import httpx

__all__ = ["AccessDenied", "BadRequest", "ProviderHttpClient", "SignInExpired"]

CALL_TIMEOUT_S = 60.0
"""Longest silence of a server within one call, s."""
CONNECT_TIMEOUT_S = 10.0
MAX_CALL_TIMEOUTS = 3
"""Longest time of a whole call, as a multiple of the longest silence."""

T = TypeVar("T")


@dataclass(frozen=True)
class PageResponse:
    """One answer over http, read whole."""

    body: bytes
    headers: Mapping[str, str]
    is_unchanged: bool = False
    """The server said so in place of a body."""


class ProviderHttpClient:
    """The pages of one run of one provider."""

    def __init__(self, provider: str, context: FetchContext, secrets: tuple[str, ...] = ()) -> None:
        self.provider = provider
        self.context = context
        self.secrets = Secrets.from_settings(context.settings, secrets)
        self.call_timeout_s = float(cast(Any, context.extra.get("call_timeout_s", CALL_TIMEOUT_S)))
        self._clients: dict[bool, httpx.Client] = {}
        silence_sdk_loggers()

    @property
    def replaying(self) -> bool:
        return self.context.replay is not None

    def endpoint(self, setting: str, default: str) -> Endpoint:
        """The checked base address that `setting` names, `default` where it is empty."""
        url = self.context.settings.get(setting, "").strip() or default
        return check_endpoint(self.provider, setting, url)

    def call(
        self,
        name: str,
        request: Callable[[], Any],
        translate_error: Callable[[Exception], RetryableError | ProviderUnavailable | None],
    ) -> Any:
        """What `request` answers (plain JSON values), through retries, record and replay.

        `translate_error` turns an exception of `request` into `RetryableError` (ask again), into a
        `ProviderUnavailable` (give up), or into None: then it is a bug and passes through.
        """
        if self.context.replay is not None:
            return self._parse(name, self._read_recording(name))
        response = self.retry(
            name, lambda: self._within_limit(lambda: _call_and_translate(request, translate_error))
        )
        self._record_json(name, response)
        return response

    def get(
        self,
        name: str,
        url: str,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> PageResponse:
        """The page at `url`. `headers` may carry a key; a query should not."""
        if self.context.replay is not None:
            return PageResponse(self._read_recording(name), {})
        response = self.retry(
            name, lambda: self._within_limit(lambda: self._request(url, params, headers))
        )
        self.record_page(name, response.body)
        return response

    def get_json(
        self,
        name: str,
        url: str,
        params: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        check: Callable[[Any], None] = lambda _document: None,
    ) -> Any:
        """The JSON document at `url`; one that is cut off or garbled is asked for again.

        `check` may raise `RetryableError` for a document that cannot be whole.
        """
        if self.context.replay is not None:
            return self._parse(name, self._read_recording(name))

        stored = StoredList(
            self.context.settings, self.provider, name, f"{url} {sorted((params or {}).items())}"
        )

        def request() -> tuple[bytes, Any]:
            all_headers = {**(headers or {}), **stored.conditions()}
            response = self._within_limit(lambda: self._request(url, params, all_headers))
            body = response.body
            if response.is_unchanged:
                with stored.open() as file:
                    body = file.read()
            try:
                document = json.loads(body)
                check(document)
            except (ValueError, RetryableError) as error:
                stored.forget()
                if isinstance(error, RetryableError):
                    raise
                raise RetryableError(f"the answer is not valid JSON ({error})") from None
            if response.is_unchanged:
                self.context.unchanged(name)
            else:
                stored.store(io.BytesIO(body), response.headers)
            return body, document

        body, document = self.retry(name, request)
        self.record_page(name, body)
        return document

    def retry(self, name: str, request: Callable[[], T]) -> T:
        """Repeat `request` on `RetryableError`: `MAX_CALLS` calls at most, within the deadline."""
        sleep = cast(Callable[[float], None], self.context.extra.get("sleep", time.sleep))
        retryer = tenacity.Retrying(
            retry=tenacity.retry_if_exception(is_retryable),
            stop=tenacity.stop_after_attempt(MAX_CALLS),
            wait=wait_s,
            before_sleep=lambda state: self._check_wait(name, state),
            sleep=sleep,
            reraise=True,
        )
        self._check_deadline(name)
        try:
            return retryer(request)
        except RunStopped:
            raise
        except (RetryableError, ProviderUnavailable) as error:
            failure = self._explain_failure(name, error)
            self._record_json(name, failures.to_document(failure))
            raise failure from None

    def _within_limit(self, request: Callable[[], T]) -> T:
        try:
            return call_within(MAX_CALL_TIMEOUTS * self.call_timeout_s, request)
        except TimeoutError as error:
            raise RetryableError(str(error)) from None

    def _explain_failure(
        self, name: str, error: RetryableError | ProviderUnavailable
    ) -> ProviderUnavailable:
        """What the run is told of a page that did not come, without secrets."""
        if isinstance(error, ProviderUnavailable):
            what, hint = self.secrets.scrub(error.what), self.secrets.scrub(error.hint)
            return type(error)(self.provider, what, hint)
        if fault := certificate_error(error):
            what = f"{name}: the server's certificate is refused ({fault})"
            return ProviderUnavailable(self.provider, what, failures.CERTIFICATE_HINT)
        return ProviderUnavailable(
            self.provider,
            self.secrets.scrub(f"{name}: {error.what}, {MAX_CALLS} times in a row"),
            failures.NETWORK_HINT,
        )

    def record_page(self, name: str, body: bytes) -> None:
        """Hands a raw page to `--record`, secrets taken out."""
        if self.context.record is not None:
            self.context.record(name, self.secrets.scrub_bytes(body))

    def _record_json(self, name: str, response: Any) -> None:
        if self.context.record is not None:
            self.record_page(name, json.dumps(response, default=_json_default).encode())

    def report_server_time(self, header: str | None) -> None:
        """Passes on the time that a `Date` header gives: a clock that is off is found by it."""
        if not header:
            return
        try:
            self.context.server_time(parsedate_to_datetime(header))
        except ValueError:
            return

    def client(self, url: str) -> httpx.Client:
        """The connection pool. Loopback is never asked through a company's proxy."""
        import httpx

        loopback = check_endpoint(self.provider, "address", url).anonymous or is_loopback(url)
        if loopback not in self._clients:
            timeout = httpx.Timeout(self.call_timeout_s, connect=CONNECT_TIMEOUT_S)
            self._clients[loopback] = make_client(timeout, is_direct=loopback)
        return self._clients[loopback]

    def close(self) -> None:
        while self._clients:
            self._clients.popitem()[1].close()

    def __enter__(self) -> ProviderHttpClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _request(
        self,
        url: str,
        params: Mapping[str, str | int] | None,
        headers: Mapping[str, str] | None,
    ) -> PageResponse:
        import httpx

        check_endpoint(self.provider, "address", url)
        try:
            response = self.client(url).get(url, params=params, headers=headers)
        except httpx.HTTPError as error:
            raise RetryableError(f"{redact_url(url)}: {type(error).__name__} {error}") from None
        self.report_server_time(response.headers.get("date"))
        if response.status_code == NOT_MODIFIED and CONDITIONS.intersection(headers or {}):
            return PageResponse(b"", response.headers, is_unchanged=True)
        raise_for_status(self.provider, url, response)
        return PageResponse(response.content, response.headers)

    def _read_recording(self, name: str) -> bytes:
        page = self.context.replay(name) if self.context.replay is not None else None
        if page is None:
            raise RunStopped(
                self.provider,
                f"the recorded page {name} is missing",
                "Record the prices again with --record, or choose the folder that holds them.",
            )
        failures.raise_recorded(self.provider, page)
        return page

    def _parse(self, name: str, page: bytes) -> Any:
        try:
            return json.loads(page)
        except ValueError as error:
            raise ProviderUnavailable(
                self.provider,
                f"the recorded page {name} cannot be read ({error})",
                "Record the prices again with --record.",
            ) from None

    def _check_deadline(self, name: str) -> None:
        if self._left_s() <= 0:
            what = f"the run's time limit passed before {name} was read"
            raise RunStopped(self.provider, what, failures.SLOW_HINT)

    def _left_s(self) -> float:
        """Seconds until the run's time limit."""
        deadline = self.context.deadline
        return math.inf if deadline is None else deadline - time.monotonic()

    def _check_wait(self, name: str, state: tenacity.RetryCallState) -> None:
        """Before a pause: one that passes the time limit is not begun, and what failed is said."""
        pause_s = state.upcoming_sleep
        error = state.outcome.exception() if state.outcome else None
        if pause_s > LONGEST_RETRY_AFTER_S:
            what = f"{name}: the server asks for a pause of {pause_s:,.0f} s"
            raise ProviderUnavailable(self.provider, what, failures.PAUSE_HINT)
        if (left_s := self._left_s()) <= pause_s:
            what = self.secrets.scrub(f"{name}: {getattr(error, 'what', error)}")
            what += "; the next try would come after the run's time limit"
            kind = RunStopped if left_s <= 0 else ProviderUnavailable
            raise kind(self.provider, what, failures.TIME_HINT)


def _call_and_translate(
    request: Callable[[], Any],
    translate_error: Callable[[Exception], RetryableError | ProviderUnavailable | None],
) -> Any:
    try:
        return request()
    except (RetryableError, ProviderUnavailable):
        raise
    except Exception as error:
        translated = translate_error(error)
        if translated is None:
            raise
        raise translated from None


def _json_default(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)
