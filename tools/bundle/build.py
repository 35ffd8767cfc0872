"""A folder of price lists → the catalog that is shipped, with an account of every row. PURE."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import zstandard

from pricing.bundled.catalog import (
    EXCHANGE_RATES,
    FOLDER,
    OFFERS,
    ORIGIN,
    PAST_PRICES,
    REGION_FIELDS,
    REGIONS,
    REPORT,
)
from pricing.common.amounts import quantize
from pricing.market import interruptions, storage_prices
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.interruptions import InterruptionBand
from pricing.market.machine_types import instance_family
from pricing.market.offer_rows import OFFER_COLUMNS, to_row
from pricing.market.offers import Offer
from pricing.market.snapshot import Region
from pricing.market.storage_prices import StoragePrice
from pricing.publish.batch import group_batches
from pricing.publish.row_checks import PRICE_TOLERANCE, check_rows
from tools.bundle import clouds, history, places
from tools.bundle.clouds import ReferenceLists
from tools.bundle.rows import DraftOffer, RowAudit, RowOutcome, mark_sold_now

NOTES = (
    "AWS Elastic Graphics ended on 2024-01-08 and Elastic Inference took no new customers from"
    " 2023-04-15: neither has prices here.",
    "Prices of 2020 and before, and of retired machines, are last known prices: shown, never"
    " proposed.",
)

STALE_AFTER_DAYS = 365
"""A price so much older than the newest of the lists is the last known one; a list price that old
is red (`PRICES_RED_AFTER_DAYS`)."""
_EARLIEST = dt.date.min
_REGION_COLUMNS = ("provider", "region", *REGION_FIELDS)
_RATE_COLUMNS = ("currency", "date", "units_per_usd", "source")
_COMPRESSION_LEVEL = 19


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
        *clouds.read_aws(folder, audit),
        *clouds.read_azure(folder, audit),
        *clouds.read_gcp(folder, audit, lists),
        *clouds.read_tpu(folder, audit),
    ]
    newest, older = split_newest(map(mark_sold_now, drafts))
    plausible = reject_implausible(retire_stale(newest), ExchangeRates.of(rates), audit)
    for draft in (*plausible, *older):
        audit.record(draft.row, draft.outcome, draft.detail)
    offers = sorted(
        (_round_amounts(draft.offer) for draft in plausible), key=lambda offer: offer.id
    )
    past_prices = [
        *history.past_prices(folder, audit, lists),
        *(draft.offer for draft in older if draft.offer.as_of is not None),
    ]
    priced = {(offer.provider, offer.region) for offer in offers}
    bundle = Bundle(
        offers=tuple(offers),
        past_prices=tuple(
            sorted(map(_round_amounts, past_prices), key=lambda o: (o.id, o.as_of or ""))
        ),
        regions=places.regions(folder, priced, audit),
        exchange_rates=tuple(rates),
        interruptions=tuple(places.interruptions(folder, audit)),
        storage_prices=(*places.storage_prices(folder, audit), *places.list_documented_prices()),
        audit=audit,
    )
    audit.check_complete()
    return bundle


def build_report(bundle: Bundle) -> dict[str, object]:
    """What was built from what: every input row by outcome, every provider by digest."""
    return {
        "input_rows": sum(bundle.audit.rows_read.values()),
        "outcomes": bundle.audit.totals(),
        "providers": {
            batch.provider: {
                "offers": len(batch.offers),
                "sold_now": sum(offer.sold_now for offer in batch.offers),
                "undated": sum(offer.as_of is None for offer in batch.offers),
                "as_of": batch.as_of.isoformat(),
                "digest": batch.digest,
            }
            for batch in group_batches(bundle.offers, ORIGIN)
        },
        "past_prices": len(bundle.past_prices),
        "regions": len(bundle.regions),
        "exchange_rates": len(bundle.exchange_rates),
        "notes": NOTES,
        "files": bundle.audit.report(),
    }


def _round_amounts(offer: Offer) -> Offer:
    return replace(
        offer,
        price_per_hour=quantize(offer.price_per_hour),
        upfront=quantize(offer.upfront),
    )


def split_newest(drafts: Iterable[DraftOffer]) -> tuple[list[DraftOffer], list[DraftOffer]]:
    """One draft for each offer, the newest; and the older ones, which are history.

    Of two with one date the one that may be proposed counts, then the first.
    """
    by_id: dict[str, list[DraftOffer]] = defaultdict(list)
    for draft in drafts:
        by_id[draft.offer.id].append(draft)
    newest, older = [], []
    for same_offers in by_id.values():
        newest_first = sorted(
            same_offers,
            key=lambda draft: (draft.offer.as_of or _EARLIEST, draft.outcome.is_sold),
            reverse=True,
        )
        newest.append(newest_first[0])
        older += [replace(d, outcome=RowOutcome.OLDER, detail=d.offer.id) for d in newest_first[1:]]
    return newest, older


def retire_stale(drafts: Sequence[DraftOffer]) -> list[DraftOffer]:
    """`drafts`, those far older than the newest of all shown as last known prices."""
    newest = max((draft.offer.as_of for draft in drafts if draft.offer.as_of), default=_EARLIEST)
    return [
        mark_sold_now(
            replace(
                draft,
                outcome=RowOutcome.OLD,
                detail=f"{draft.offer.instance_type} {draft.offer.as_of}",
            )
        )
        if draft.outcome.is_sold
        and draft.offer.as_of is not None
        and (newest - draft.offer.as_of).days > STALE_AFTER_DAYS
        else draft
        for draft in drafts
    ]


def reject_implausible(
    drafts: Sequence[DraftOffer], rates: ExchangeRates, audit: RowAudit
) -> list[DraftOffer]:
    """The drafts that can be right; the others are recorded as suspicious."""
    reasons = dict(_find_price_inversions(draft.offer for draft in drafts))
    for provider in sorted({draft.offer.provider for draft in drafts}):
        offers = [d.offer for d in drafts if d.offer.provider == provider]
        latest = max((o.as_of for o in offers if o.as_of), default=_EARLIEST)
        _, rejected_rows = check_rows(
            offers, provider=provider, rates=rates, known_regions=frozenset(), latest=latest
        )
        reasons |= {row.offer_id: f"{row.reason}: {row.detail}" for row in rejected_rows}
    plausible = []
    for draft in drafts:
        reason = reasons.get(draft.offer.id)
        if reason is None:
            plausible.append(draft)
        else:
            audit.record(draft.row, RowOutcome.SUSPICIOUS, reason)
    return plausible


def _find_price_inversions(offers: Iterable[Offer]) -> Iterator[tuple[str, str]]:
    series: dict[tuple[object, ...], list[Offer]] = defaultdict(list)
    for offer in offers:
        if offer.sold_now and offer.vcpus and not offer.purchase_option.is_interruptible:
            series[
                (
                    instance_family(offer.instance_type),
                    offer.region,
                    offer.purchase_option,
                    offer.term_months,
                    offer.payment_option,
                    offer.accelerator,
                    offer.accelerator_count,
                    offer.currency,
                )
            ].append(offer)
    for offers_in_series in series.values():
        for offer in offers_in_series:
            smaller = next(
                (other for other in offers_in_series if _is_cheaper_though_bigger(offer, other)),
                None,
            )
            if smaller is not None:
                yield offer.id, f"cheaper than {smaller.instance_type}: {offer.id}"


def _is_cheaper_though_bigger(offer: Offer, other: Offer) -> bool:
    more_cores = (offer.vcpus or 0) > (other.vcpus or 0)
    less_memory = (
        offer.memory_gib is not None
        and other.memory_gib is not None
        and offer.memory_gib < other.memory_gib
    )
    cheaper = offer.effective_price_per_hour * PRICE_TOLERANCE < other.effective_price_per_hour
    return more_cores and not less_memory and cheaper


def write(bundle: Bundle, folder: Path = FOLDER) -> None:
    """Write every file of the bundle into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_compressed(folder / OFFERS, _format_offers(bundle.offers))
    _write_compressed(folder / PAST_PRICES, _format_offers(bundle.past_prices))
    regions = sorted(bundle.regions.items())
    rows = [(*key, *astuple(region)) for key, region in regions]
    (folder / REGIONS).write_text(_format_csv(_REGION_COLUMNS, rows))
    (folder / EXCHANGE_RATES).write_text(
        _format_csv(_RATE_COLUMNS, map(astuple, bundle.exchange_rates))
    )
    bands = sorted(map(astuple, bundle.interruptions))
    (folder / interruptions.TABLE.name).write_text(_format_csv(interruptions.COLUMNS, bands))
    storage_rows = sorted(map(astuple, bundle.storage_prices))
    (folder / storage_prices.TABLE.name).write_text(
        _format_csv(storage_prices.COLUMNS, storage_rows)
    )
    text = json.dumps(build_report(bundle), indent=1, ensure_ascii=False)
    (folder / REPORT).write_text(text + "\n")


def _format_offers(offers: Iterable[Offer]) -> str:
    return _format_csv(OFFER_COLUMNS, (tuple(to_row(offer).values()) for offer in offers))


def _format_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _write_compressed(path: Path, text: str) -> None:
    path.write_bytes(zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL).compress(text.encode()))
