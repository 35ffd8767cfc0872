"""Typed readers of environment variables. A value that cannot be read stops the start."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from email.utils import parseaddr
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import EmailValidator

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


VARIABLES = {
    "DEBUG": "0 in production; then `SECRET_KEY` and `ALLOWED_HOSTS` are required",
    "SECRET_KEY": "long random text that signs sessions and links (Django's own)",
    "SECRET_KEY_FALLBACKS": "former values of `SECRET_KEY`, by comma, whose sessions and links "
    "still hold (Django's own)",
    "ALLOWED_HOSTS": "names under which the server may be called (Django's own)",
    "CSRF_TRUSTED_ORIGINS": "origins, with https://, whose forms are accepted (Django's own)",
    "LOGIN_REQUIRED": "1 closes market, estimate and comparison to anonymous visitors",
    "DATABASE_URL": "`postgres://user:password@host:5432/name` for PostgreSQL; "
    "without it SQLite in `db.sqlite3`",
    "SIGNUP_OPEN": "1 lets anybody open an account; invited people always can",
    "OIDC_SERVER_URL": "issuer for sign-in with OpenID Connect; without it there is none",
    "OIDC_NAME": "label of the button that signs in with OpenID Connect",
    "OIDC_CLIENT_ID": "client id at the OpenID Connect issuer",
    "OIDC_CLIENT_SECRET": "client secret at the OpenID Connect issuer",
    "OIDC_GROUPS": "what groups of the company's sign-in give, as group=team:role or "
    "group=operator with commas between; teams that are named take their members from it",
    "OIDC_GROUPS_CLAIM": "claim that holds the groups of a person",
    "SSO_ONLY": "1 lets nobody sign in but by OpenID Connect; it needs OIDC_SERVER_URL",
    "UPLOAD_DIR": "where large files of actuals wait to be read, `.uploads` unless set; "
    "shared where a Celery worker runs on another machine",
    "UPLOAD_BUCKET": "bucket in which they wait instead (extra `s3`); credentials as boto3 finds "
    "them",
    "UPLOAD_S3_ENDPOINT": "address of a bucket that is not at AWS, such as MinIO's",
    "EMAIL_HOST": "mail server; unset: no mail is sent, and the log says which, without links",
    "EMAIL_PORT": "port of the mail server",
    "EMAIL_HOST_USER": "account at the mail server; unset: none",
    "EMAIL_HOST_PASSWORD": "password of that account",
    "EMAIL_USE_TLS": "whether mail is sent encrypted by STARTTLS; by default on port 587",
    "DEFAULT_FROM_EMAIL": "sender of all mail",
    "PRICE_REFRESH_SCHEDULE": "when prices are refreshed, as minute, hour, day of the month, month "
    "and day of the week in UTC, such as 15 3 * * *; unset: never by itself",
    "PRICE_REFRESH_JITTER_SECONDS": "longest random wait once a refresh is due, s",
    "PRICE_NOTICE_EMAILS": "addresses told of prices that fail or are quarantined",
    "SECURE_SSL_REDIRECT": "0 where no plain-http request has to be sent to https (DEBUG=0 only)",
    "SECURE_HSTS_SECONDS": "how long browsers insist on https, s (DEBUG=0 only)",
    "NUM_PROXIES": "proxies in front of the server whose `X-Forwarded-For` is believed",
    "API_MAX_BODY_BYTES": "largest JSON body, bytes",
    "API_MAX_UPLOAD_BYTES": "largest file of actuals, bytes",
    "API_REQUESTS_PER_MINUTE": "rate limit of a signed-in caller or token; 0 for none",
    "API_ANONYMOUS_REQUESTS_PER_MINUTE": "rate limit of an anonymous address; 0 for none",
    "WORK_ANONYMOUS": "most units of work (about microseconds) for one request of an anonymous "
    "visitor; large questions are refused, or answered in part",
    "WORK_SIGNED_IN": "the same for somebody signed in or a token, and for the job of an "
    "anonymous visitor",
    "WORK_JOB": "the same for a job of somebody signed in, and for a command",
    "TEAMS_PER_PERSON": "most teams that one person owns; 0 for no limit",
    "MEMBERS_PER_TEAM": "most members of a team; 0 for no limit",
    "PROJECTS_PER_TEAM": "most projects of a team, archived ones too; 0 for no limit",
    "UPLOADS_PER_PROJECT": "most uploads of actuals of a project; 0 for no limit",
    "JOBS_PER_VISITOR": "most jobs of an anonymous address that wait or run at once, "
    "0 for no limit",
    "JOBS_PER_PERSON": "the same for somebody signed in or a service token",
    "JOBS_PER_TEAM": "the same for all of a team",
    "JOBS_PER_SERVER": "the same for everybody; operators and the server's own jobs come on top",
    "WEBHOOK_ALLOWED_NETWORKS": "networks (CIDR) that webhooks may reach although not public",
    "CELERY_BROKER_URL": "broker for long work; without it a thread of the server does it",
    "JOBS_BACKEND": "`celery`, `thread` or `inline`; `celery` where there is a broker, "
    "else `thread`",
    "CACHE_URL": "Redis that all processes share, for limits by the minute and for sign-in; "
    "without it each process counts by itself",
    "PRICES_AMBER_AFTER_DAYS": "median age from which list prices are shown amber, days",
    "PRICES_RED_AFTER_DAYS": "median age from which list prices are shown red, days",
    "SPOT_PRICES_AMBER_AFTER_DAYS": "median age from which spot prices are shown amber, days",
    "SPOT_PRICES_RED_AFTER_DAYS": "median age from which spot prices are shown red, days",
    "HOUSEKEEPING_SCHEDULE": "when rows and files that nobody needs any more are removed, in the "
    "form of PRICE_REFRESH_SCHEDULE; empty: never by itself",
    "RETAIN_JOBS_DAYS": "days after its end that a job and its result stay; 0: forever",
    "RETAIN_DELIVERIES_DAYS": "days that webhook deliveries stay on record; 0: forever",
    "RETAIN_INVITATIONS_DAYS": "days that invitations stay after they were accepted or revoked, or "
    "expired; 0: forever",
    "RETAIN_QUARANTINED_BATCHES_DAYS": "days that the prices of released and rejected batches "
    "stay, beside the record of the decision; 0: forever",
    "RETAIN_REFRESH_RUNS_DAYS": "days that refreshes of prices stay on record; 0: forever",
    "LOG_LEVEL": "least severe message that is logged: DEBUG, INFO, WARNING, ERROR or CRITICAL",
    "LOG_FORMAT": "`plain`, or `json` for one object a line and a line for each request",
    "METRICS_TOKEN": "bearer token of `/metrics`; unset: there is no such address",
    "METRICS_PORT": "port on which a Celery worker serves what it counted; 0: none",
    "PROMETHEUS_MULTIPROC_DIR": "empty folder in which the processes of one service keep what they "
    "count, so that each tells of all; needed with several gunicorn workers or Celery processes",
    "SENTRY_DSN": "address of a Sentry project that errors are sent to (extra `telemetry`)",
}
"""Every variable that may be read, with its meaning: the settings reference prints it."""
SECRETS = frozenset(
    {
        "SECRET_KEY",
        "SECRET_KEY_FALLBACKS",
        "DATABASE_URL",
        "OIDC_CLIENT_SECRET",
        "EMAIL_HOST_PASSWORD",
        "CELERY_BROKER_URL",
        "CACHE_URL",
        "METRICS_TOKEN",
        "SENTRY_DSN",
    }
)
"""Variables that may be read from a file, which `NAME_FILE` names, instead."""
MAX_SECRET_BYTES = 65_536
MOST_NUMBER = 10**12
"""Beyond any number of bytes, units of work or seconds that a setting means."""


ROLES = ("viewer", "editor", "approver", "owner")
OPERATOR = "operator"
LOG_LEVELS = ("INFO", "DEBUG", "WARNING", "ERROR", "CRITICAL")


class GroupRole(NamedTuple):
    """What a group of the company's sign-in gives: a role in a team, or to be an operator."""

    group: str
    team: str = ""
    role: str = ""
    is_operator: bool = False


class Environment:
    """Reads `variables` (the process's own by default)."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        self.variables = os.environ if variables is None else variables

    def text(self, name: str, default: str = "") -> str:
        path = self.variables.get(f"{name}_FILE", "").strip() if name in SECRETS else ""
        if not path:
            return self.variables.get(name, default).strip()
        if self.variables.get(name, "").strip():
            raise ImproperlyConfigured(f"{name} and {name}_FILE are both set; unset one of them.")
        # The text of a file, as Docker, Kubernetes and systemd hand over secrets.
        try:
            with Path(path).open("rb") as file:
                content = file.read(MAX_SECRET_BYTES + 1)
            text = content.decode().strip()
        except (OSError, ValueError) as error:
            raise ImproperlyConfigured(f"{name}_FILE={path!r} cannot be read: {error}") from None
        if len(content) > MAX_SECRET_BYTES:
            raise ImproperlyConfigured(f"{name}_FILE={path!r} is larger than a secret can be.")
        if not text:
            raise ImproperlyConfigured(f"{name}_FILE={path!r} is empty; write the secret into it.")
        return text

    def database(self, name: str, default: str) -> dj_database_url.DBConfig:
        """Django's settings of the database at an address, whose password no refusal shows."""
        url = self.text(name) or default
        try:
            database = dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True)
            kind = url.partition(":")[0]
            if database["ENGINE"] not in DATABASE_OPTIONS:
                what = f"{kind!r} is no kind of database that the planner works with"
            elif not database["NAME"]:
                what = "it names no database"
            else:
                options = database.get("OPTIONS", {})
                return {**database, "OPTIONS": DATABASE_OPTIONS[database["ENGINE"]] | options}
        except dj_database_url.UnknownSchemeError as error:
            what = f"{error.scheme!r} is no kind of database"
        except dj_database_url.ParseError:
            what = "it cannot be read as an address (in a password, write @ as %40, : as %3A)"
        raise ImproperlyConfigured(
            f"{name}: {what}; write postgres://user:password@host:5432/name, or "
            "sqlite:////folder/file.sqlite3."
        )

    def flag(self, name: str, default: bool = False) -> bool:
        if name not in self.variables:
            return default
        value = self.text(name).lower()
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
        raise ImproperlyConfigured(f"{name}={value!r} is not a yes or no; use 1 or 0.")

    def number(self, name: str, default: int, least: int = 0, most: int = MOST_NUMBER) -> int:
        value = self.text(name) or str(default)
        try:
            number = int(value)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name}={value!r} is not a whole number; write one from {least:,} to {most:,} in "
                f"digits alone, or unset it for {default:,}."
            ) from None
        if least <= number <= most:
            return number
        advice = f"write one, or unset it for {default:,}" if least <= default <= most else "set it"
        raise ImproperlyConfigured(
            f"{name}={number} is not from {least:,} to {most:,}; {advice} "
            f"({VARIABLES.get(name, name)})."
        )

    def needs(self, name: str, setting: str, otherwise: str) -> None:
        """Refuses a setting that is of no use without this one."""
        if not self.text(name):
            raise ImproperlyConfigured(f"{setting} needs {name}: {otherwise}; set {name}.")

    def address(self, name: str) -> str:
        """Where something is called, several by commas or semicolons; a refusal shows none."""
        value = self.text(name)
        schemes, example = ADDRESSES[name]
        if not all(_is_address(one.strip(), schemes) for one in re.split("[,;]", value) if value):
            raise ImproperlyConfigured(
                f"{name} is no address that can be called; write it like {example} (in a password, "
                "write @ as %40, : as %3A, / as %2F, commas as %2C)."
            )
        return value

    def hosts(self, name: str, default: str = "") -> list[str]:
        """Names of servers."""
        return self._checked(name, self.words(name, default), _is_host, "planner.example.com")

    def host(self, name: str) -> str:
        """The name of a server, "" for none."""
        return "".join(self._checked(name, self.words(name), _is_host, "smtp.example.com"))

    def origins(self, name: str) -> list[str]:
        """Kind and name of servers."""
        return self._checked(name, self.words(name), _is_origin, "https://planner.example.com")

    def mails(self, name: str) -> list[str]:
        """Addresses of mail."""
        return self._checked(name, self.words(name), _is_mail, "operator@example.com")

    def mail(self, name: str, default: str) -> str:
        """One address of mail."""
        texts = [self.text(name) or default]
        return self._checked(name, texts, _is_mail, "operator@example.com")[0]

    def _checked(
        self, name: str, values: list[str], is_usable: Callable[[str], bool], example: str
    ) -> list[str]:
        for value in values:
            if not is_usable(value):
                raise ImproperlyConfigured(f"{name}: {value!r} is of another form than {example}.")
        return values

    def cron(self, name: str, default: str = "") -> str:
        """Minute, hour, day of the month, month and day of the week, in UTC; empty: never."""
        value = self.text(name, default)
        if value:
            from celery.schedules import ParseException, crontab

            try:
                crontab.from_string(value)
            except (ParseException, ValueError):
                raise ImproperlyConfigured(
                    f"{name}={value!r} is not a schedule; write minute, hour, day of the month, "
                    "month and day of the week, such as 15 3 * * * for 03:15 UTC every day."
                ) from None
        return value

    def group_roles(self, name: str) -> list[GroupRole]:
        """`group=team:role` or `group=operator`, separated by commas."""
        return [self._group_role(name, text) for text in self.words(name)]

    def _group_role(self, name: str, text: str) -> GroupRole:
        group, _, gives = (part.strip() for part in text.partition("="))
        team, _, role = (part.strip() for part in gives.partition(":"))
        if group and gives == OPERATOR:
            return GroupRole(group, is_operator=True)
        if not group or not team or role not in ROLES:
            raise ImproperlyConfigured(
                f"{name}: {text!r} gives no role; write group=team:role with the team's slug and "
                f"one of {', '.join(ROLES)}, or group={OPERATOR}."
            )
        return GroupRole(group, team, role)

    def choice(self, name: str, allowed: tuple[str, ...]) -> str:
        """One of these, the first by default."""
        value = self.text(name) or allowed[0]
        if value not in allowed:
            raise ImproperlyConfigured(
                f"{name}={value!r} is none of {', '.join(allowed)}; write one of them, or unset it "
                f"for {allowed[0]}."
            )
        return value

    def networks(self, name: str) -> list[str]:
        """Networks in the form of CIDR, separated by commas."""
        for text in self.words(name):
            try:
                ipaddress.ip_network(text)
            except ValueError:
                raise ImproperlyConfigured(
                    f"{name}: {text!r} is no network; write it like 10.0.0.0/8, with no digit "
                    "behind its length."
                ) from None
        return self.words(name)

    def words(self, name: str, default: str = "") -> list[str]:
        """A list separated by commas."""
        return [word.strip() for word in self.text(name, default).split(",") if word.strip()]


DATABASE_OPTIONS: dict[str, dict[str, object]] = {
    "django.db.backends.sqlite3": {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    },
    "django.db.backends.postgresql": {"connect_timeout": 5},
}
"""The databases that the planner works with, and how it is connected to them (s)."""


_WEB = ("http", "https")
ADDRESSES: dict[str, tuple[tuple[str, ...], str]] = {
    "CACHE_URL": (("redis", "rediss", "unix"), "redis://127.0.0.1:6379/1"),
    "CELERY_BROKER_URL": ((), "redis://127.0.0.1:6379/0"),
    "OIDC_SERVER_URL": (_WEB, "https://login.example.com"),
    "SENTRY_DSN": (_WEB, "https://key@o1.ingest.sentry.io/2"),
    "UPLOAD_S3_ENDPOINT": (_WEB, "https://minio.example.com:9000"),
}
"""The settings that are addresses: how they begin, none for any broker; and one to go by."""
_HOST_NAME = re.compile(r"\*|\.?[\w-]+(\.[\w-]+)*\.?|\[[0-9A-Fa-f:.]+\]")


def _is_address(address: str, schemes: tuple[str, ...]) -> bool:
    from kombu.transport import TRANSPORT_ALIASES

    try:
        parts = urlsplit(address)
        is_open = parts.port != 0
    except ValueError:
        return False
    kind, _, way = parts.scheme.partition("+")
    is_known = parts.scheme in schemes if schemes else kind in TRANSPORT_ALIASES
    if not (is_known and is_open and "://" in address) or any(sign.isspace() for sign in address):
        return False
    is_redis = kind in ("redis", "rediss") and not way
    if is_redis and not re.fullmatch(r"/?\d*", parts.path):
        return False
    return bool(parts.hostname) or not (is_redis or kind in _WEB)


def _is_host(host: str) -> bool:
    return _HOST_NAME.fullmatch(host) is not None


def _is_origin(origin: str) -> bool:
    kind, _, place = origin.partition("://")
    return kind in _WEB and re.fullmatch(r"[\w.\[\]-]+(:\d{1,5})?", place) is not None


def _is_mail(address: str) -> bool:
    plain = parseaddr(address)[1]
    try:
        EmailValidator(allowlist=["localhost"])(plain)
    except ValidationError:
        return False
    return address == plain or address.endswith(f"<{plain}>")
