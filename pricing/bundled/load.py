"""Publish the shipped catalog, by the path of a live refresh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pricing import models
from pricing.bundled import catalog
from pricing.publish import history
from pricing.publish.batch import OfferBatch, group_batches
from pricing.publish.publication import publish
from pricing.storage import reference, store


@dataclass(frozen=True)
class Loaded:
    part: str
    count: int
    changed: bool
    note: str = ""


def load(folder: Path = catalog.FOLDER, *, force: bool = False) -> list[Loaded]:
    """Bring the database up to the shipped catalog; what is there already costs no work.

    Prices that a live refresh has published since stay in force unless `force` is given.
    Raises `InvalidInput` for a bad file.
    """
    rates, regions = catalog.read_exchange_rates(folder), catalog.read_regions(folder)
    stored = {rate for dated in reference.exchange_rates().by_currency.values() for rate in dated}
    reference_parts = [
        Loaded("exchange rates", len(rates), stored != set(rates)),
        Loaded("regions", len(regions), reference.regions() != regions),
    ]
    if reference_parts[0].changed:
        reference.replace_exchange_rates(rates)
    if reference_parts[1].changed:
        reference.replace_regions(regions)
    prices = list(_load_batches(group_batches(catalog.read_offers(folder), catalog.ORIGIN), force))
    has_changes = any(part.changed for part in prices)
    return [*reference_parts, *prices, _history(folder, force or has_changes)]


def load_other_clouds(folder: Path = catalog.FOLDER, *, force: bool = False) -> list[Loaded]:
    """Publish the shipped list prices of clouds without an adapter, by the rules of `load`."""
    return list(
        _load_batches(group_batches(catalog.read_other_clouds(folder), catalog.ORIGIN), force)
    )


def load_latest(path: Path, *, force: bool = False) -> list[Loaded]:
    """Publish the prices of a Parquet file (`prices export`) of the providers of which it has newer
    ones than those in force, live ones too; compared as a refresh is."""
    batches = group_batches(history.read_prices(path), catalog.ORIGIN)
    return list(_load_batches(batches, force, replaces_live=True))


def _load_batches(
    batches: Iterable[OfferBatch], force: bool, *, replaces_live: bool = False
) -> Iterator[Loaded]:
    for batch in batches:
        reason = None if force else _reason_to_skip(batch, replaces_live)
        if reason is None:
            publication = publish(batch, force=force or not replaces_live)
            rejected_count = sum(rows["count"] for rows in publication.rejected_rows.values())
            number = publication.revision.number if publication.revision else 0
            note = f"revision {number}" + (f", {rejected_count} rejected" if rejected_count else "")
            note = "; ".join([note, *(f"waits: {reason}" for reason in publication.reasons)])
            yield Loaded(batch.provider, publication.offers, True, note)
        else:
            yield Loaded(batch.provider, len(batch.offers), False, reason)


def _reason_to_skip(batch: OfferBatch, replaces_live: bool) -> str | None:
    latest = store.latest(batch.provider)
    if latest is None:
        return None
    is_live = latest.origin != catalog.ORIGIN
    if latest.as_of > batch.as_of or (
        is_live and not (replaces_live and latest.as_of < batch.as_of)
    ):
        return f"revision {latest.number} ({latest.origin}) of {latest.as_of} stays in force"
    is_same = set(store.read_offers(latest)) == set(batch.offers)
    return f"revision {latest.number}" if is_same else None


def _history(folder: Path, is_needed: bool) -> Loaded:
    expected_count = int(catalog.read_report(folder)["past_prices"])
    stored = models.PastPrice.objects.count()
    if stored == expected_count and not is_needed:
        return Loaded("past prices", stored, False)
    counts = history.load(folder / catalog.PAST_PRICES)
    return Loaded("past prices", sum(counts.values()), True)
