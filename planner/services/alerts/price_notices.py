"""Tells operators of prices that were not published.

One notice for what is new: a provider that goes on failing, or being quarantined, for the same
reason is told again each day.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.contract.labels import cloud_title
from planner.models import WebhookEvent
from planner.services.webhooks.webhooks import emit_to_operators, link_to
from pricing.models import RefreshRun
from pricing.publish.refresh import RefreshResult
from pricing.revisions import list_newly_unread

MAX_PARTS = 5
_HEADLINES = {"failed": "could not be refreshed", "quarantined": "are quarantined for review"}


def tell(*, results: Sequence[RefreshResult], **_: Any) -> None:
    """Send what of `results` an operator should know; nothing where all is published."""
    new = [one for one in results if one.outcome in _HEADLINES and _is_new(one)]
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
    if problems:
        parts = ["\n".join(filter(None, (f"{title}.", *rest))) for title, *rest in problems]
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        text = "\n\n".join([*parts, f"Review: {link_to('operator')}"])
        emit_to_operators(WebhookEvent.PRICES_HELD, f"{problems[0][0]}{more}", text)


def _make_headline(result: RefreshResult) -> str:
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
