"""The cache that several servers share (CACHE_URL), and what stands in while it is down.

Limits are counted in it. Without it each process counts by itself, so that a request is slower to
be refused and none fails.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from redis.exceptions import RedisError

from planner.services.observability.logs import hide_secrets

logger = logging.getLogger(__name__)
MAX_ENTRIES = 100_000
"""Counts that a process keeps; with fewer, many visitors would drop each other's."""
TRY_AGAIN_SECONDS = 10.0
"""For how long a cache that failed is left alone."""
_METHODS = (
    *("add", "get", "set", "touch", "delete", "incr", "has_key"),
    *("get_many", "set_many", "delete_many", "clear"),
)


def _with_stand_in(name: str) -> Callable[..., Any]:
    """The method of Redis, and that of the process's own cache where Redis fails."""

    def call(self: SharedCache, *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= self.down_until:
            try:
                return getattr(RedisCache, name)(self, *args, **kwargs)
            except (RedisError, OSError) as failure:
                self.note_failure(failure)
        return getattr(self.stand_in, name)(*args, **kwargs)

    return call


class SharedCache(RedisCache):
    """Redis; while it does not answer, a cache of this process."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.stand_in = LocMemCache("stand-in", {"OPTIONS": {"MAX_ENTRIES": MAX_ENTRIES}})

    def check(self) -> None:
        """Asks Redis itself, also while something stands in. Raises what it raises."""
        RedisCache.get(self, "readiness")

    @property
    def down_until(self) -> float:
        return _down_until.moment

    def note_failure(self, failure: Exception) -> None:
        with _down_until.lock:
            if time.monotonic() >= _down_until.moment:
                logger.warning("The cache does not answer, so this process counts: %s", failure)
            _down_until.moment = time.monotonic() + TRY_AGAIN_SECONDS


class _DownUntil:
    """Shared by all threads, each of which has a cache object of its own."""

    def __init__(self) -> None:
        self.moment = 0.0
        self.lock = threading.Lock()


_down_until = _DownUntil()
for _name in _METHODS:
    setattr(SharedCache, _name, _with_stand_in(_name))


MANIFEST = "staticfiles.json"


def is_collected(root: Path, sources: Iterable[Path]) -> bool:
    """Whether the manifest in `root` is there and no older than any file of `sources`.

    Without it, or after an upgrade that brought newer files, the files are served from where they
    are: without a year in the browser's cache, but as they should be.
    """
    try:
        collected_at = (root / MANIFEST).stat().st_mtime
    except OSError:
        return False
    return all(file.stat().st_mtime <= collected_at for file in _list_files(sources))


def _list_files(sources: Iterable[Path]) -> Iterator[Path]:
    for source in sources:
        if source.is_dir():
            yield from (file for file in source.rglob("*") if file.is_file())
        elif source.is_file():
            yield source


FOLDER = "django.core.files.storage.FileSystemStorage"
BUCKET = "storages.backends.s3.S3Storage"


def choose_upload_storage(bucket: str, endpoint: str) -> dict[str, object]:
    """The entry of STORAGES; credentials are found as boto3 finds them."""
    if not bucket:
        return {"BACKEND": FOLDER}
    if find_spec("storages") is None:
        raise ImproperlyConfigured(
            "UPLOAD_BUCKET is set, but django-storages is not installed; install it with "
            "pip install 'gpu-cost-planner[s3]', or unset it to keep uploads in UPLOAD_DIR."
        )
    options = {
        "bucket_name": bucket,
        "endpoint_url": endpoint or None,
        "file_overwrite": False,
        "default_acl": None,
    }
    return {"BACKEND": BUCKET, "OPTIONS": options}


_LINK = re.compile(r"https?://\S+")
_BACKENDS = "django.core.mail.backends"
UNSENT = f"{__name__}.EmailBackend"


def choose_mail_backend(host: str, is_development: bool) -> str:
    """The class that sends mail where none is named. Settings ask it.

    >>> choose_mail_backend("", is_development=False)
    'planner.backends.EmailBackend'
    """
    if host:
        return f"{_BACKENDS}.smtp.EmailBackend"
    return f"{_BACKENDS}.console.EmailBackend" if is_development else UNSENT


class EmailBackend(BaseEmailBackend):
    """Writes each mail to the log, with no more of its links than their words."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for mail in email_messages:
            logger.warning(
                "Not sent, as EMAIL_HOST is not set: mail to %s, %r:\n%s",
                ", ".join(mail.recipients()),
                mail.subject,
                _LINK.sub(_name_link, str(mail.body)),
            )
        return len(email_messages)


def _name_link(link: re.Match[str]) -> str:
    address = urlsplit(link[0])
    return f"{address.scheme}://{address.netloc}{hide_secrets(address.path)}"
