"""What differs between installations: every environment variable of the planner, declared once.

A value that cannot be used, or two that do not go together, stop the start with one line.
"""

from __future__ import annotations

import ipaddress
import os
import re
from email.utils import parseaddr
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self
from urllib.parse import unquote, urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import EmailValidator
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator
from pydantic import ValidationError as Refusal
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

ROLES = ("viewer", "editor", "approver", "owner")
SECRET = object()
"""Marks a variable whose value is in no message."""
Secret = Annotated[str, SECRET]


class GroupRole(NamedTuple):
    """What a group of the company's sign-in gives: a role in a team, or to be an operator."""

    group: str
    team: str = ""
    role: str = ""
    is_operator: bool = False


def _split(value: object) -> object:
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return value


def _address(*schemes: str) -> AfterValidator:
    def check(value: str) -> str:
        for address in filter(None, re.split("[,;]", value)):
            parts = urlsplit(address.strip())
            is_redis = parts.scheme in ("redis", "rediss")
            if (
                parts.scheme not in schemes
                or parts.port == 0
                or re.search(r"\s", address.strip())
                or not (parts.hostname or "socket" in parts.scheme or parts.scheme == "unix")
                or (is_redis and not re.fullmatch(r"/?\d*", parts.path))
            ):
                raise ValueError(
                    "it is no address that can be called (in a password, write @ as %40, : as "
                    "%3A, / as %2F, commas as %2C)"
                )
        return value

    return AfterValidator(check)


def _read_database(url: str) -> str:
    try:
        database = dj_database_url.parse(url or "sqlite:///x")
    except (dj_database_url.UnknownSchemeError, dj_database_url.ParseError):
        raise ValueError(
            "it is no address of a database (in a password, write @ as %40, : as %3A)"
        ) from None
    if database["ENGINE"] not in DATABASE_OPTIONS:
        raise ValueError("the planner works with postgres and sqlite alone")
    if not database["NAME"]:
        raise ValueError("it names no database")
    return url


def _read_mail(address: str) -> str:
    plain = parseaddr(address)[1]
    try:
        EmailValidator(allowlist=["localhost"])(plain)
    except ValidationError:
        raise ValueError("it is no address of mail") from None
    if address != plain and not address.endswith(f"<{plain}>"):
        raise ValueError("it is no address of mail")
    return address


def _read_cron(value: str) -> str:
    if value:
        from celery.schedules import ParseException, crontab

        try:
            crontab.from_string(value)
        except (ParseException, ValueError):
            raise ValueError(
                "it is no schedule of minute, hour, day of the month, month and day of the week"
            ) from None
    return value


def _read_network(text: str) -> str:
    ipaddress.ip_network(text)
    return text


def _read_group_role(text: object) -> object:
    if not isinstance(text, str):
        return text
    group, _, gives = (part.strip() for part in text.partition("="))
    team, _, role = (part.strip() for part in gives.partition(":"))
    if group and gives == "operator":
        return GroupRole(group, is_operator=True)
    if not group or not team or role not in ROLES:
        raise ValueError(f"it gives no role in a team; roles are {', '.join(ROLES)}")
    return GroupRole(group, team, role)


Host = Annotated[
    str, StringConstraints(pattern=r"^(\*|\.?[\w-]+(\.[\w-]+)*\.?|\[[0-9A-Fa-f:.]+\])$")
]
Mail = Annotated[str, AfterValidator(_read_mail)]
Network = Annotated[str, AfterValidator(_read_network)]
Group = Annotated[GroupRole, BeforeValidator(_read_group_role)]
Cron = Annotated[str, AfterValidator(_read_cron)]
Web = Annotated[str, _address("http", "https")]
Cache = Annotated[Secret, _address("redis", "rediss", "unix")]
Broker = Annotated[
    Secret, _address("redis", "rediss", "redis+socket", "sentinel", "amqp", "amqps", "memory")
]
Database = Annotated[Secret, AfterValidator(_read_database)]
MailServer = Annotated[Secret, _address("smtp", "smtp+tls", "smtps")]
LIST = (NoDecode, BeforeValidator(_split))


def _variable(default: Any, meaning: str, example: str = "", **bounds: Any) -> Any:
    return Field(default, description=meaning, examples=[example], **bounds)


class Environment(BaseSettings):
    """Each variable with its type, default, meaning and an example."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")

    DEBUG: bool = _variable(
        True, "0 in production; then `SECRET_KEY` and `ALLOWED_HOSTS` are required", "0"
    )
    SECRETS_DIR: str = _variable(
        "",
        "folder in which each file holds the secret of its name, such as `secret_key`; a variable "
        "of that name goes before the file",
        "/run/secrets",
    )
    SECRET_KEY: Secret = _variable(
        "", "long random text that signs sessions and links", "64 random characters"
    )
    SECRET_KEY_FALLBACKS: Annotated[list[str], SECRET, *LIST] = _variable(
        [], "former values of `SECRET_KEY` whose sessions and links still hold", "former-key"
    )
    ALLOWED_HOSTS: Annotated[list[Host], *LIST] = _variable(
        [], "names under which the server may be called", "planner.example.com"
    )
    NUM_PROXIES: int = _variable(
        0, "proxies in front whose `X-Forwarded-For` is believed", "1", ge=0, le=100
    )
    SECURE_HSTS_PRELOAD: bool = _variable(
        False, "1 asks browsers to know beforehand that this host and those below it use https", "1"
    )
    DATABASE_URL: Database = _variable(
        "", "the database; unset: SQLite in `db.sqlite3`", "postgres://user:password@host:5432/name"
    )
    CACHE_URL: Cache = _variable(
        "",
        "Redis that all processes share, for limits by the minute and for sign-in; unset: each "
        "process counts by itself",
        "redis://127.0.0.1:6379/1",
    )
    CELERY_BROKER_URL: Broker = _variable(
        "", "broker for long work; unset: processes of the server do it", "redis://127.0.0.1/0"
    )
    LOGIN_REQUIRED: bool = _variable(
        False, "1 closes market, estimate and comparison to anonymous visitors", "1"
    )
    SIGNUP_OPEN: bool | None = _variable(
        None,
        "1 lets anybody open an account; invited people always can; unset: where `DEBUG=1`",
        "0",
    )
    OIDC_SERVER_URL: Web = _variable(
        "", "issuer for sign-in with OpenID Connect; unset: there is none", "https://id.example.com"
    )
    OIDC_CLIENT_ID: str = _variable("", "client id at the issuer", "planner")
    OIDC_CLIENT_SECRET: Secret = _variable("", "client secret at the issuer", "a secret")
    OIDC_GROUPS: Annotated[list[Group], *LIST] = _variable(
        [],
        "what a group of the company's sign-in (claim `groups`) gives: a role in a team, or to be "
        "an operator; teams that are named take their members from it",
        "ml=vision-lab:editor,it-ops=operator",
    )
    SSO_ONLY: bool = _variable(False, "1 lets nobody sign in but by OpenID Connect", "1")
    EMAIL_URL: MailServer = _variable(
        "",
        "mail server: `smtp+tls` for STARTTLS (port 587), `smtps` for TLS (465), `smtp` for none "
        "(25); unset: no mail is sent, and the log says which, without links",
        "smtp+tls://user:password@smtp.example.com",
    )
    DEFAULT_FROM_EMAIL: Mail = _variable(
        "planner@localhost", "sender of all mail", "planner@example.com"
    )
    PRICE_REFRESH_SCHEDULE: Cron = _variable(
        "",
        "when prices are refreshed: minute, hour, day of the month, month and day of the week in "
        "UTC; unset: never by itself",
        "15 3 * * *",
    )
    WEBHOOK_ALLOWED_NETWORKS: Annotated[list[Network], *LIST] = _variable(
        [], "networks that alerts may reach although not public", "10.0.0.0/8"
    )
    LOG_LEVEL: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = _variable(
        "INFO", "least severe message that is logged", "WARNING"
    )
    LOG_FORMAT: Literal["plain", "json"] = _variable(
        "plain", "`json`: one object a line, and a line for each request", "json"
    )
    METRICS_TOKEN: Secret = _variable(
        "", "bearer token of `/metrics`; unset: there is no such address", "a secret"
    )
    METRICS_PORT: int = _variable(
        0, "port on which a worker serves what it counted; 0: none", "9101", ge=0, le=65_535
    )
    PROMETHEUS_MULTIPROC_DIR: str = _variable(
        "",
        "empty folder in which the processes of one service keep what they count, so that each "
        "tells of all",
        "/run/planner-web/measures",
    )

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        for setting, needed, why in (
            ("DEBUG=0" * (not self.DEBUG), "SECRET_KEY", "anybody could forge a session"),
            (
                "OIDC_SERVER_URL" * bool(self.OIDC_SERVER_URL),
                "OIDC_CLIENT_ID",
                "nobody could sign in",
            ),
            ("SSO_ONLY=1" * self.SSO_ONLY, "OIDC_SERVER_URL", "nobody could sign in"),
        ):
            if setting and not getattr(self, needed):
                raise ValueError(f"{setting} needs {needed}: without it {why}; set {needed}")
        return self


def is_secret(name: str) -> bool:
    return SECRET in Environment.model_fields[name].metadata


def read_environment() -> Environment:
    """The variables of this process, and the files of `SECRETS_DIR`."""
    folder = os.environ.get("SECRETS_DIR", "").strip() or None
    try:
        for file in Path(folder).iterdir() if folder else ():
            if file.name.upper() in Environment.model_fields and not file.read_text().strip():
                raise OSError(f"{file.name} is empty")
        return Environment(_secrets_dir=folder)
    except Refusal as refusal:
        sentences = [_describe(error) for error in refusal.errors()]
        raise ImproperlyConfigured(" ".join(sentences)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"SECRETS_DIR={folder!r} cannot be read: {error}. Name a folder whose files this "
            "account may read."
        ) from None


def _describe(error: Any) -> str:
    """The variable, its value unless it is a secret, and what to write."""
    what = error["msg"].removeprefix("Value error, ")
    if error["type"] == "string_pattern_mismatch":
        what = "it has another form"
    if not error["loc"]:
        return f"{what}."
    name = str(error["loc"][0])
    example = (Environment.model_fields[name].examples or [""])[0]
    value = "" if is_secret(name) else f"={str(error['input'])[:200]!r}"
    return f"{name}{value}: {what[0].lower()}{what[1:]}. Write it like {example}."


DATABASE_OPTIONS: dict[str, dict[str, object]] = {
    "django.db.backends.sqlite3": {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    },
    "django.db.backends.postgresql": {"connect_timeout": 5},
}
"""The databases that the planner works with, and how it is connected to them (s)."""


def connect_database(url: str) -> dj_database_url.DBConfig:
    """Django's settings of the database at an address."""
    database = dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True)
    options = DATABASE_OPTIONS[database["ENGINE"]] | database.get("OPTIONS", {})
    return {**database, "OPTIONS": options}


def connect_mail_server(url: str) -> dict[str, Any]:
    """Django's settings of the mail server at an address.

    >>> connect_mail_server("smtp+tls://ada:p%40ss@smtp.example.com")["EMAIL_PORT"]
    587
    """
    parts = urlsplit(url)
    port = {"smtp+tls": 587, "smtps": 465}.get(parts.scheme, 25)
    return {
        "EMAIL_HOST": parts.hostname or "",
        "EMAIL_PORT": parts.port or port,
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
    }
