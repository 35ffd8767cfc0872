"""What settings have to look like, and what a refusal may show of one that holds a password."""

from __future__ import annotations

import re
from email.utils import parseaddr
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from pricing.common.arguments import MOST_PORT

HIDDEN = "…"
_WEB = ("http", "https")
_REDIS = ("redis", "rediss")
_HOST_NAME = re.compile(r"\*|\.?[\w-]+(\.[\w-]+)*\.?|\[[0-9A-Fa-f:.]+\]")

DATABASE_OPTIONS: dict[str, dict[str, object]] = {
    "django.db.backends.sqlite3": {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    },
    "django.db.backends.postgresql": {"connect_timeout": 5},
}
"""The databases that the planner works with, and how it is connected to them (s)."""


class AddressForm(NamedTuple):
    """How an address of a setting begins, and one to go by."""

    example: str
    schemes: tuple[str, ...] = _WEB
    """None: those of the brokers that are known here."""
    separators: str = ""
    """Signs between several addresses; "" where there is one."""
    shows_path: bool = True
    """Whether a refusal may show the path: that of a webhook is its secret."""


ADDRESSES = {
    "CACHE_URL": AddressForm("redis://127.0.0.1:6379/1", (*_REDIS, "unix"), ",;"),
    "CELERY_BROKER_URL": AddressForm("redis://127.0.0.1:6379/0", (), ";"),
    "OIDC_SERVER_URL": AddressForm("https://login.example.com"),
    "OTEL_EXPORTER_OTLP_ENDPOINT": AddressForm("http://127.0.0.1:4318"),
    "PRICE_NOTICE_WEBHOOK": AddressForm("https://chat.example.com/hooks/1", shows_path=False),
    "SENTRY_DSN": AddressForm("https://key@o1.ingest.sentry.io/2"),
    "UPLOAD_S3_ENDPOINT": AddressForm("https://minio.example.com:9000"),
}
"""The settings that are addresses."""


def find_address_fault(name: str, value: str) -> str:
    """Why nothing can be called at the address that a setting holds, with the remedy; or "".

    >>> find_address_fault("CACHE_URL", "redis://:s3cret@host:6379/one").partition(";")[0]
    "CACHE_URL='redis://…@host:6379/one' does not end with the number of a database"
    """
    form = ADDRESSES[name]
    addresses = re.split(f"[{form.separators}]", value) if form.separators else [value]
    fault = next(filter(None, (_fault_of(name, address.strip()) for address in addresses)), "")
    if not fault:
        return ""
    shown = hide_password(value, shows_path=form.shows_path)
    coded = " (in a password, write @ as %40, : as %3A, / as %2F)" if "@" in value else ""
    return f"{name}={shown!r} {fault}; write it like {form.example}{coded}."


def hide_password(address: str, *, shows_path: bool = True) -> str:
    """An address without what may be secret in it, also one that cannot be read.

    >>> hide_password("redis://ada:s3@cret@host/1?password=x"), hide_password("redis://:s3cret/1")
    ('redis://…@host/1?…', 'redis://:…')
    """
    kind, mark, rest = address.partition("://")
    if not mark:
        kind, rest = "", address
    user, at, place = rest.rpartition("@")
    begin = kind + mark + (HIDDEN if user else "") + at
    place, query, _ = place.partition("?")
    host, slash, path = place.partition("/")
    name, colon, port = host.rpartition(":")
    if colon and not host.endswith("]") and not port.isdecimal():
        return f"{begin}{name}:{HIDDEN}"
    path = path if shows_path or not path else HIDDEN
    return begin + host + slash + path + (query and f"{query}{HIDDEN}")


def _fault_of(name: str, address: str) -> str:
    """What is wrong with one address, as the end of a sentence."""
    if "://" not in address:
        return "is no address"
    try:
        parts = urlsplit(address)
        if parts.port == 0:
            raise ValueError
    except ValueError:
        return f"has a host that cannot be read or a port that is none from 1 to {MOST_PORT}"
    if any(sign.isspace() for sign in address):
        return "holds a space"
    kind, _, way = parts.scheme.partition("+")
    schemes = ADDRESSES[name].schemes
    if schemes and parts.scheme not in schemes:
        return f"begins with {kind!r}, not with {' or '.join(schemes)}"
    if not schemes and kind not in _brokers():
        return f"begins with {kind!r}, which is no broker that is known here"
    return "" if way or kind not in (*_WEB, *_REDIS) else _fault_of_parts(name, kind, parts)


def _fault_of_parts(name: str, kind: str, parts: SplitResult) -> str:
    if not parts.hostname:
        return "names no host"
    if kind in _REDIS and not re.fullmatch(r"/?\d*", parts.path):
        return "does not end with the number of a database"
    if name == "SENTRY_DSN" and not (parts.username and re.search(r"/\d+/?$", parts.path)):
        return "lacks the key before @ or the number of the project at its end"
    return ""


def _brokers() -> frozenset[str]:
    from kombu.transport import TRANSPORT_ALIASES

    return frozenset(TRANSPORT_ALIASES)


def find_host_fault(host: str) -> str:
    """Why a request can never be for this host, as the end of a sentence; or "".

    >>> find_host_fault("https://planner.example.com")
    'is an address; write the name alone, like planner.example.com'
    """
    if "://" in host or "/" in host:
        return "is an address; write the name alone, like planner.example.com"
    if _HOST_NAME.fullmatch(host):
        return ""
    return "is no name of a server; write it without its port, like planner.example.com or [::1]"


def find_origin_fault(origin: str) -> str:
    """Why no form can come from this origin, as the end of a sentence; or "".

    >>> find_origin_fault("planner.example.com")
    'is no origin; write it with its kind, like https://planner.example.com'
    """
    try:
        parts = urlsplit(origin)
        is_one = parts.scheme in _WEB and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_one = False
    if not is_one:
        return "is no origin; write it with its kind, like https://planner.example.com"
    if parts.path or parts.query or parts.fragment or parts.username is not None:
        return "is more than an origin; write no path, like https://planner.example.com"
    return ""


def find_mail_fault(address: str) -> str:
    """Why no mail goes to or from an address, as the end of a sentence; or "".

    >>> find_mail_fault("operator"), find_mail_fault("Prices <prices@example.com>")
    ('is no address of mail; write it like operator@example.com', '')
    """
    plain = parseaddr(address)[1]
    name, _, domain = plain.rpartition("@")
    is_whole = address == plain or address.endswith(f"<{plain}>")
    if is_whole and name and _HOST_NAME.fullmatch(domain) and not re.search(r"[\s:/]", name):
        return ""
    return "is no address of mail; write it like operator@example.com"


def find_folder_fault(path: str) -> str:
    """Why nothing can be put into a folder, as the end of a sentence; or "".

    >>> find_folder_fault("/etc/passwd/uploads"), find_folder_fault("/tmp/not-yet-there")
    ('cannot be a folder, since /etc/passwd is a file', '')
    """
    try:
        file = next((one for one in (Path(path), *Path(path).parents) if one.is_file()), None)
    except OSError:  # Not to be looked at by this account; `/readyz` says what it cannot write.
        file = None
    return f"cannot be a folder, since {file} is a file" if file else ""


def is_class_here(path: str) -> bool:
    """Whether the module of `package.module.Class` can be found.

    >>> is_class_here("django.core.mail.backends.smtp.EmailBackend"), is_class_here("smtp")
    (True, False)
    """
    module, _, name = path.rpartition(".")
    try:
        return bool(name) and bool(module) and find_spec(module) is not None
    except (ImportError, ValueError):
        return False
