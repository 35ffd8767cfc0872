"""The ways in which a page does not come, and how a recording keeps them for a replay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pricing.ingest.endpoints import redact_url
from pricing.ingest.provider import ProviderUnavailable
from pricing.ingest.retries import RetryableError, parse_retry_after_s

if TYPE_CHECKING:
    import httpx

_RETRYABLE_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
_DENIED_STATUS = frozenset({401, 403})
_FAILURE_KEY = "recorded_failure"
_REFUSAL_KEY = "recorded_refusal"
"""As recordings of former versions have a refusal."""
CERTIFICATE_HINT = (
    "Check the address in the settings and this machine's clock. Where a proxy opens TLS, name "
    "the file with its certificate in SSL_CERT_FILE, AWS_CA_BUNDLE and REQUESTS_CA_BUNDLE."
)
_STAY = "The last published prices stay in force; "
SLOW_HINT = f"{_STAY}try again when the network is faster, or limit the run with --region."
PAUSE_HINT = f"{_STAY}try again after that pause."
NETWORK_HINT = (
    f"{_STAY}try again later, and if it lasts, check the network and the provider's status page."
)
TIME_HINT = (
    f"{_STAY}check the network and the provider's status page, or give the run more time with "
    "--deadline."
)
_PREFIXES = tuple(f'{{"{key}"'.encode() for key in (_FAILURE_KEY, _REFUSAL_KEY))


class AccessDenied(ProviderUnavailable):
    """The provider knows us not, or does not let us."""


class SignInExpired(AccessDenied):
    """The sign-in ended on the way: it says nothing about what the account may see."""


class BadRequest(ProviderUnavailable):
    """The provider does not understand the question (400): another wording may do."""


_KINDS = {one.__name__: one for one in (AccessDenied, SignInExpired, BadRequest)}


def to_document(error: ProviderUnavailable) -> dict[str, dict[str, str]]:
    """The failure as it is recorded in place of the page."""
    kind = type(error).__name__
    return {_FAILURE_KEY: {"kind": kind, "what": error.what, "remedy": error.hint}}


def raise_recorded(provider: str, page: bytes) -> None:
    """Raises the failure that was recorded in place of `page`, if one was."""
    if not page.startswith(_PREFIXES):
        return
    ((key, failure),) = json.loads(page).items()
    kind = "AccessDenied" if key == _REFUSAL_KEY else failure["kind"]
    raise _KINDS.get(kind, ProviderUnavailable)(provider, failure["what"], failure["remedy"])


def raise_for_status(provider: str, url: str, response: httpx.Response) -> None:
    """`RetryableError`, `AccessDenied` or `ProviderUnavailable` for an answer that is not 200."""
    status = response.status_code
    if status == 200:
        return
    what = f"{redact_url(url)} answered {status} {response.reason_phrase}"
    if status in _RETRYABLE_STATUS:
        raise RetryableError(what, parse_retry_after_s(response.headers.get("retry-after")))
    if status in _DENIED_STATUS:
        raise AccessDenied(provider, what, "Check the credentials and their permissions.")
    hint = "Check the address in the settings, and whether the provider changed its API."
    raise (BadRequest if status == 400 else ProviderUnavailable)(provider, what, hint)
