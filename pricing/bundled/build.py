"""A folder of price lists → the catalog that is shipped, with an account of every row. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from pricing.bundled import aws, azure, extras, gcp, gcp_tpu, history, places
from pricing.bundled.draft import Draft, ready, settle
from pricing.bundled.gcp import Market
from pricing.bundled.plausibility import newest_of_each, sound
from pricing.bundled.row_audit import Account, Outcome
from pricing.common.amounts import quantize
from pricing.ingest.provider import SkippedRow
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.interruptions import InterruptionBand
from pricing.market.offers import Offer
from pricing.market.snapshot import Region
from pricing.market.storage_prices import StoragePrice
from pricing.publish.batch import Batch

ORIGIN = "bundled"
NOTES = (
    "AWS Elastic Graphics ended on 2024-01-08 and Elastic Inference took no new customers from"
    " 2023-04-15: neither has prices here.",
    "Prices of 2020 and before, and of retired machines, are last known prices: shown, never"
    " proposed.",
)


@dataclass(frozen=True)
class Bundle:
    """Everything that is shipped."""

    offers: tuple[Offer, ...]
    past_prices: tuple[Offer, ...]
    """Dated prices from before, each from the day it was first seen."""
    regions: dict[tuple[str, str], Region]
    exchange_rates: tuple[ExchangeRate, ...]
    interruptions: tuple[InterruptionBand, ...]
    storage_prices: tuple[StoragePrice, ...]
    account: Account


def build(folder: Path) -> Bundle:
    """The catalog of the lists under `folder` (`data/prices`, `data/specs`, `data/history`, …).

    Raises `InvalidInput` for a list that is missing or cannot be read, `ValueError` if a row
    were left without an outcome.
    """
    account = Account()
    market = Market.of(folder, account)
    rates = places.exchange_rates(folder, account)
    drafts = [
        *aws.drafts(folder, account),
        *azure.drafts(folder, account),
        *gcp.drafts(folder, account, market),
        *gcp_tpu.drafts(folder, account),
    ]
    newest, older = newest_of_each(map(ready, drafts))
    kept = sound(newest, ExchangeRates.of(rates), account)
    settle((*kept, *older), account)
    offers = sorted((_exact(draft.offer) for draft in kept), key=lambda offer: offer.id)
    past = [*history.past_prices(folder, account, market), *_dated(older)]
    priced = {(offer.provider, offer.region) for offer in offers}
    bundle = Bundle(
        offers=tuple(offers),
        past_prices=tuple(sorted(map(_exact, past), key=lambda o: (o.id, o.as_of or ""))),
        regions=places.regions(folder, priced, account),
        exchange_rates=tuple(rates),
        interruptions=tuple(extras.interruptions(folder, account)),
        storage_prices=(*extras.storage_prices(folder, account), *extras.known_elsewhere()),
        account=account,
    )
    account.balance()
    return bundle


def batches(offers: Iterable[Offer]) -> list[Batch]:
    """One batch for each provider, as of its newest price."""
    by_provider: dict[str, list[Offer]] = {}
    for offer in offers:
        by_provider.setdefault(offer.provider, []).append(offer)
    return [
        Batch(name, tuple(rows), max(o.as_of for o in rows if o.as_of), ORIGIN)
        for name, rows in sorted(by_provider.items())
    ]


def skipped(provider: str, files: Mapping[str, Any]) -> Iterator[SkippedRow]:
    """Rows of a provider's price lists that became no offer, from the `files` of a report."""
    for name, part in files.items():
        if not name.startswith(f"data/prices/{provider}"):
            continue
        for outcome, found in part["outcomes"].items():
            if outcome not in _NO_LOSS:
                rest = found["count"] - sum(found["examples"].values())
                for detail, count in (*found["examples"].items(), ("", rest)):
                    yield from repeat(SkippedRow(outcome, detail), count)


_NO_LOSS = frozenset(o.value for o in Outcome if o.in_catalog) | {
    *(Outcome.HOST_PRICE, Outcome.INTERRUPTIONS, Outcome.STORAGE_PRICE, Outcome.NOT_NEEDED),
    *(Outcome.HOST_UNUSED, Outcome.OLDER),
}
"""Outcomes of price rows that keep nothing from a plan."""


def report(bundle: Bundle) -> dict[str, object]:
    """What was built from what: every input row by outcome, every provider by digest."""
    return {
        "input_rows": sum(bundle.account.read.values()),
        "outcomes": bundle.account.totals(),
        "providers": {batch.provider: _summary(batch) for batch in batches(bundle.offers)},
        "past_prices": len(bundle.past_prices),
        "regions": len(bundle.regions),
        "exchange_rates": len(bundle.exchange_rates),
        "notes": NOTES,
        "files": bundle.account.report(),
    }


def _summary(batch: Batch) -> dict[str, object]:
    return {
        "offers": len(batch.offers),
        "sold_now": sum(offer.sold_now for offer in batch.offers),
        "undated": sum(offer.as_of is None for offer in batch.offers),
        "as_of": batch.as_of.isoformat(),
        "digest": batch.digest,
    }


def _exact(offer: Offer) -> Offer:
    """Amounts as they can be kept, so that what is loaded is what was built."""
    return replace(
        offer,
        price_per_hour=quantize(offer.price_per_hour),
        upfront=quantize(offer.upfront),
    )


def _dated(older: Iterable[Draft]) -> Iterable[Offer]:
    return (draft.offer for draft in older if draft.offer.as_of is not None)
