"""Where adapters may call, and what must never be said about it.

An endpoint is https, or plain http on a loopback address alone, and then nothing secret is
sent to it. Secrets are recognised by the name of the setting that holds them; `Secrets`
takes them out of every text and recorded page.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from pricing.ingest.provider import RunStopped

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
    """The parts of `url`, all of them empty for what cannot be an address."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - it is read here to be checked
    except ValueError:
        return urlsplit("")
    return parts


class Secrets:
    """The secret values of a run. `scrub` replaces each by `***` in text and in bytes.

    >>> secrets = Secrets.from_settings({"GCP_API_KEY": "AIzaSecret", "GCP_PROJECT": "research"})
    >>> secrets.scrub("key=AIzaSecret of research")
    'key=*** of research'
    """

    def __init__(self, values: Iterable[str]) -> None:
        long_enough = {value for value in values if len(value) >= _SHORTEST_SECRET}
        self._values = sorted(long_enough, key=len, reverse=True)

    @classmethod
    def from_settings(
        cls, settings: Mapping[str, str], extra_secrets: Iterable[str] = ()
    ) -> Secrets:
        """Every value of `settings` whose name says that it is secret, and `extra_secrets`."""
        secret_values = [value for name, value in settings.items() if _SECRET_NAME.search(name)]
        url_passwords = [word for value in settings.values() for word in _PASSWORD.findall(value)]
        return cls([*secret_values, *url_passwords, *map(unquote, url_passwords), *extra_secrets])

    def scrub(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, "***")
        return text

    def scrub_bytes(self, data: bytes) -> bytes:
        for value in self._values:
            data = data.replace(value.encode(), b"***")
        return data
