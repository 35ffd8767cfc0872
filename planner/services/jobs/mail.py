"""Mail, sent outside the request that asks for it."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.mail import send_mail

from planner.services.jobs import background


def queue_mail(subject: str, message: str, recipients: Iterable[str]) -> None:
    """Sends one mail to all recipients once the current transaction is committed."""
    background.submit("send_mail", " ".join(subject.split()), message, *recipients)


def send(subject: str, message: str, *recipients: str) -> None:
    send_mail(subject, message, from_email=None, recipient_list=recipients)
