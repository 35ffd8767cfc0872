"""Adds dated prices to the bundled catalog: `python -m tools.bundle LIST... [--to FOLDER]`.

A list is a CSV file with columns of `Offer`; what a machine holds may be left to the table of its
cloud. A row with a reason in `left_out` is counted and not taken. The rest is held against what is
on demand and against its like; of two prices of one offer the newer is sold, the other is history.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import io
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import zstandard

from pricing.bundled import catalog
from pricing.common.amounts import quantize
from pricing.common.invalid_input import InvalidInput
from pricing.market import accelerators, machine_types
from pricing.market.offer_rows import OFFER_COLUMNS, from_row, read_csv, to_row
from pricing.market.offers import Offer, PurchaseOption

STALE_AFTER_DAYS = 365
"""A price so much older than the newest of its file is the last known one."""
LEAST_SHARE = 0.2
"""Share of the price on demand below which a commitment or a block is a fault of its source: the
largest discount that a cloud announces is 72 %."""
MOST_APART = 1.3
"""Factor by which a share may lie from the median of its family, option, term and payment."""
NO_DEARER = 1.01
"""Least ratio at which a longer term, or more paid before, counts as the dearer: sources round."""
EXAMPLES = 5
_PAID_BEFORE = ("no_upfront", "partial_upfront", "all_upfront")
_LEVEL = 19


@dataclass
class Outcomes:
    """What became of each row of one list."""

    rows: int = 0
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def record(self, outcome: str, detail: str) -> None:
        self.rows += 1
        self.counts[outcome][detail] += 1

    def report(self) -> dict[str, object]:
        """Rows, and for each outcome its count and its most frequent details."""
        outcomes = {
            outcome: {
                "count": details.total(),
                "examples": {text: n for text, n in details.most_common(EXAMPLES) if text},
            }
            for outcome, details in sorted(self.counts.items())
        }
        return {"rows": self.rows, "outcomes": outcomes}


@dataclass(frozen=True)
class Bundle:
    """The offers of one file of the catalog, and the dated prices before them."""

    offers: tuple[Offer, ...]
    past_prices: tuple[Offer, ...] = ()


def add(bundle: Bundle, rows: Iterable[Offer], outcomes: Outcomes) -> Bundle:
    """The bundle with `rows`, sorted, what is stale marked as not sold."""
    by_id = {offer.id: offer for offer in bundle.offers}
    past, added = list(bundle.past_prices), list(rows)
    doubts = dict(_find_contradictions([*bundle.offers, *added], {row.id for row in added}))
    for offer in sorted(added, key=lambda row: row.as_of or dt.date.min):
        before = by_id.get(offer.id)
        if doubt := doubts.get((offer.id, offer.as_of)):
            outcomes.record(doubt, offer.id)
        elif before is None or (before.as_of or dt.date.min) <= (offer.as_of or dt.date.min):
            by_id[offer.id] = offer
            outcomes.record("taken", "")
            past += [before] if before and before.as_of and before.as_of != offer.as_of else []
        else:
            past += [offer] if offer.as_of else []
            outcomes.record("older than what is known: history", offer.id)
    newest = max((offer.as_of for offer in by_id.values() if offer.as_of), default=dt.date.min)
    offers = (
        replace(offer, sold_now=False, source=f"{offer.source} (last known price)")
        if offer.sold_now and offer.as_of and (newest - offer.as_of).days > STALE_AFTER_DAYS
        else offer
        for offer in by_id.values()
    )
    return Bundle(tuple(sorted(offers, key=lambda offer: offer.id)), tuple(_select_changes(past)))


def _select_changes(past: Iterable[Offer]) -> Iterator[Offer]:
    last: tuple[object, ...] = ()
    for offer in sorted(past, key=lambda offer: (offer.id, offer.as_of)):
        price = (offer.id, offer.price_per_hour, offer.upfront)
        if price != last:
            yield offer
        last = price


Doubts = Iterator[tuple[tuple[str, dt.date | None], str]]
"""Identity and day of a price that contradicts others, and which."""


def _find_contradictions(offers: Sequence[Offer], added: set[str]) -> Doubts:
    lasting = [
        offer
        for offer in offers
        if offer.purchase_option is not PurchaseOption.ON_DEMAND
        and not offer.purchase_option.is_interruptible
    ]
    rents = {
        _place(offer): float(offer.price_per_hour)
        for offer in offers
        if offer.purchase_option is PurchaseOption.ON_DEMAND and offer.sold_now
    }
    shares: dict[tuple[object, ...], list[tuple[Offer, float]]] = defaultdict(list)
    by_terms: dict[tuple[object, ...], list[Offer]] = defaultdict(list)
    for offer in lasting:
        terms = offer.purchase_option, offer.term_months, offer.payment_option
        rent, family = rents.get(_place(offer)), machine_types.instance_family(offer.instance_type)
        if offer.sold_now and rent:
            share = float(offer.effective_price_per_hour) / rent
            key = offer.provider, family, offer.currency, offer.is_compute_plan, *terms
            shares[key].append((offer, share))
        page = offer.source.partition(" ")[0], offer.as_of
        by_terms[(*_place(offer), terms[0], offer.is_compute_plan, *page)].append(offer)
    for likes in shares.values():
        middle = median(share for _, share in likes)
        for offer, share in likes:
            if offer.id in added and not LEAST_SHARE <= share <= 1.0:
                yield (offer.id, offer.as_of), "contradicts the price on demand"
            elif (
                offer.id in added
                and offer.purchase_option.is_commitment  # blocks have one rate in all regions
                and max(share / middle, middle / share) > MOST_APART
            ):
                yield (offer.id, offer.as_of), "contradicts its like elsewhere"
    for same in by_terms.values():
        for offer in same:
            if any(_is_dearer_for_more(offer, other) for other in same):
                yield (offer.id, offer.as_of), "contradicts its like of another term"


def _place(offer: Offer) -> tuple[str, str, str]:
    return offer.provider, offer.region, offer.instance_type


def _is_dearer_for_more(offer: Offer, other: Offer) -> bool:
    price, before = float(offer.effective_price_per_hour), float(other.effective_price_per_hour)
    longer = offer.term_months >= other.term_months
    paid = {name: n for n, name in enumerate(_PAID_BEFORE)}
    more = paid.get(offer.payment_option, 0) >= paid.get(other.payment_option, 0)
    return longer and more and price > NO_DEARER * before


def read_list(path: Path, regions: Iterable[tuple[str, str]], outcomes: Outcomes) -> list[Offer]:
    """The offers of a list; `InvalidInput` names file, line and column that cannot be read."""
    known, offers = set(regions), []
    if not path.is_file():
        raise InvalidInput("list", f"{path} is missing")
    with path.open(newline="", encoding="utf-8") as lines:
        for line, row in enumerate(csv.DictReader(lines), start=2):
            name, place = row.get("instance_type") or "", (row["provider"], row["region"])
            reason = row.get("left_out") or ""
            filled = row if reason else _fill_machine(row)
            if place[0] in machine_types.PROVIDERS and place not in known:
                reason = reason or "region unknown: add it to regions.csv"
            if reason or not filled:
                outcomes.record(reason or "unknown machine or accelerator", name)
                continue
            offer = from_row(filled, f"{path.name} line {line}")
            amounts = quantize(offer.price_per_hour), quantize(offer.upfront)
            offers.append(replace(offer, price_per_hour=amounts[0], upfront=amounts[1]))
    return offers


def _fill_machine(row: Mapping[str, str]) -> dict[str, str] | None:
    provider, name = row["provider"], row["instance_type"]
    if provider not in machine_types.PROVIDERS:
        device = accelerators.find(row["accelerator"])
        return {**row, "accelerator": device.slug} if device else None
    tpu = next((one for one in machine_types.tpu_slices() if one.name == name), None)
    machine = machine_types.find(provider, name)
    if tpu is not None:
        held: tuple[object, ...] = (tpu.accelerator, Fraction(tpu.chips), tpu.vcpus, tpu.memory_gib)
        return {**row, **_texts(held, None)}
    if machine is None or not machine.accelerator or machine.accelerator_count is None:
        return None
    held = machine.accelerator, machine.accelerator_count, machine.vcpus, machine.memory_gib
    is_sold = machine.retired_on is None and row["purchase_option"] not in machine.not_sold_as
    sold = row.get("sold_now") or str(is_sold).lower()
    filled = {**row, **_texts(held, machine.network_gbps), "sold_now": sold}
    return {**filled, "instance_type": machine.instance_type}


def _texts(held: Sequence[object], network_gbps: float | None) -> dict[str, str]:
    names = ("accelerator", "accelerator_count", "vcpus", "memory_gib", "network_gbps")
    values = (*held, network_gbps)
    return {n: "" if v is None else str(v) for n, v in zip(names, values, strict=True)}


def write(bundle: Bundle, folder: Path, others: Sequence[Offer] = ()) -> None:
    """Write offers, past prices and those of other clouds; the same give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, offers in (
        (catalog.OFFERS, bundle.offers),
        (catalog.PAST_PRICES, bundle.past_prices),
        (catalog.OTHER_CLOUDS, others),
    ):
        text = io.StringIO()
        writer = csv.DictWriter(text, OFFER_COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(to_row(offer) for offer in offers)
        packed = text.getvalue().encode()
        if name.endswith(".zst"):
            packed = zstandard.ZstdCompressor(level=_LEVEL).compress(packed)
        (folder / name).write_bytes(packed)


def build_report(bundle: Bundle, others: Sequence[Offer], files: Mapping[str, Any]) -> str:
    """What the catalog holds by provider, and what became of the rows of each list."""
    providers: dict[str, dict[str, Any]] = {}
    for name in sorted({offer.provider for offer in bundle.offers}):
        offers = [offer for offer in bundle.offers if offer.provider == name]
        providers[name] = {
            "offers": len(offers),
            "sold_now": sum(offer.sold_now for offer in offers),
            "as_of": str(max(offer.as_of for offer in offers if offer.as_of)),
        }
    document = {
        "providers": providers,
        "other_clouds": len(others),
        "past_prices": len(bundle.past_prices),
        "files": dict(files),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bundle", description=__doc__)
    parser.add_argument("lists", type=Path, nargs="+", help="CSV files of offers")
    parser.add_argument("--to", type=Path, default=catalog.FOLDER, help="folder of the catalog")
    options = parser.parse_args(arguments)
    folder: Path = options.to
    try:
        files = dict(catalog.read_report(folder)["files"])
        past = tuple(read_csv(folder / catalog.PAST_PRICES))
        bundle = Bundle(tuple(catalog.read_offers(folder)), past)
        others = Bundle(tuple(catalog.read_other_clouds(folder)))
        for path in options.lists:
            outcomes = Outcomes()
            offers = read_list(path, catalog.read_regions(folder), outcomes)
            own = [one for one in offers if one.provider in machine_types.PROVIDERS]
            bundle = add(bundle, own, outcomes)
            others = add(others, [one for one in offers if one not in own], outcomes)
            files[path.name] = outcomes.report()
            for outcome, details in sorted(outcomes.counts.items()):
                print(f"{path.name}: {details.total():>5} {outcome}")
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return 2
    write(bundle, folder, others.offers)
    (folder / catalog.REPORT).write_text(build_report(bundle, others.offers, files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
