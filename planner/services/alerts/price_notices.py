"""Tells operators of prices that were not published, by e-mail and
webhook.

One notice for what is new: a provider that goes on failing, or being quarantined, for the same
reason is told again each day.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.urls import reverse

from planner.contract.labels import cloud_title
from planner.models import WebhookEvent
from planner.services.jobs.background import queue_mail
from planner.services.webhooks.webhooks import emit_to_operators
from pricing.models import RefreshRun
from pricing.publish.refresh import RefreshResult
from pricing.revisions import list_newly_unread

logger = logging.getLogger(__name__)
MAX_PARTS = 5
_HEADLINES = {"failed": "could not be refreshed", "quarantined": "are quarantined for review"}


def tell(*, results: Sequence[RefreshResult], **_: Any) -> None:
    """Send what of `results` an operator should know; nothing where all is published."""
    new = [one for one in results if one.outcome in _HEADLINES and _is_new(one)]
    for one in new:
        if reasons := one.publication.reasons if one.publication else ():
            named = [reason.split(": ", 1) for reason in reasons]
            held = {
                "provider": one.provider,
                "parts": [{"part": name, "reason": reason} for name, reason in named],
                "message": one.hint,
            }
            emit_to_operators(WebhookEvent.PRICES_HELD, held)
    problems = [(_make_headline(one), one.message, one.hint) for one in new]
    for one in results:
        revision = one.publication.revision if one.publication else None
        if revision and (unread := list_newly_unread(revision)):
            problems.append(
                (
                    f"Parts of the prices of {cloud_title(one.provider)} did not come",
                    "; ".join(unread[:MAX_PARTS]),
                    "Their last published prices stay in force with their own dates.",
                )
            )
    if not problems or not settings.PRICE_NOTICE_EMAILS:
        return
    try:
        parts = ["\n".join(filter(None, (f"{title}.", *rest))) for title, *rest in problems]
        hosts = [host for host in settings.ALLOWED_HOSTS if "*" not in host and host[:1] != "."]
        server = f"https://{hosts[0]}" if hosts and not settings.DEBUG else ""
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        queue_mail(
            f"[GPU cost planner] {problems[0][0]}{more}",
            "\n\n".join([*parts, f"Review: {server}{reverse('operator')}"]) + "\n",
            settings.PRICE_NOTICE_EMAILS,
        )
    except Exception:
        logger.exception("A notice on prices could not be sent.")


def _make_headline(result: RefreshResult) -> str:
    """Whose prices, and which parts of them wait for review."""
    reasons = result.publication.reasons if result.publication else ()
    parts = [reason.partition(":")[0] for reason in reasons[:MAX_PARTS]]
    more = [f"{len(reasons) - MAX_PARTS} more parts"] if len(reasons) > MAX_PARTS else []
    names = f" ({', '.join(parts + more)})" if parts else ""
    return f"Prices of {cloud_title(result.provider)}{names} {_HEADLINES[result.outcome]}"


def _is_new(result: RefreshResult) -> bool:
    """Whether its run before ended otherwise, or on another day (UTC): prices that are refreshed
    every hour would else tell nobody again, or everybody every time."""
    runs = RefreshRun.objects.filter(provider=result.provider).exclude(finished_at=None)
    last = list(runs.order_by("-id")[:2])
    ends = {(run.outcome, run.message, run.started_at.date()) for run in last}
    return len(last) < 2 or len(ends) > 1
