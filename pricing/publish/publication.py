"""The one way in: a batch is compared with what is published, and published but for the parts
that wait. Bundled catalog and live refresh both come through `publish`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize
from pricing.ingest.provider import ProviderUnavailable
from pricing.market.offers import Offer
from pricing.models import QuarantinedPart, Revision
from pricing.publish.batch import (
    Changes,
    OfferBatch,
    ReasonCount,
    compare_offers,
    digest_offers,
    group_by_reason,
    pack,
    unpack,
)
from pricing.publish.comparison import (
    Comparison,
    HeldPart,
    PublishedState,
    compare_lists,
    covers,
    part_of,
)
from pricing.revisions import HELD, NOT_READ
from pricing.storage import bulk, reference, store
from pricing.storage.bulk import provider_lock

ExpectedOffers = Callable[[str], Sequence[Offer]]
"""provider → offers."""
State = QuarantinedPart.State
_CLOCK_TOLERANCE = dt.timedelta(minutes=10)
_MAX_CAUSES = 5


@dataclass(frozen=True)
class Publication:
    provider: str
    outcome: str
    """published, quarantined where a part waits, or would_publish / would_quarantine of a dry
    run."""
    offers: int
    changes: Changes
    rejected_rows: dict[str, ReasonCount] = field(default_factory=dict)
    skipped: dict[str, ReasonCount] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    """The parts that wait, each with its reason."""
    warnings: tuple[str, ...] = ()
    revision: Revision | None = None
    """None where nothing new was published."""
    carried_over: int = 0
    """Offers that stayed in force with their own dates."""


def publish(
    batch: OfferBatch, *, force: bool = False, dry_run: bool = False, today: dt.date | None = None
) -> Publication:
    """Compare `batch` with what is in force; publish it as the next revision but for what waits.

    Raises `AlreadyRunning` while the provider is refreshed elsewhere, `ProviderUnavailable`
    when no offer came that could be published. Nothing changes then.
    """
    with provider_lock(batch.provider):
        return publish_locked(batch, force=force, dry_run=dry_run, today=today)


def publish_locked(
    batch: OfferBatch,
    *,
    force: bool = False,
    dry_run: bool = False,
    today: dt.date | None = None,
    expected: ExpectedOffers = lambda _provider: [],
) -> Publication:
    """`publish` for a caller that holds the provider's lock.

    `expected` gives what the batch is compared with where nothing is published yet.
    """
    day = today or timezone.now().date()
    with bulk.pause_garbage_collection():
        return _PublicationAttempt(batch, day, force, expected).run(dry_run)


def release(parts: Sequence[QuarantinedPart]) -> Publication:
    """Publish quarantined parts of one provider beside all else that is in force of it: a person
    overrules the comparison."""
    providers = {part.provider for part in parts}
    if len(providers) != 1:
        raise InvalidInput("parts", "parts of one provider are released at a time")
    decided = next((part for part in parts if part.state != State.WAITING), None)
    if decided:
        raise InvalidInput("parts", f"{decided} is not waiting; only a waiting one is released")
    (provider,) = providers
    with provider_lock(provider), bulk.pause_garbage_collection():
        new = {offer.id: offer for part in parts for offer in unpack(bytes(part.payload))}
        revision = store.latest(provider)
        offers = {offer.id: offer for offer in store.read_offers(revision)} if revision else {}
        days = [offer.as_of for offer in new.values() if offer.as_of]
        batch = OfferBatch(
            provider,
            tuple((offers | new).values()),
            revision.as_of if revision else max(days, default=timezone.now().date()),
            revision.origin if revision else "live",
        )
        return _PublicationAttempt(batch, batch.as_of, released=parts).run(dry_run=False)


class _PublicationAttempt:
    """One judgement of a batch against the revision in force, and what follows from it."""

    def __init__(
        self,
        batch: OfferBatch,
        today: dt.date,
        force: bool = False,
        expected: ExpectedOffers = lambda _provider: [],
        released: Sequence[QuarantinedPart] = (),
    ) -> None:
        self.batch = batch
        self.released = released
        self.current_revision = current = store.latest(batch.provider)
        self.stored_offers = store.read_stored_offers(current) if current else []
        self._check_day(today, force)
        state = PublishedState(
            offers=[stored.offer for stored in self.stored_offers],
            origin=current.origin if current else "",
            expected=self._list_expected(expected),
            exchange_rates=reference.exchange_rates(),
            known_regions=reference.region_names(batch.provider),
            absences=store.read_absences(current) if current else {},
        )
        if released:
            new = {offer.id for part in released for offer in unpack(bytes(part.payload))}
            left = {key: one for key, one in state.absences.items() if key not in new}
            comparison = Comparison(batch.offers, absences=left, taken=len(new))
        else:
            comparison = compare_lists(batch, state, today, force=force)
        self.comparison = replace(comparison, offers=store.to_stored_precision(comparison.offers))
        before = {stored.offer.id: stored.offer for stored in self.stored_offers}
        self.changes = compare_offers(before, self.comparison.offers)
        rejected = QuarantinedPart.objects.filter(provider=batch.provider, state=State.REJECTED)
        decided = set(rejected.values_list("digest", flat=True))
        self.waiting = [
            one for one in self.comparison.held_parts if digest_offers(one.offers) not in decided
        ]

    def _list_expected(self, expected: ExpectedOffers) -> list[Offer]:
        """Of a provider of which nothing is published all that is expected of it, later that of
        what waits: else a second read would find nothing to compare it with."""
        if self.current_revision is None:
            return list(expected(self.batch.provider))
        rows = QuarantinedPart.objects.filter(
            provider=self.batch.provider, state__in=(State.WAITING, State.REJECTED)
        )
        waiting = list(rows.values_list("purchase_option", "region", "family"))
        return [
            offer  # what is published counts before it
            for offer in (expected(self.batch.provider) if waiting else ())
            if any(covers(part, part_of(offer)) for part in waiting)
        ]

    def _check_day(self, today: dt.date, force: bool) -> None:
        day, current = self.batch.as_of, self.current_revision
        if current and day < current.as_of and not force:
            raise ProviderUnavailable(
                self.batch.provider,
                f"its prices are dated {day}, older than revision {current.number}"
                f" of {current.as_of}",
                "Check the clock of this machine and refresh again, or refresh with --force.",
            )
        if day > today + dt.timedelta(days=1) and not force:
            raise ProviderUnavailable(
                self.batch.provider,
                f"its prices are dated {day}, which is after today, {today}",
                "Check the clock of this machine and refresh again.",
            )

    def run(self, dry_run: bool) -> Publication:
        if not self.comparison.taken and not self.comparison.held_parts:
            raise ProviderUnavailable(
                self.batch.provider, self._explain_nothing(), "Published prices stay in force."
            )
        if dry_run:
            return self._build_publication("would_quarantine" if self.waiting else "would_publish")
        with transaction.atomic():
            bulk.lock_publishing()
            if store.latest(self.batch.provider) != self.current_revision:
                raise ProviderUnavailable(
                    self.batch.provider,
                    "another revision was published while this one was compared",
                    "Run the refresh again when the other has finished.",
                )
            revision = self._publish() if self.comparison.taken else None
            if self.released:
                _decide(self.released, revision)
            else:
                _quarantine(self.batch, self.comparison.held_parts)
        return self._build_publication("quarantined" if self.waiting else "published", revision)

    def _explain_nothing(self) -> str:
        rows = [*self.comparison.rejected_rows, *self.batch.skipped]
        counts = group_by_reason(rows)
        causes = [
            f"{reason} ({', '.join((pluralize(row['count'], 'row'), *[*row['examples']][:1]))})"
            for reason, row in counts.items()
        ]
        causes += dict.fromkeys(part.reason for part in self.batch.not_read)
        more = (
            f"; and {len(causes) - _MAX_CAUSES} more reasons" if len(causes) > _MAX_CAUSES else ""
        )
        why = "; ".join(causes[:_MAX_CAUSES]) + more
        return f"nothing to publish: {why or 'the list was read and holds no accelerator'}"

    def _publish(self) -> Revision:
        revision = self._build_revision()
        store.write_revision(revision, self.comparison.offers, self.stored_offers)
        transaction.on_commit(partial(revision_published.send_robust, Revision, revision=revision))
        return revision

    def _build_revision(self) -> Revision:
        offers, changes = self.comparison.offers, self.changes
        sold_dates = [offer.as_of for offer in offers if offer.sold_now]
        now, before = timezone.now(), self.current_revision
        if self.released and before:
            released = [f"released: {part.reason}" for part in self.released]
            reading: dict[str, Any] = {
                "skipped": before.skipped,
                "withheld": before.withheld,
                "warnings": [*before.warnings, *released],
            }
        else:
            reading = {
                "skipped": group_by_reason(self.batch.skipped),
                "withheld": group_by_reason(self.comparison.rejected_rows),
                "warnings": self._collect_warnings(),
            }
        return Revision(
            provider=self.batch.provider,
            number=before.number + 1 if before else 1,
            # A clock that went back must not put a revision before the one it follows.
            published_at=max(now, before.published_at) if before else now,
            as_of=self.batch.as_of,
            origin=self.batch.origin,
            offer_count=len(offers),
            sold_count=len(sold_dates),
            oldest_price_as_of=min((day for day in set(sold_dates) if day), default=None),
            undated_prices=sold_dates.count(None),
            added=changes.added,
            gone=changes.gone,
            dearer=changes.dearer,
            cheaper=changes.cheaper,
            changed=changes.changed,
            moves=[asdict(move) for move in changes.moves],
            absences={
                key: [day.isoformat(), reads]
                for key, (day, reads) in self.comparison.absences.items()
            },
            **reading,
        )

    def _collect_warnings(self) -> list[str]:
        warnings = [*self.batch.warnings]
        before = self.current_revision
        if before and before.published_at > timezone.now() + _CLOCK_TOLERANCE:
            warnings.append(
                f"the previous revision was published at {before.published_at:%Y-%m-%d %H:%M},"
                " which is in the future by our clock; check the clock"
            )
        reasons = dict.fromkeys(part.reason for part in self.batch.not_read)
        warnings += [f"{NOT_READ}{reason}" for reason in reasons]
        warnings += self.comparison.absent
        return warnings + [f"{HELD}{one.describe()}" for one in self.comparison.held_parts]

    def _build_publication(self, outcome: str, revision: Revision | None = None) -> Publication:
        return Publication(
            provider=self.batch.provider,
            outcome=outcome,
            offers=len(self.comparison.offers),
            changes=self.changes,
            rejected_rows=group_by_reason(self.comparison.rejected_rows),
            skipped=group_by_reason(self.batch.skipped),
            reasons=tuple(one.describe() for one in self.waiting),
            warnings=tuple(self._collect_warnings()),
            revision=revision,
            carried_over=self.comparison.carried_over,
        )


def _quarantine(batch: OfferBatch, held_parts: Iterable[HeldPart]) -> None:
    """Keep `held_parts` for review and let go of those that came and are sound now. Prices that
    an operator rejected stay rejected while they are the same."""
    rows = QuarantinedPart.objects.filter(provider=batch.provider)
    known = {row.digest: row for row in rows.filter(state__in=(State.WAITING, State.REJECTED))}
    digests = {digest_offers(one.offers): one for one in held_parts}
    came = {part_of(offer) for offer in batch.offers} if known else set()
    for digest, row in known.items():
        part = row.purchase_option, row.region, row.family
        if digest in digests:
            rows.filter(pk=row.pk).update(seen_again_at=timezone.now())
        elif row.state == State.WAITING and any(covers(part, one) for one in came):
            rows.filter(pk=row.pk).update(state=State.SUPERSEDED)
    QuarantinedPart.objects.bulk_create(
        QuarantinedPart(
            provider=batch.provider,
            purchase_option=one.part[0],
            region=one.part[1],
            family=one.part[2],
            reason=one.describe(),
            moves=[asdict(move) for move in one.moves],
            offer_count=len(one.offers),
            digest=digest,
            payload=pack(one.offers),
        )
        for digest, one in digests.items()
        if digest not in known
    )


def _decide(parts: Iterable[QuarantinedPart], revision: Revision | None) -> None:
    for part in parts:
        part.state, part.revision = State.RELEASED, revision
        part.save(update_fields=["state", "revision"])


revision_published = Signal()
"""Sent once a revision is committed, with `revision`."""

refresh_ended = Signal()
"""Sent once a refresh that may publish has ended, with `results`: what each provider came to."""
