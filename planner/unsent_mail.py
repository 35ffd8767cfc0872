"""Mail on a server that has no mail server: the log says what was not sent, without its links.

A link to a new password or into a team is a key; whoever reads logs is not whom it was meant for.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from planner.services.observability.routes import hide_secrets

logger = logging.getLogger(__name__)
_LINK = re.compile(r"https?://\S+")
_BACKENDS = "django.core.mail.backends"
UNSENT = f"{__name__}.EmailBackend"


def choose_mail_backend(host: str, is_development: bool) -> str:
    """The class that sends mail where none is named. Settings ask it.

    >>> choose_mail_backend("", is_development=False)
    'planner.unsent_mail.EmailBackend'
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
