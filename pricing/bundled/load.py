"""Publish the shipped catalog: the same check-and-publish path as a live refresh, once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pricing import models
from pricing.bundled import files
from pricing.bundled.build import ORIGIN, batches, skipped
from pricing.publish import history, refresh
from pricing.publish.refresh import Batch
from pricing.storage import reference, store


class CatalogNotLoadedError(Exception):
    """The checks held a batch of the shipped catalog; `hint` says what can be done."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(f"{what}. {hint}")


@dataclass(frozen=True)
class Loaded:
    """What one part of the catalog came to."""

    part: str
    count: int
    changed: bool
    note: str = ""


def load(folder: Path = files.FOLDER, *, force: bool = False) -> list[Loaded]:
    """Bring the database up to the shipped catalog; what is there already costs no work.

    Prices that a live refresh has published since stay in force unless `force` is given.
    Raises `CatalogNotLoadedError` when a batch is held, `InvalidInput` for an unreadable file.
    """
    done = [_exchange_rates(folder), _regions(folder)]
    prices = list(_prices(folder, force))
    moved = any(part.changed for part in prices)
    return [*done, *prices, _history(folder, force or moved)]


def _exchange_rates(folder: Path) -> Loaded:
    shipped = files.read_exchange_rates(folder)
    there = [rate for rates in reference.exchange_rates().by_currency.values() for rate in rates]
    if set(there) == set(shipped):
        return Loaded("exchange rates", len(shipped), False)
    return Loaded("exchange rates", reference.replace_exchange_rates(shipped), True)


def _regions(folder: Path) -> Loaded:
    shipped = files.read_regions(folder)
    if reference.regions() == shipped:
        return Loaded("regions", len(shipped), False)
    return Loaded("regions", reference.replace_regions(shipped), True)


def _prices(folder: Path, force: bool) -> Iterator[Loaded]:
    """Each provider whose prices in force are not exactly the shipped ones is published."""
    accounts = files.read_report(folder)["files"]
    for shipped in batches(history.read_csv(folder / files.OFFERS)):
        batch = replace(shipped, skipped=tuple(skipped(shipped.provider, accounts)))
        standing = None if force else _in_force(batch)
        if standing is None:
            yield _publish(batch, force)
        else:
            yield Loaded(batch.provider, len(batch.offers), False, standing)


def _in_force(batch: Batch) -> str | None:
    """Why a provider needs no publishing; None where it does."""
    latest = store.latest(batch.provider)
    if latest is None:
        return None
    if latest.origin != ORIGIN:
        return f"revision {latest.number} ({latest.origin}) of {latest.as_of} stays in force"
    same = set(store.read_offers(latest)) == set(batch.offers)
    return f"revision {latest.number}" if same else None


def _publish(batch: Batch, force: bool) -> Loaded:
    done = refresh.publish(batch, force=force)
    if done.revision is None:
        raise CatalogNotLoadedError(
            f"{batch.provider}: the shipped prices were held: {'; '.join(done.reasons)}",
            "Look at the held batch in the admin, or load with --force.",
        )
    kept_back = sum(int(str(found["count"])) for found in done.withheld.values())
    note = f"revision {done.revision.number}" + (f", {kept_back} withheld" if kept_back else "")
    return Loaded(batch.provider, done.offers, True, note)


def _history(folder: Path, needed: bool) -> Loaded:
    expected = int(files.read_report(folder)["past_prices"])
    there = models.PastPrice.objects.count()
    if there == expected and not needed:
        return Loaded("past prices", there, False)
    counts = history.load(folder / files.PAST_PRICES)
    return Loaded("past prices", sum(counts.values()), True)
