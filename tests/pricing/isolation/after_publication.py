"""Whether a fetch of which a part failed, once published, is the truth but for that part."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal

from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from pricing.market.offers import Offer
from pricing.publish.batch import OfferBatch
from pricing.publish.comparison import PublishedState, compare_lists

RATES = ExchangeRates.of([ExchangeRate("CNY", dt.date(2026, 1, 1), Decimal(7))])
Rows = Iterable[Offer | SkippedRow | NotRead]


def of_yesterday(truth: Mapping[str, Offer]) -> dict[str, Offer]:
    """The same market a day before, 1 % dearer: what is in force when the fetch begins."""
    return {
        key: replace(
            offer,
            price_per_hour=offer.price_per_hour * Decimal("1.01"),
            upfront=offer.upfront * Decimal("1.01"),
            as_of=(offer.as_of or dt.date(2026, 1, 1)) - dt.timedelta(days=1),
        )
        for key, offer in truth.items()
    }


def kept_after(
    rows: Rows, truth: Mapping[str, Offer], bare: Callable[[Offer], Offer]
) -> tuple[set[str], list[NotRead]]:
    """(ids that keep yesterday's row, what of this market was told as not read).

    Everything else is asserted to be published and equal to the truth, what is kept to be told.
    """
    found = list(rows)
    parts = tuple(row for row in found if isinstance(row, NotRead))
    before = of_yesterday(truth)
    day = max(offer.as_of for offer in truth.values() if offer.as_of)
    batch = OfferBatch(
        next(iter(truth.values())).provider,
        tuple(row for row in found if isinstance(row, Offer)),
        day,
        not_read=parts,
    )
    state = PublishedState(tuple(before.values()), exchange_rates=RATES)
    result = compare_lists(batch, state, day)
    assert result.held_parts == ()
    published = {offer.id: bare(offer) for offer in result.offers}
    assert published.keys() == truth.keys()
    kept = {key for key, offer in published.items() if offer.as_of == before[key].as_of}
    assert {key: published[key] for key in kept} == {key: before[key] for key in kept}
    fresh = truth.keys() - kept
    assert {key: published[key] for key in fresh} == {key: truth[key] for key in fresh}
    told = [
        part
        for part in parts
        if not part.availability_only and any(_covers(part, one) for one in truth.values())
    ]
    assert all(any(_covers(part, before[key]) for part in told) for key in kept)
    return kept, told


def _covers(part: NotRead, offer: Offer) -> bool:
    return (
        (not part.regions or offer.region in part.regions)
        and (not part.purchase_options or offer.purchase_option.value in part.purchase_options)
        and (not part.instance_types or offer.instance_type in part.instance_types)
    )
