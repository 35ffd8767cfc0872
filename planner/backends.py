"""Which of Django's backends files and mail use, and mail that is logged where no server is."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from planner.services.observability.logs import name_route

logger = logging.getLogger(__name__)


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


_LINK = re.compile(r"https?://\S+")
_BACKENDS = "django.core.mail.backends"
UNSENT = f"{__name__}.EmailBackend"


def choose_mail_backend(url: str, is_development: bool) -> str:
    """The class that sends mail where none is named. Settings ask it.

    >>> choose_mail_backend("", is_development=False)
    'planner.backends.EmailBackend'
    """
    if url:
        return f"{_BACKENDS}.smtp.EmailBackend"
    return f"{_BACKENDS}.console.EmailBackend" if is_development else UNSENT


class EmailBackend(BaseEmailBackend):
    """Writes each mail to the log, with the routes of its links."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for mail in email_messages:
            logger.warning(
                "Not sent, as EMAIL_URL is not set: mail to %s, %r:\n%s",
                ", ".join(mail.recipients()),
                mail.subject,
                _LINK.sub(_name_link, str(mail.body)),
            )
        return len(email_messages)


def _name_link(link: re.Match[str]) -> str:
    address = urlsplit(link[0])
    return f"{address.scheme}://{address.netloc}{name_route(address.path)}"
