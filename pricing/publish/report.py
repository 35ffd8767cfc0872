"""What a refresh tells people: lines for a terminal, a dict for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pricing.common.pluralize import pluralize
from pricing.freshness import Freshness
from pricing.publish.changes import Changes
from pricing.publish.publication import Publication
from pricing.publish.refresh import Result


def as_dict(result: Result, now: Freshness | None) -> dict[str, Any]:
    """The result as JSON takes it."""
    done = result.publication
    return {
        "provider": result.provider,
        "outcome": result.outcome,
        "message": result.message,
        "remedy": result.hint,
        "in_force": _in_force(now),
        "revision": done.revision.number if done and done.revision else None,
        "held_batch": done.held_batch.pk if done and done.held_batch else None,
        "offers": done.offers if done else None,
        "kept": done.kept if done else None,
        "changes": asdict(done.changes) if done else None,
        "skipped": done.skipped if done else {},
        "withheld": done.withheld if done else {},
        "warnings": list(done.warnings) if done else [],
    }


def lines(result: Result, now: Freshness | None) -> Iterator[str]:
    """The result in words, the most important first."""
    done = result.publication
    if done is None:
        yield f"{result.provider}: {result.outcome}: {result.message}. {result.hint}"
        yield f"  in force: {_in_force_words(now)}"
        return
    yield f"{result.provider}: {_headline(done)}"
    yield f"  {_counts(done.changes)}"
    if result.message:
        yield f"  why: {result.message}"
        yield f"  in force: {_in_force_words(now)}. {result.hint}"
    for move in done.changes.moves:
        yield (
            f"  {move.offer_id}: {move.before} → {move.after} {move.currency}/h"
            f" (× {move.ratio:.3g})"
        )
    yield from _rows("not understood", done.skipped)
    yield from _rows("withheld", done.withheld)
    for warning in done.warnings:
        yield f"  warning: {warning}"


def _headline(done: Publication) -> str:
    what = done.outcome.replace("_", " ")
    if done.revision is not None:
        what = f"published revision {done.revision.number} of {done.revision.as_of}"
    elif done.held_batch is not None:
        what = f"held as batch {done.held_batch.pk}"
    kept = f", {done.kept:,} of them kept from before" if done.kept else ""
    return f"{what}: {pluralize(done.offers, 'offer')}{kept}"


def _counts(changes: Changes) -> str:
    names = ("added", "gone", "dearer", "cheaper", "changed", "unchanged")
    return ", ".join(f"{getattr(changes, name):,} {name}" for name in names)


def _rows(what: str, by_reason: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for reason, row in by_reason.items():
        examples = ", ".join(str(text) for text in list(row["examples"])[:3])
        rows = pluralize(row["count"], "row")
        yield f"  {what}: {reason}: {rows}{f' ({examples})' if examples else ''}"


def _in_force(now: Freshness | None) -> dict[str, Any] | None:
    if now is None or now.revision is None:
        return None
    return {
        "revision": now.revision,
        "as_of": now.as_of.isoformat() if now.as_of else None,
        "age_days": now.age_days,
        "level": now.level,
    }


def _in_force_words(now: Freshness | None) -> str:
    if now is None or now.revision is None:
        return "nothing, no price of this provider was ever published"
    age = "of unknown age" if now.age_days is None else pluralize(now.age_days, "day") + " old"
    return f"revision {now.revision} of {now.as_of}, oldest price {age}"
