"""Reads pages of a provider: one policy for every adapter.

Every adapter reads through `ProviderHttpClient`, whether a page comes from an SDK (`call`), an
API (`get_json`, `get_pages`) or a big file (`pricing.ingest.downloads.download`). Each page

- is requested at most `MAX_CALLS` times, with back-off that honours `Retry-After`, and never
  after the run's deadline;
- fails as `ProviderUnavailable`, which says what happened and what to do, without secrets.

A refusal by the provider (401, 403) raises `AccessDenied`, a `ProviderUnavailable`: an adapter
may catch it where the page is optional. In the context, `extra={"sleep": f}` replaces `time.sleep`
and `extra={"call_timeout_s": 5}` the longest silence of a server.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import math
import os
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from pricing.ingest.provider import FetchContext, ProviderUnavailable, RunStopped

if TYPE_CHECKING:
    import httpx
    import tenacity

__all__ = ["AccessDenied", "BadRequest", "ProviderHttpClient", "SignInExpired"]

CALL_TIMEOUT_S = 60.0
"""Longest silence of a server within one call, s."""
CONNECT_TIMEOUT_S = 10.0
MAX_CALL_TIMEOUTS = 3
"""Longest time of a whole call, as a multiple of the longest silence."""
CREDENTIALS_HINT = "Check the credentials and their permissions."

T = TypeVar("T")


class ProviderHttpClient:
    def __init__(self, provider: str, context: FetchContext) -> None:
        self.provider = provider
        self.context = context
        self.secrets = Secrets(context.settings)
        self.call_timeout_s = float(cast(Any, context.extra.get("call_timeout_s", CALL_TIMEOUT_S)))
        self._clients: dict[bool, httpx.Client] = {}
        # The SDKs write addresses (INFO) and signed headers (DEBUG): keep both quiet.
        for name in ("httpx", "httpcore", "botocore", "boto3", "urllib3", "azure", "google.auth"):
            logger = logging.getLogger(name)
            logger.setLevel(max(logging.WARNING, logger.level))

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
        """What `request` answers (plain JSON values), through retries.

        `translate_error` turns an exception of `request` into `RetryableError` (ask again), into a
        `ProviderUnavailable` (give up), or into None: then it is a bug and passes through.
        """

        def call() -> Any:
            try:
                return request()
            except (RetryableError, ProviderUnavailable):
                raise
            except Exception as error:
                translated = translate_error(error)
                if translated is None:
                    raise
                raise translated from None

        return self.retry(name, lambda: self._within_limit(call))

    def get_json(
        self,
        name: str,
        url: str,
        params: Mapping[str, str | int] | None = None,
        *,
        headers: Callable[[], Mapping[str, str]] = dict,
        body: object = None,
        check: Callable[[Any], object] = lambda _document: None,
        hint: str = CREDENTIALS_HINT,
    ) -> Any:
        """The JSON document at `url`; one that is cut off or garbled is asked for again.

        `headers` signs each request. With a `body` it is a POST. `check` may raise
        `RetryableError` for a document that cannot be whole; `hint` goes with a refusal.
        """

        def send() -> bytes:
            import httpx

            check_endpoint(self.provider, "address", url)
            method = "GET" if body is None else "POST"
            try:
                response = self.client(url).request(
                    method, url, params=params, headers=headers(), json=body
                )
            except httpx.HTTPError as error:
                raise RetryableError(f"{redact_url(url)}: {type(error).__name__} {error}") from None
            self.report_server_time(response.headers.get("date"))
            raise_for_status(self.provider, url, response, hint)
            return response.content

        def request() -> Any:
            content = self._within_limit(send)
            try:
                document = json.loads(content)
                check(document)
            except ValueError as error:
                raise RetryableError(f"the answer is not valid JSON ({error})") from None
            return document

        return self.retry(name, request)

    def get_pages(
        self,
        name: str,
        url: str,
        params: Mapping[str, str | int],
        follow: Callable[[Any], tuple[str, Mapping[str, str | int] | None] | None],
        **options: Any,
    ) -> Iterator[Any]:
        """The documents of a list from `url` on; `follow` gives address and query of the page
        behind one. `options` are those of `get_json`."""
        page_at: tuple[str, Mapping[str, str | int] | None] | None = (url, params)
        visited: set[str] = set()
        while page_at is not None:
            if repr(page_at) in visited:
                what = f"{name} repeats itself after {len(visited)} pages"
                hint = "Try again later; the list may have changed while it was read."
                raise ProviderUnavailable(self.provider, what, hint)
            visited.add(repr(page_at))
            page = self.get_json(f"{name}/{len(visited):04}.json", *page_at, **options)
            yield page
            self.context.progress(name, len(visited), None)
            page_at = follow(page)

    def retry(self, name: str, request: Callable[[], T]) -> T:
        """Repeat `request` on `RetryableError`: `MAX_CALLS` calls at most, within the deadline."""
        import tenacity

        sleep = cast(Callable[[float], None], self.context.extra.get("sleep", time.sleep))
        retryer = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(RetryableError),
            stop=tenacity.stop_after_attempt(MAX_CALLS),
            wait=wait_s,
            before_sleep=lambda state: self._check_wait(name, state),
            sleep=sleep,
            reraise=True,
        )
        if self._left_s() <= 0:
            what = f"the run's time limit passed before {name} was read"
            raise RunStopped(self.provider, what, SLOW_HINT)
        try:
            return retryer(request)
        except RunStopped:
            raise
        except ProviderUnavailable as error:
            what, hint = self.secrets.scrub(error.what), self.secrets.scrub(error.hint)
            raise type(error)(self.provider, what, hint) from None
        except RetryableError as error:
            what = self.secrets.scrub(f"{name}: {error.what}, {MAX_CALLS} times in a row")
            raise ProviderUnavailable(self.provider, what, NETWORK_HINT) from None

    def _within_limit(self, request: Callable[[], T]) -> T:
        try:
            return call_within(MAX_CALL_TIMEOUTS * self.call_timeout_s, request)
        except TimeoutError as error:
            raise RetryableError(str(error)) from None

    def report_server_time(self, header: str | None) -> None:
        """Passes on the time that a `Date` header gives: a clock that is off is found by it."""
        with suppress(ValueError):
            if header:
                self.context.server_time(parsedate_to_datetime(header))

    def client(self, url: str) -> httpx.Client:
        """The connection pool. Loopback is never asked through a company's proxy."""
        import httpx

        loopback = check_endpoint(self.provider, "address", url).anonymous or is_loopback(url)
        if loopback not in self._clients:
            timeout = httpx.Timeout(self.call_timeout_s, connect=CONNECT_TIMEOUT_S)
            certificates = _certificates(os.environ.get("SSL_CERT_FILE"), trust_env=not loopback)
            self._clients[loopback] = httpx.Client(
                timeout=timeout, verify=certificates, trust_env=not loopback, follow_redirects=False
            )
        return self._clients[loopback]

    def __enter__(self) -> ProviderHttpClient:
        return self

    def __exit__(self, *_: object) -> None:
        while self._clients:
            self._clients.popitem()[1].close()

    def _left_s(self) -> float:
        deadline = self.context.deadline
        return math.inf if deadline is None else deadline - time.monotonic()

    def _check_wait(self, name: str, state: tenacity.RetryCallState) -> None:
        pause_s = state.upcoming_sleep
        error = state.outcome.exception() if state.outcome else None
        if pause_s > LONGEST_RETRY_AFTER_S:
            what = f"{name}: the server asks for a pause of {pause_s:,.0f} s"
            raise ProviderUnavailable(self.provider, what, PAUSE_HINT)
        if (left_s := self._left_s()) <= pause_s:
            what = self.secrets.scrub(f"{name}: {getattr(error, 'what', error)}")
            what += "; the next try would come after the run's time limit"
            kind = RunStopped if left_s <= 0 else ProviderUnavailable
            raise kind(self.provider, what, TIME_HINT)


@cache
def _certificates(_file: str | None, *, trust_env: bool) -> ssl.SSLContext:
    """What servers' certificates are held against: read once for each file that the setting of
    the system names, since reading it takes longer than a call on loopback."""
    import httpx

    return httpx.create_ssl_context(trust_env=trust_env)


_RETRYABLE_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_DENIED_STATUS = frozenset({401, 403})
_STAY = "The last published prices stay in force; "
SLOW_HINT = f"{_STAY}try again when the network is faster, or limit the run with --region."
PAUSE_HINT = f"{_STAY}try again after that pause."
NETWORK_HINT = (
    f"{_STAY}try again later, and if it lasts, check the network and the provider's status page."
    " Where a proxy opens TLS, name the file with its certificate in SSL_CERT_FILE, AWS_CA_BUNDLE"
    " and REQUESTS_CA_BUNDLE."
)
TIME_HINT = (
    f"{_STAY}check the network and the provider's status page, or give the run more time with "
    "--deadline."
)


class AccessDenied(ProviderUnavailable):
    """The provider knows us not, or does not let us."""


class SignInExpired(AccessDenied):
    """The sign-in ended on the way: it says nothing about what the account may see."""


class BadRequest(ProviderUnavailable):
    """The provider does not understand the question (400): another wording may do."""


def raise_for_status(
    provider: str, url: str, response: httpx.Response, denied_hint: str = CREDENTIALS_HINT
) -> None:
    """`RetryableError`, `AccessDenied` or `ProviderUnavailable` for an answer that is not 200."""
    status = response.status_code
    if status == 200:
        return
    what = f"{redact_url(url)} answered {status} {response.reason_phrase}"
    with suppress(ValueError, LookupError, TypeError):
        what += f": {json.loads(response.read())['error']['message'][:300]}"
    if status in _RETRYABLE_STATUS:
        raise RetryableError(what, parse_retry_after_s(response.headers.get("retry-after")))
    if status in _DENIED_STATUS or "API key" in what:
        raise AccessDenied(provider, what, denied_hint)
    hint = "Check the address in the settings, and whether the provider changed its API."
    raise (BadRequest if status == 400 else ProviderUnavailable)(provider, what, hint)


MAX_CALLS = 5
"""Calls for one page, the first one counted."""
MAX_WAIT_S = 60.0
"""Longest time that one page is waited for by our own choice, over all its calls, s."""
LONGEST_RETRY_AFTER_S = 300.0
"""A server that asks for a longer wait, s, is taken as unavailable."""


class RetryableError(Exception):
    """A call that may succeed when repeated. `retry_after_s`: what the server asked us to wait."""

    def __init__(self, what: str, retry_after_s: float | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.retry_after_s = retry_after_s


def parse_retry_after_s(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a `Retry-After` header asks for, a number or a date; None without one.

    >>> parse_retry_after_s("7"), parse_retry_after_s("soon")
    (7.0, None)
    """
    try:
        seconds = float(header or "nan")
    except ValueError:
        try:
            moment = parsedate_to_datetime(str(header))
        except ValueError:
            return None
        moment_utc = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (moment_utc - (now or datetime.now(UTC))).total_seconds()
    return None if math.isnan(seconds) else max(0.0, seconds)


def wait_s(state: tenacity.RetryCallState) -> float:
    """Seconds until the next call: what the server asked for, else at random up to 4, 8, 16 and
    32 s, `MAX_WAIT_S` in all."""
    import tenacity

    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, RetryableError) and error.retry_after_s is not None:
        return error.retry_after_s
    back_off = tenacity.wait_random_exponential(multiplier=MAX_WAIT_S / (2 ** (MAX_CALLS - 1) - 1))
    return back_off(state)


_SECRET_NAME = re.compile(r"KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL", re.IGNORECASE)
_PASSWORD = re.compile(r"://[^/\s:@]*:([^/\s]+)@")
"""In addresses, of which a setting may hold several, or something that only looks like one."""
_SHORTEST_SECRET = 6
"""Characters. A shorter value would blank out ordinary words."""


@dataclass(frozen=True)
class Endpoint:
    """A base address that may be called. `anonymous`: send no credentials to it."""

    url: str
    anonymous: bool


def is_loopback(url: str) -> bool:
    """Whether the host of `url` is this machine, by name or by number.

    >>> is_loopback("http://127.0.0.1:8080/x"), is_loopback("http://localhost.example.com")
    (True, False)
    """
    host = _split_url(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_endpoint(provider: str, setting: str, url: str) -> Endpoint:
    """`url` as an endpoint, or `RunStopped` that names the setting and what to do.

    >>> check_endpoint("aws", "AWS_ENDPOINT_URL", "http://127.0.0.1:4566/")
    Endpoint(url='http://127.0.0.1:4566', anonymous=True)
    """
    url = url.strip().rstrip("/")
    parts = _split_url(url)
    if parts.scheme == "https" and parts.hostname:
        return Endpoint(url, anonymous=False)
    if parts.scheme == "http" and is_loopback(url):
        return Endpoint(url, anonymous=True)
    raise RunStopped(
        provider,
        f"{setting}={redact_url(url)} is not an address that may be called",
        f"Set {setting} to an https address; plain http is accepted for 127.0.0.1, ::1 and "
        "localhost alone.",
    )


def same_origin(base: str, link: str) -> bool:
    """Whether `link` leads to the server of `base`: a next page must not lead elsewhere.

    >>> same_origin("https://prices.azure.com", "https://prices.azure.com:443/api?$skip=100")
    True
    """
    return _origin(base) == _origin(link)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = _split_url(url)
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def redact_url(url: str) -> str:
    """`url` as an error may show it: without user, password, query and fragment.

    >>> redact_url("https://user:hunter2@mirror.example/prices?key=abc")
    'https://mirror.example/prices'
    """
    parts = _split_url(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", "")) or "(unreadable)"


def _split_url(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - it is read here to be checked
    except ValueError:
        return urlsplit("")
    return parts


class Secrets:
    """The values of settings whose name says that they are secret, and passwords in addresses.
    `scrub` replaces each by `***` in text.

    >>> secrets = Secrets({"GCP_API_KEY": "AIzaSecret", "GCP_PROJECT": "research"})
    >>> secrets.scrub("key=AIzaSecret of research")
    'key=*** of research'
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        secrets = [value for name, value in settings.items() if _SECRET_NAME.search(name)]
        passwords = [word for value in settings.values() for word in _PASSWORD.findall(value)]
        every = {*secrets, *passwords, *map(unquote, passwords)}
        long_enough = [value for value in every if len(value) >= _SHORTEST_SECRET]
        self._values = sorted(long_enough, key=len, reverse=True)

    def scrub(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, "***")
        return text


def call_within(limit_s: float, function: Callable[[], T]) -> T:
    """`function()`, or `TimeoutError` after `limit_s`; its thread is left to itself then.

    A server that sends a byte now and then is never silent long enough for a client's time-out.

    >>> call_within(1.0, lambda: 2)
    2
    """
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        return future.result(timeout=limit_s)
    except TimeoutError:
        if future.done():  # the function's own
            raise
        raise TimeoutError(f"no complete answer within {limit_s:g} s") from None
