"""The savings-plan file of a region: plans, then rates by plan, as one stream.

AWS writes the plans (`products`) before the rates (`terms`), so that one pass does; a file in
another order is read once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, Any

from ijson.backends import yajl2_c

from pricing.ingest.provider import SkippedRow
from pricing.providers.aws.offer_file import (
    CHUNK_BYTES,
    UNREADABLE,
    OfferFileError,
    SectionFile,
    split_sections,
)
from pricing.providers.aws.rows import Sku
from pricing.providers.aws.savings_plans import Rate, is_linux_use, make_rate

_PLANS = {"ComputeSavingsPlans": "Compute", "EC2InstanceSavingsPlans": "EC2Instance"}
_MONTHS = {"1yr": 12, "3yr": 36}
Readable = IO[bytes] | SectionFile


def rates(file: IO[bytes], skus: Mapping[str, Sku], region: str) -> Iterator[Rate | SkippedRow]:
    """The rates of the machines in `skus`, the Linux SKUs of the region's offer file."""
    try:
        products = split_sections(file)
        plans = _read_plans(products)
        rest: Readable | None = products.following
        if not plans or rest is None:
            file.seek(0)
            plans = _read_plans(file)
            file.seek(0)
            rest = file
        if not plans:
            raise OfferFileError("it holds no savings plans")
        for row in _iterate_items(rest, "terms.savingsPlan.item.rates.item"):
            yield from _parse_rate(row, plans, skus, region)
    except UNREADABLE as error:
        raise OfferFileError(str(error).splitlines()[0]) from None


def _read_plans(file: Readable) -> dict[str, Mapping[str, str]]:
    return {plan["sku"]: plan["attributes"] for plan in _iterate_items(file, "products.item")}


def _iterate_items(file: Readable, prefix: str) -> Iterator[Mapping[str, Any]]:
    return yajl2_c.items(file, prefix, buf_size=CHUNK_BYTES)  # type: ignore[no-any-return]


def _parse_rate(
    row: Mapping[str, Any],
    plans: Mapping[str, Mapping[str, str]],
    skus: Mapping[str, Sku],
    region: str,
) -> Iterator[Rate | SkippedRow]:
    """A rate names its plan in the first half of `rateCode`, the machine by its SKU."""
    sku = skus.get(row.get("discountedSku", ""))
    is_linux = is_linux_use(row.get("discountedUsageType", ""), row.get("discountedOperation", ""))
    if sku is None or not is_linux or row.get("discountedRegionCode", region) != sku.region:
        return
    plan = plans.get(row.get("rateCode", "").partition(".")[0])
    if plan is None:
        yield SkippedRow("unknown savings plan", row.get("rateCode", ""))
        return
    plan_type = _PLANS.get(plan.get("productFamily", ""))
    if plan_type is None:
        return
    price = row.get("discountedRate", {})
    yield make_rate(
        sku.machine,
        sku.region,
        plan_type,
        _MONTHS.get(plan.get("purchaseTerm", ""), 0),
        plan.get("purchaseOption", ""),
        price.get("price"),
        currency=price.get("currency", "USD"),
    )
