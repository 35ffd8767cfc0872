"""A folder of price lists → the catalog that is shipped, with an account of every row. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from pricing.bundled import aws, azure, extras, gcp, gcp_tpu, history, places
from pricing.bundled.draft import DraftOffer, mark_sold_now, record_outcomes
from pricing.bundled.files import ORIGIN
from pricing.bundled.gcp import ReferenceLists
from pricing.bundled.plausibility import reject_implausible, retire_stale, split_newest
from pricing.bundled.row_audit import RowAudit, RowOutcome
from pricing.common.amounts import quantize
from pricing.ingest.provider import SkippedRow
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.interruptions import InterruptionBand
from pricing.market.offers import Offer
from pricing.market.snapshot import Region
from pricing.market.storage_prices import StoragePrice
from pricing.publish.batch import OfferBatch

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
    audit: RowAudit


def build(folder: Path) -> Bundle:
    """The catalog of the lists under `folder` (`data/prices`, `data/specs`, `data/history`, …).

    Raises `InvalidInput` for a list that is missing or cannot be read, `ValueError` if a row
    were left without an outcome.
    """
    audit = RowAudit()
    lists = ReferenceLists.from_folder(folder, audit)
    rates = places.exchange_rates(folder, audit)
    drafts = [
        *aws.read_drafts(folder, audit),
        *azure.read_drafts(folder, audit),
        *gcp.read_drafts(folder, audit, lists),
        *gcp_tpu.read_drafts(folder, audit),
    ]
    newest, older = split_newest(map(mark_sold_now, drafts))
    plausible = reject_implausible(retire_stale(newest), ExchangeRates.of(rates), audit)
    record_outcomes((*plausible, *older), audit)
    offers = sorted(
        (_round_amounts(draft.offer) for draft in plausible), key=lambda offer: offer.id
    )
    past_prices = [*history.past_prices(folder, audit, lists), *_select_dated(older)]
    priced = {(offer.provider, offer.region) for offer in offers}
    bundle = Bundle(
        offers=tuple(offers),
        past_prices=tuple(
            sorted(map(_round_amounts, past_prices), key=lambda o: (o.id, o.as_of or ""))
        ),
        regions=places.regions(folder, priced, audit),
        exchange_rates=tuple(rates),
        interruptions=tuple(extras.interruptions(folder, audit)),
        storage_prices=(*extras.storage_prices(folder, audit), *extras.list_documented_prices()),
        audit=audit,
    )
    audit.check_complete()
    return bundle


def group_batches(offers: Iterable[Offer]) -> list[OfferBatch]:
    """One batch for each provider, as of its newest price."""
    by_provider: dict[str, list[Offer]] = {}
    for offer in offers:
        by_provider.setdefault(offer.provider, []).append(offer)
    return [
        OfferBatch(name, tuple(rows), max(o.as_of for o in rows if o.as_of), ORIGIN)
        for name, rows in sorted(by_provider.items())
    ]


def list_skipped(provider: str, files: Mapping[str, Any]) -> Iterator[SkippedRow]:
    """Rows of a provider's price lists that became no offer, from the `files` of a report."""
    for name, part in files.items():
        if not name.startswith(f"data/prices/{provider}"):
            continue
        for outcome, counts in part["outcomes"].items():
            if outcome not in _HARMLESS_OUTCOMES:
                unnamed = counts["count"] - sum(counts["examples"].values())
                for detail, count in (*counts["examples"].items(), ("", unnamed)):
                    yield from repeat(SkippedRow(outcome, detail), count)


_HARMLESS_OUTCOMES = frozenset(o.value for o in RowOutcome if o.in_catalog) | {
    *(
        RowOutcome.HOST_PRICE,
        RowOutcome.INTERRUPTIONS,
        RowOutcome.STORAGE_PRICE,
        RowOutcome.NOT_NEEDED,
    ),
    *(RowOutcome.HOST_UNUSED, RowOutcome.OLDER),
}
"""Outcomes of price rows that keep nothing from a plan."""


def build_report(bundle: Bundle) -> dict[str, object]:
    """What was built from what: every input row by outcome, every provider by digest."""
    return {
        "input_rows": sum(bundle.audit.rows_read.values()),
        "outcomes": bundle.audit.totals(),
        "providers": {
            batch.provider: _summarize_batch(batch) for batch in group_batches(bundle.offers)
        },
        "past_prices": len(bundle.past_prices),
        "regions": len(bundle.regions),
        "exchange_rates": len(bundle.exchange_rates),
        "notes": NOTES,
        "files": bundle.audit.report(),
    }


def _summarize_batch(batch: OfferBatch) -> dict[str, object]:
    return {
        "offers": len(batch.offers),
        "sold_now": sum(offer.sold_now for offer in batch.offers),
        "undated": sum(offer.as_of is None for offer in batch.offers),
        "as_of": batch.as_of.isoformat(),
        "digest": batch.digest,
    }


def _round_amounts(offer: Offer) -> Offer:
    """Amounts as they can be kept, so that what is loaded is what was built."""
    return replace(
        offer,
        price_per_hour=quantize(offer.price_per_hour),
        upfront=quantize(offer.upfront),
    )


def _select_dated(older: Iterable[DraftOffer]) -> Iterable[Offer]:
    return (draft.offer for draft in older if draft.offer.as_of is not None)
