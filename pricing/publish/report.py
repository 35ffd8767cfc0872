"""The report of a refresh: lines for a terminal, a dict for programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pricing.common.pluralize import pluralize
from pricing.publish.batch import ReasonCount
from pricing.publish.changes import Changes
from pricing.publish.publication import Publication
from pricing.publish.refresh_result import RefreshResult
from pricing.revisions import Freshness

_NOT_UNDERSTOOD = re.compile(
    r"unknown|unreadable|unclear|unit\b|price is|no (?:price|region|machine name|product name)"
    r"|two prices|several kinds|number of|accelerator count|size of|vCPUs|a part of the machine"
    r"|(?:reservation|savings plan|commitment) without|usage type contradicts|spot history"
)
"""Reasons for which rows were skipped that we could not read; the others are nothing that a plan
could use."""


def to_dict(result: RefreshResult, freshness: Freshness | None) -> dict[str, Any]:
    """The result as JSON takes it."""
    publication = result.publication
    return {
        "provider": result.provider,
        "outcome": result.outcome,
        "message": result.message,
        "remedy": result.hint,
        "in_force": _published_dict(freshness),
        "revision": publication.revision.number if publication and publication.revision else None,
        "held_batch": publication.held_batch.pk if publication and publication.held_batch else None,
        "offers": publication.offers if publication else None,
        "quarantined": len(publication.outliers) if publication else None,
        "kept": publication.carried_over if publication else None,
        "changes": asdict(publication.changes) if publication else None,
        "skipped": publication.skipped if publication else {},
        "not_understood": find_not_understood(publication.skipped) if publication else [],
        "withheld": publication.rejected_rows if publication else {},
        "warnings": list(publication.warnings) if publication else [],
        "unchanged": list(result.unchanged),
    }


def format_lines(result: RefreshResult, freshness: Freshness | None) -> Iterator[str]:
    """The result in words, the most important first."""
    publication = result.publication
    if publication is None:
        yield f"{result.provider}: {result.outcome}: {result.message}. {result.hint}"
        yield f"  in force: {_describe_published(freshness)}"
        return
    yield f"{result.provider}: {_format_headline(publication)}"
    yield f"  {_format_counts(publication.changes)}"
    if result.unchanged:
        lists = pluralize(len(result.unchanged), "list")
        yield f"  not fetched again: {lists} that did not change"
    if result.message:
        yield f"  reason: {result.message}"
        yield f"  in force: {_describe_published(freshness)}. {result.hint}"
    for move in publication.changes.moves:
        yield (
            f"  {move.offer_id}: {move.before} → {move.after} {move.currency}/h"
            f" (× {move.ratio:.3g})"
        )
    odd = find_not_understood(publication.skipped)
    rest = [reason for reason in publication.skipped if reason not in odd]
    for label, reasons in (("not understood", odd), ("left out on purpose", rest)):
        yield from _format_reasons(label, {name: publication.skipped[name] for name in reasons})
    yield from _format_reasons("rejected", publication.rejected_rows)
    for warning in publication.warnings:
        yield f"  warning: {warning}"


def _format_headline(publication: Publication) -> str:
    label = publication.outcome.replace("_", " ")
    if publication.revision is not None:
        label = f"published revision {publication.revision.number} of {publication.revision.as_of}"
    elif publication.held_batch is not None:
        label = f"held as batch {publication.held_batch.pk}"
    carried_over = (
        f", {publication.carried_over:,} of them carried over unread"
        if publication.carried_over
        else ""
    )
    return f"{label}: {pluralize(publication.offers, 'offer')}{carried_over}"


def _format_counts(changes: Changes) -> str:
    names = ("added", "gone", "dearer", "cheaper", "changed", "unchanged")
    return ", ".join(f"{getattr(changes, name):,} {name}" for name in names)


def _format_reasons(label: str, reasons: Mapping[str, ReasonCount]) -> Iterator[str]:
    for reason, row in reasons.items():
        examples = ", ".join(list(row["examples"])[:3])
        rows = pluralize(row["count"], "row")
        yield f"  {label}: {reason}: {rows}{f' ({examples})' if examples else ''}"


def _published_dict(freshness: Freshness | None) -> dict[str, Any] | None:
    if freshness is None or freshness.revision is None:
        return None
    return {
        "revision": freshness.revision,
        "as_of": freshness.as_of.isoformat() if freshness.as_of else None,
        "oldest_price_as_of": freshness.oldest_price_as_of.isoformat()
        if freshness.oldest_price_as_of
        else None,
        "age_days": freshness.age_days,
        "level": freshness.level,
    }


def _describe_published(freshness: Freshness | None) -> str:
    if freshness is None or freshness.revision is None:
        return "nothing; this provider has no published prices"
    age = (
        "of unknown age"
        if freshness.age_days is None
        else f"of {freshness.oldest_price_as_of}, {pluralize(freshness.age_days, 'day')} old"
    )
    return f"revision {freshness.revision}, read on {freshness.as_of}, oldest price {age}"


def find_not_understood(reasons: Iterable[str]) -> list[str]:
    """Those of `reasons` for which a price may be missing; the others are left out on purpose.

    >>> find_not_understood(["Windows", "unknown accelerator", "unit is not an hour"])
    ['unknown accelerator', 'unit is not an hour']
    """
    return [reason for reason in reasons if _NOT_UNDERSTOOD.match(reason)]
