"""Calls of the AWS APIs through boto3, under the one policy of `pricing.ingest.http`.

boto3's own retries are switched off: they do not know `Retry-After`, our deadline or our
record. Credentials come from its standard chain; a plain-http endpoint on loopback gets
signatures made with no secret at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from pricing.ingest.endpoints import checked_endpoint
from pricing.ingest.http import Pages, Refused
from pricing.ingest.provider import ProviderUnavailable
from pricing.ingest.retries import RetryableError, retry_after_s

_NOBODY = "anonymous"
"""Access key and secret for plain http on loopback: the signature names the region, no more."""
_NOT_THERE = frozenset({404, 405, 501})
_PAGES_AT_MOST = 10_000

_RENEW = (
    "Renew the credentials (environment, profile or role), or run without any to read the "
    "public price files. The last published prices stay in force."
)
_CLOCK_CODES = frozenset({"RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture"})
_CLOCK_MESSAGES = ("Signature not yet current", "Signature expired")
_REFUSAL_CODES = (
    "AccessDenied",
    "UnauthorizedOperation",
    "AuthFailure",
    "OptInRequired",
    "UnrecognizedClient",
    "InvalidClientTokenId",
    "ExpiredToken",
    "Blocked",
    "PendingVerification",
)
_BUSY_CODES = ("Throttl", "RequestLimitExceeded", "TooManyRequests", "SlowDown", "Unavailable")
"""How the codes of each class begin or what they hold; AWS has several for each service."""


class Calls:
    """The AWS APIs as this run may call them."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self._session: Any = None
        self._anonymous: Any = None
        self._clients: dict[tuple[str, str], Any] = {}

    def has_credentials(self) -> bool:
        """Whether boto3 finds credentials anywhere."""
        try:
            return self._boto3().get_credentials() is not None
        except Exception as error:
            known = _translated("aws", "credentials", error)
            if known is None:
                raise
            raise known from None

    def own_region(self) -> str:
        """The region that the operator set, else us-east-1."""
        settings = self.pages.context.settings
        named = settings.get("AWS_REGION") or settings.get("AWS_DEFAULT_REGION")
        return named or self._boto3().region_name or "us-east-1"

    def regions(self) -> list[str]:
        """Every region of EC2 that boto3 knows in the partition of our own."""
        session = self._boto3()
        partition = session.get_partition_for_region(self.own_region())
        return sorted(session.get_available_regions("ec2", partition))

    def ask(
        self,
        name: str,
        service: str,
        region: str,
        operation: str,
        needs: str,
        gapless: bool = False,
        **parameters: Any,
    ) -> dict[str, Any]:
        """One answer. One without its key `needs` was cut off: botocore reads torn JSON as {}."""

        def ask() -> dict[str, Any]:
            answer = getattr(self._client(service, region), operation)(**parameters)
            headers = answer.pop("ResponseMetadata", {}).get("HTTPHeaders", {})
            self.pages.saw_date(headers.get("date"))
            if needs not in answer:
                raise RetryableError(f"{operation} in {region} answered without {needs}")
            if gapless and not answer[needs] and answer.get(_token(needs)):
                raise RetryableError(f"{operation} in {region} left a page empty")
            return dict(answer)

        what = f"{operation} in {region}"
        answer: dict[str, Any] = self.pages.call(name, ask, failure_of(what))
        return answer

    def all_pages(
        self,
        name: str,
        service: str,
        region: str,
        operation: str,
        needs: str,
        gapless: bool = False,
        **parameters: Any,
    ) -> Iterator[list[Any]]:
        """The lists under `needs` of every page. Pages are named `name`-0001.json and so on.

        `gapless`: only the last page may be empty; EC2 filters after it has made its pages, the
        price list before.
        """
        token = _token(needs)
        seen: set[str] = set()
        for number in range(1, _PAGES_AT_MOST):
            page = f"{name}-{number:04}.json"
            answer = self.ask(page, service, region, operation, needs, gapless, **parameters)
            yield answer[needs]
            following = answer.get(token)
            if not following:
                return
            if following in seen:
                raise ProviderUnavailable(
                    self.pages.provider,
                    f"{operation} in {region} goes round in circles at page {number}",
                    "The last published prices stay in force; try again later.",
                )
            seen.add(following)
            parameters[token] = following

    def loopback_endpoint(self) -> bool:
        """Whether AWS_ENDPOINT_URL is one that needs no credentials."""
        url = self.pages.context.settings.get("AWS_ENDPOINT_URL", "")
        return bool(url) and checked_endpoint("aws", "AWS_ENDPOINT_URL", url).anonymous

    def _boto3(self) -> Any:
        """The session of the standard chain, or of what the settings of this run hold."""
        if self._session is None:
            settings = self.pages.context.settings
            self._session = _session(
                aws_access_key_id=settings.get("AWS_ACCESS_KEY_ID") or None,
                aws_secret_access_key=settings.get("AWS_SECRET_ACCESS_KEY") or None,
                aws_session_token=settings.get("AWS_SESSION_TOKEN") or None,
                profile_name=settings.get("AWS_PROFILE") or None,
            )
        return self._session

    def _nobody(self) -> Any:
        if self._anonymous is None:
            self._anonymous = _session(aws_access_key_id=_NOBODY, aws_secret_access_key=_NOBODY)
        return self._anonymous

    def _client(self, service: str, region: str) -> Any:
        if (service, region) not in self._clients:
            client = self._make_client(service, region)
            client.meta.events.register("before-parse", _must_be_there)
            self._clients[service, region] = client
        return self._clients[service, region]

    def _make_client(self, service: str, region: str) -> Any:
        url = self.pages.context.settings.get("AWS_ENDPOINT_URL") or None
        if self.loopback_endpoint():
            return self._loopback_client(service, region, url)
        session = self._boto3()
        client = session.client(
            service, region_name=region, endpoint_url=url, config=self._config()
        )
        found = client.meta.endpoint_url
        if checked_endpoint("aws", "AWS_ENDPOINT_URL", found).anonymous:
            return self._loopback_client(service, region, found)
        return client

    def _loopback_client(self, service: str, region: str, url: str | None) -> Any:
        config = self._config(proxies={})
        return self._nobody().client(service, region_name=region, endpoint_url=url, config=config)

    def _config(self, **more: Any) -> Any:
        from botocore.config import Config

        return Config(
            retries={"total_max_attempts": 1, "mode": "standard"},
            connect_timeout=min(10, self.pages.call_timeout_s),
            read_timeout=self.pages.call_timeout_s,
            parameter_validation=False,
            **more,
        )


def _token(needs: str) -> str:
    """The key of the next page: REST answers are in small letters throughout."""
    return "nextToken" if needs[0].islower() else "NextToken"


def _session(**credentials: Any) -> Any:
    import boto3
    import botocore.session

    core = botocore.session.Session()
    core.register_component("data_loader", _loader())
    return boto3.Session(botocore_session=core, **credentials)


@cache
def _loader() -> Any:
    """Holds the models of the services: EC2's alone takes a second to read."""
    from botocore.loaders import create_loader

    return create_loader()


def _must_be_there(response_dict: dict[str, Any], **_: object) -> None:
    """An endpoint that lacks an operation may say so in a form that botocore cannot read."""
    status = response_dict["status_code"]
    if status in _NOT_THERE:
        remedy = "Check whether the endpoint in AWS_ENDPOINT_URL offers that operation."
        raise Refused("aws", f"an operation is not there, the endpoint answered {status}", remedy)


def failure_of(what: str) -> Callable[[Exception], RetryableError | ProviderUnavailable | None]:
    """How an exception of boto3 is to be taken, for `Pages.call`."""
    return lambda error: _translated("aws", what, error)


def _translated(
    provider: str, what: str, error: Exception
) -> RetryableError | ProviderUnavailable | None:
    from botocore import exceptions, parsers

    if isinstance(error, exceptions.ClientError):
        return _answered(provider, what, error)
    if isinstance(
        error,
        (
            exceptions.HTTPClientError,
            exceptions.ConnectionError,
            exceptions.IncompleteReadError,
            parsers.ResponseParserError,
        ),
    ):
        return RetryableError(f"{what}: {type(error).__name__}")
    if isinstance(
        error,
        (
            exceptions.NoCredentialsError,
            exceptions.PartialCredentialsError,
            exceptions.CredentialRetrievalError,
            exceptions.TokenRetrievalError,
            exceptions.SSOError,
        ),
    ):
        return Refused(provider, f"{what}: {error}", _RENEW)
    if isinstance(error, exceptions.BotoCoreError):
        return ProviderUnavailable(provider, f"{what}: {error}", "Check the AWS settings.")
    return None


def _answered(provider: str, what: str, error: Any) -> RetryableError | ProviderUnavailable:
    """`error` is a `ClientError`: AWS answered, and not what was asked for."""
    code = str(error.response.get("Error", {}).get("Code", ""))
    message = str(error.response.get("Error", {}).get("Message", ""))
    meta = error.response.get("ResponseMetadata", {})
    status, headers = meta.get("HTTPStatusCode", 0), meta.get("HTTPHeaders", {})
    said = f"{what} answered {status} {code}"
    if status == 429 or status >= 500 or _begins(code, _BUSY_CODES):
        return RetryableError(said, retry_after_s(headers.get("retry-after")))
    if code in _CLOCK_CODES or message.startswith(_CLOCK_MESSAGES):
        return ProviderUnavailable(
            provider,
            f"{said}: AWS does not accept this machine's time (its own is {headers.get('date')})",
            "Set the clock (NTP). The last published prices stay in force.",
        )
    if status in (401, 403) or _begins(code, _REFUSAL_CODES):
        return Refused(provider, said, _RENEW)
    remedy = "Check the AWS settings, and whether this endpoint offers that operation."
    return Refused(provider, f"{said}: {message}", remedy)


def _begins(code: str, classes: tuple[str, ...]) -> bool:
    return any(part in code for part in classes)
