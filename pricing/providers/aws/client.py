"""Calls of the AWS APIs through boto3, under the one policy of `pricing.ingest.http`.

boto3's own retries are switched off: they do not know `Retry-After` or our deadline.
Credentials come from its standard chain; a plain-http endpoint on loopback gets
signatures made with no secret at all.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

from pricing.ingest.http import (
    AccessDenied,
    ProviderHttpClient,
    RetryableError,
    SignInExpired,
    check_endpoint,
    parse_retry_after_s,
)
from pricing.ingest.provider import ProviderUnavailable

_ANONYMOUS_KEY = "anonymous"
"""Access key and secret for plain http on loopback: the signature names the region, no more."""
_OPERATION_MISSING_STATUS = frozenset({404, 405, 501})
_MAX_PAGES = 10_000

_CREDENTIALS_HINT = (
    "Renew the credentials (environment, profile or role), or run without any to read the "
    "public price files. The last published prices stay in force."
)
_UNREACHABLE_HINT = (
    "The last published prices stay in force; check the network and the proxy (HTTP_PROXY, "
    "NO_PROXY for 169.254.169.254), or try again later."
)
_CLOCK_CODES = frozenset({"RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture"})
_CLOCK_MESSAGES = ("Signature not yet current", "Signature expired")
_DENIAL_CODES = (
    "AccessDenied",
    "UnauthorizedOperation",
    "AuthFailure",
    "OptInRequired",
    "UnrecognizedClient",
    "InvalidClientTokenId",
    "Blocked",
    "PendingVerification",
)
_EXPIRED_CODES = ("ExpiredToken", "TokenRefreshRequired")
_BUSY_CODES = ("Throttl", "RequestLimitExceeded", "TooManyRequests", "SlowDown", "Unavailable")
"""How the codes of each class begin or what they hold; AWS has several for each service."""


class AwsClient:
    def __init__(self, http: ProviderHttpClient) -> None:
        self.http = http
        self._session: Any = None
        self._anonymous_boto3: Any = None
        self._clients: dict[tuple[str, str], Any] = {}
        self._making_client = threading.Lock()

    def has_credentials(self) -> bool:
        if find_spec("boto3") is None:
            return False
        try:
            return self._boto3_session().get_credentials() is not None
        except Exception as error:
            translated = _translate_error("credentials", error)
            if translated is None:
                raise
            if isinstance(translated, RetryableError):
                raise ProviderUnavailable("aws", translated.what, _UNREACHABLE_HINT) from None
            raise translated from None

    def configured_region(self) -> str:
        """The region that the operator set, else us-east-1."""
        settings = self.http.context.settings
        configured = settings.get("AWS_REGION") or settings.get("AWS_DEFAULT_REGION")
        return configured or self._boto3_session().region_name or "us-east-1"

    def read_all_pages(
        self,
        name: str,
        service: str,
        region: str,
        operation: str,
        result_key: str,
        reject_empty_pages: bool = False,
        **parameters: Any,
    ) -> Iterator[list[Any]]:
        """The lists under `result_key` of every page. Pages are named `name`-0001.json and so on.

        `reject_empty_pages`: only the last page may be empty; EC2 filters after it has made its
        pages, the price list before.
        """
        token = "nextToken" if result_key[0].islower() else "NextToken"
        what = f"{operation} in {region}"

        def request_page() -> dict[str, Any]:
            response: dict[str, Any]
            response = getattr(self._client(service, region), operation)(**parameters)
            headers = response.pop("ResponseMetadata", {}).get("HTTPHeaders", {})
            self.http.report_server_time(headers.get("date"))
            if result_key not in response:  # botocore reads torn JSON as {}
                raise RetryableError(f"{what} answered without {result_key}")
            if reject_empty_pages and not response[result_key] and response.get(token):
                raise RetryableError(f"{what} returned an empty page")
            return response

        visited_tokens: set[str] = set()
        for number in range(1, _MAX_PAGES):
            page = f"{name}-{number:04}.json"
            response = self.http.call(page, request_page, partial(_translate_error, what))
            yield response[result_key]
            next_token = response.get(token)
            if not next_token:
                return
            if next_token in visited_tokens:
                raise ProviderUnavailable(
                    self.http.provider,
                    f"{what} repeats itself at page {number}",
                    "The last published prices stay in force; try again later.",
                )
            visited_tokens.add(next_token)
            parameters[token] = next_token

    def loopback_url(self) -> str:
        """AWS_ENDPOINT_URL where it needs no credentials, else empty."""
        url = self.http.context.settings.get("AWS_ENDPOINT_URL", "")
        return url if url and check_endpoint("aws", "AWS_ENDPOINT_URL", url).anonymous else ""

    def _boto3_session(self) -> Any:
        if self._session is None:
            import boto3

            settings = self.http.context.settings
            self._session = boto3.Session(
                aws_access_key_id=settings.get("AWS_ACCESS_KEY_ID") or None,
                aws_secret_access_key=settings.get("AWS_SECRET_ACCESS_KEY") or None,
                aws_session_token=settings.get("AWS_SESSION_TOKEN") or None,
                profile_name=settings.get("AWS_PROFILE") or None,
            )
        return self._session

    def _client(self, service: str, region: str) -> Any:
        with self._making_client:  # boto3's clients may be shared by threads, not its sessions
            if (service, region) not in self._clients:
                client = self._make_client(service, region)
                client.meta.events.register("before-parse", _check_operation_exists)
                self._clients[service, region] = client
            return self._clients[service, region]

    def _make_client(self, service: str, region: str) -> Any:
        url = self.http.context.settings.get("AWS_ENDPOINT_URL") or None
        if self.loopback_url():
            return self._loopback_client(service, region, url)
        session = self._boto3_session()
        client = session.client(
            service, region_name=region, endpoint_url=url, config=self._config()
        )
        endpoint_url = client.meta.endpoint_url
        if check_endpoint("aws", "AWS_ENDPOINT_URL", endpoint_url).anonymous:
            return self._loopback_client(service, region, endpoint_url)
        return client

    def _loopback_client(self, service: str, region: str, url: str | None) -> Any:
        import boto3

        config = self._config(proxies={})
        if self._anonymous_boto3 is None:
            self._anonymous_boto3 = boto3.Session(_ANONYMOUS_KEY, _ANONYMOUS_KEY)
        return self._anonymous_boto3.client(
            service, region_name=region, endpoint_url=url, config=config
        )

    def _config(self, **overrides: Any) -> Any:
        from botocore.config import Config

        return Config(
            retries={"total_max_attempts": 1, "mode": "standard"},
            connect_timeout=min(10, self.http.call_timeout_s),
            read_timeout=self.http.call_timeout_s,
            parameter_validation=False,
            **overrides,
        )


def _check_operation_exists(response_dict: dict[str, Any], **_: object) -> None:
    status = response_dict["status_code"]
    if status in _OPERATION_MISSING_STATUS:
        hint = "Check whether the endpoint in AWS_ENDPOINT_URL offers that operation."
        raise NotServed("aws", f"the endpoint does not offer an operation (status {status})", hint)


class NotServed(AccessDenied):
    """An operation is refused, or not there, for a reason that says nothing of the account."""


def _translate_error(what: str, error: Exception) -> RetryableError | ProviderUnavailable | None:
    from botocore import exceptions, parsers

    if isinstance(error, exceptions.ClientError):
        return _translate_answer(what, error.response)
    if isinstance(
        error,
        exceptions.HTTPClientError
        | exceptions.ConnectionError
        | exceptions.IncompleteReadError
        | parsers.ResponseParserError,
    ):
        return RetryableError(f"{what}: {type(error).__name__}")
    if isinstance(
        error,
        exceptions.NoCredentialsError
        | exceptions.PartialCredentialsError
        | exceptions.CredentialRetrievalError
        | exceptions.TokenRetrievalError
        | exceptions.SSOError,
    ):
        return AccessDenied("aws", f"{what}: {error}", _CREDENTIALS_HINT)
    if isinstance(error, exceptions.BotoCoreError):
        return ProviderUnavailable("aws", f"{what}: {error}", "Check the AWS settings.")
    return None


def _translate_answer(what: str, response: Any) -> RetryableError | ProviderUnavailable:
    code, message = (str(response.get("Error", {}).get(one, "")) for one in ("Code", "Message"))
    meta = response.get("ResponseMetadata", {})
    status, headers = meta.get("HTTPStatusCode", 0), meta.get("HTTPHeaders", {})
    status_text = f"{what} answered {status} {code}"
    if status == 429 or status >= 500 or _contains_any(code, _BUSY_CODES):
        return RetryableError(status_text, parse_retry_after_s(headers.get("retry-after")))
    if code in _CLOCK_CODES or message.startswith(_CLOCK_MESSAGES):
        return ProviderUnavailable(
            "aws",
            f"{status_text}: AWS does not accept this machine's time"
            f" (AWS's own is {headers.get('date')})",
            "Set the clock (NTP). The last published prices stay in force.",
        )
    if _contains_any(code, _EXPIRED_CODES):
        return SignInExpired("aws", status_text, _CREDENTIALS_HINT)
    if status in (401, 403) or _contains_any(code, _DENIAL_CODES):
        return AccessDenied("aws", status_text, _CREDENTIALS_HINT)
    hint = "Check the AWS settings, and whether this endpoint offers that operation."
    return NotServed("aws", f"{status_text}: {message}", hint)


def _contains_any(code: str, classes: tuple[str, ...]) -> bool:
    return any(part in code for part in classes)


def split_into_parts(names: list[str], size: int) -> Iterator[list[str]]:
    """`names` in lists of at most `size`.

    >>> list(split_into_parts(["a", "b", "c"], 2))
    [['a', 'b'], ['c']]
    """
    return (names[start : start + size] for start in range(0, len(names), size))


def price_list_region(region: str) -> str:
    """The region of the Price List API for one who works in `region`.

    >>> price_list_region("eu-west-1"), price_list_region("cn-north-1")
    ('us-east-1', 'cn-northwest-1')
    """
    return "cn-northwest-1" if region.startswith("cn-") else "us-east-1"
