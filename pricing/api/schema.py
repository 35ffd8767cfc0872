"""What the read endpoints answer, for the API's document."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from pricing.market.coverage import PriceState
from pricing.market.offer_filters import ORDERINGS
from pricing.market.offers import PAYMENT_OPTIONS, PurchaseOption
from pricing.market.price_age import PricePart
from pricing.models import RefreshRun


class CatalogStateSerializer(serializers.Serializer[Any]):
    """One provider's revision behind an answer; `age_days` is that of its oldest price."""

    provider = serializers.CharField()
    revision = serializers.IntegerField()
    as_of = serializers.DateField(allow_null=True)
    oldest_price_as_of = serializers.DateField(allow_null=True)
    age_days = serializers.IntegerField(allow_null=True)


class OfferSerializer(serializers.Serializer[Any]):
    """Money is a decimal string. `usd_per_hour` is the effective price of the whole machine, the
    upfront payment spread over the term, and `usd_per_accelerator_hour` that of one accelerator;
    `recurring_usd_per_hour` is what each hour is billed, `upfront_usd` what is due once."""

    id = serializers.CharField()
    provider = serializers.CharField()
    region = serializers.CharField()
    zone = serializers.CharField(allow_blank=True)
    instance_type = serializers.CharField()
    accelerator = serializers.CharField()
    accelerator_count = serializers.FloatField()
    accelerator_memory_gib = serializers.FloatField(allow_null=True)
    vcpus = serializers.FloatField(allow_null=True)
    memory_gib = serializers.FloatField(allow_null=True)
    purchase_option = serializers.ChoiceField([o.value for o in PurchaseOption])
    term_months = serializers.IntegerField()
    payment_option = serializers.ChoiceField(PAYMENT_OPTIONS, allow_blank=True)
    usd_per_hour = serializers.CharField()
    recurring_usd_per_hour = serializers.CharField()
    usd_per_accelerator_hour = serializers.CharField()
    upfront_usd = serializers.CharField()
    currency = serializers.CharField()
    native_price = serializers.CharField()
    sku = serializers.CharField(allow_blank=True)
    sold_now = serializers.BooleanField()
    as_of = serializers.DateField(allow_null=True)
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    revision = serializers.IntegerField()


class OffersSerializer(serializers.Serializer[Any]):
    next = serializers.CharField(allow_null=True)
    count = serializers.IntegerField()
    catalog = CatalogStateSerializer(many=True)
    results = OfferSerializer(many=True)


class DatedPriceSerializer(serializers.Serializer[Any]):
    """A price from a day on; null prices from the day on which the offer was gone."""

    date = serializers.DateField()
    revision = serializers.IntegerField(allow_null=True)
    price_per_hour = serializers.CharField(allow_null=True)
    upfront = serializers.CharField(allow_null=True)
    currency = serializers.CharField(allow_null=True)
    sold_now = serializers.BooleanField()
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]


class PriceHistorySerializer(serializers.Serializer[Any]):
    offer_id = serializers.CharField()
    results = DatedPriceSerializer(many=True)


class AcceleratorSerializer(serializers.Serializer[Any]):
    """Datasheet values; rates are dense TFLOPS (int8: TOPS), null where no source gives one."""

    slug = serializers.CharField()
    name = serializers.CharField()
    vendor = serializers.CharField()
    architecture = serializers.CharField()
    year = serializers.IntegerField()
    accelerator_class = serializers.CharField()
    form = serializers.CharField()
    memory_gib = serializers.FloatField()
    memory_bandwidth_gb_per_s = serializers.FloatField(allow_null=True)
    fp32_tflops = serializers.FloatField(allow_null=True)
    tf32_tflops = serializers.FloatField(allow_null=True)
    bf16_tflops = serializers.FloatField(allow_null=True)
    fp16_tflops = serializers.FloatField(allow_null=True)
    fp8_tflops = serializers.FloatField(allow_null=True)
    fp4_tflops = serializers.FloatField(allow_null=True)
    int8_tops = serializers.FloatField(allow_null=True)
    cores = serializers.IntegerField(allow_null=True)
    base_clock_mhz = serializers.FloatField(allow_null=True)
    boost_clock_mhz = serializers.FloatField(allow_null=True)
    tdp_w = serializers.FloatField(allow_null=True)
    interconnect = serializers.CharField(allow_blank=True)
    interconnect_gb_per_s = serializers.FloatField(allow_null=True)
    launch_price_usd = serializers.FloatField(allow_null=True)
    street_price_usd = serializers.FloatField(allow_null=True)
    street_price_year = serializers.IntegerField(allow_null=True)
    retired = serializers.BooleanField()
    aliases = serializers.ListField(child=serializers.CharField())
    unverified = serializers.ListField(child=serializers.CharField())
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    notes = serializers.CharField(allow_blank=True)


class AcceleratorsSerializer(serializers.Serializer[Any]):
    results = AcceleratorSerializer(many=True)


class ListPriceMoveSerializer(serializers.Serializer[Any]):
    """One price before and after, in its own currency per hour."""

    offer_id = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    currency = serializers.CharField()
    ratio = serializers.FloatField()


class RowsOfReasonSerializer(serializers.Serializer[Any]):
    """Rows left out for one reason, with the most frequent details."""

    count = serializers.IntegerField()
    examples = serializers.DictField(child=serializers.IntegerField())


class RevisionSerializer(serializers.Serializer[Any]):
    provider = serializers.CharField()
    number = serializers.IntegerField()
    published_at = serializers.DateTimeField()
    as_of = serializers.DateField()
    origin = serializers.CharField()
    offer_count = serializers.IntegerField()
    sold_count = serializers.IntegerField()
    oldest_price_as_of = serializers.DateField(allow_null=True)
    undated_prices = serializers.IntegerField()
    digest = serializers.CharField()
    added = serializers.IntegerField()
    gone = serializers.IntegerField()
    dearer = serializers.IntegerField()
    cheaper = serializers.IntegerField()
    changed = serializers.IntegerField()
    moves = ListPriceMoveSerializer(many=True)
    skipped = serializers.DictField(child=RowsOfReasonSerializer())
    withheld = serializers.DictField(child=RowsOfReasonSerializer())
    warnings = serializers.ListField(child=serializers.CharField())


class RefreshRunSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    provider = serializers.CharField()
    outcome = serializers.ChoiceField(RefreshRun.Outcome.values)
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    message = serializers.CharField(allow_blank=True)
    remedy = serializers.CharField(allow_blank=True)
    offer_count = serializers.IntegerField()
    skipped_count = serializers.IntegerField()
    revision = serializers.IntegerField(source="revision.number", default=None, allow_null=True)
    held_batch = serializers.IntegerField(source="held_batch_id", allow_null=True)


class StaleOfferSerializer(serializers.Serializer[Any]):
    offer_id = serializers.CharField()
    as_of = serializers.DateField()


class PartFreshnessSerializer(serializers.Serializer[Any]):
    """Ages are those of prices sold now; the level is that of the median."""

    part = serializers.ChoiceField([(part.value, part.name) for part in PricePart])
    level = serializers.ChoiceField(("green", "amber", "red"))
    count = serializers.IntegerField()
    undated = serializers.IntegerField()
    median_age_days = serializers.IntegerField(allow_null=True)
    oldest_age_days = serializers.IntegerField(allow_null=True)
    last_confirmed = serializers.DateField(allow_null=True)
    stale_offers = StaleOfferSerializer(many=True)


class FreshnessSerializer(serializers.Serializer[Any]):
    provider = serializers.CharField()
    title = serializers.CharField()
    revision = serializers.IntegerField(allow_null=True)
    origin = serializers.CharField(allow_blank=True)
    as_of = serializers.DateField(allow_null=True)
    oldest_price_as_of = serializers.DateField(allow_null=True)
    age_days = serializers.IntegerField(allow_null=True)
    level = serializers.ChoiceField(("green", "amber", "red"))
    parts = PartFreshnessSerializer(many=True)
    offers = serializers.IntegerField()
    undated_prices = serializers.IntegerField()
    last_run = serializers.CharField(allow_blank=True)
    last_run_at = serializers.DateTimeField(allow_null=True)
    message = serializers.CharField(allow_blank=True)
    held_batches = serializers.IntegerField()


class FreshnessListSerializer(serializers.Serializer[Any]):
    results = FreshnessSerializer(many=True)


class RevisionSummarySerializer(serializers.Serializer[Any]):
    """One provider's revision with its summary."""

    provider = serializers.CharField()
    revision = serializers.IntegerField()
    published_at = serializers.DateTimeField(allow_null=True)
    as_of = serializers.DateField(allow_null=True)
    oldest_price_as_of = serializers.DateField(allow_null=True)
    undated_prices = serializers.IntegerField()
    offer_count = serializers.IntegerField()
    origin = serializers.CharField(allow_blank=True)


class CatalogSerializer(serializers.Serializer[Any]):
    """Rows stand under their columns; amounts are decimal text, an absent value is empty text in
    `offers` and null elsewhere. A rate is currency, day, units per US dollar and source."""

    form = serializers.IntegerField()
    offer_columns = serializers.ListField(child=serializers.CharField())
    offers = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    region_columns = serializers.ListField(child=serializers.CharField())
    regions = serializers.ListField(child=serializers.ListField(child=serializers.JSONField()))
    exchange_rates = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(allow_blank=True))
    )
    revisions = RevisionSummarySerializer(many=True)


class CoverageSerializer(serializers.Serializer[Any]):
    """What is known of one accelerator at one provider under one purchase option."""

    accelerator = serializers.CharField()
    provider = serializers.CharField()
    purchase_option = serializers.ChoiceField([o.value for o in PurchaseOption])
    state = serializers.ChoiceField([(state.value, state.name) for state in PriceState])
    count = serializers.IntegerField()
    oldest = serializers.DateField(allow_null=True)
    newest = serializers.DateField(allow_null=True)
    undated = serializers.IntegerField()
    machines = serializers.ListField(child=serializers.CharField())
    needs_account = serializers.BooleanField()
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    is_sold_elsewhere = serializers.BooleanField()


class CoverageListSerializer(serializers.Serializer[Any]):
    results = CoverageSerializer(many=True)


class ExchangeRateSerializer(serializers.Serializer[Any]):
    currency = serializers.CharField()
    date = serializers.DateField()
    units_per_usd = serializers.CharField()
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]


class ExchangeRatesSerializer(serializers.Serializer[Any]):
    results = ExchangeRateSerializer(many=True)


class RegionSerializer(serializers.Serializer[Any]):
    provider = serializers.CharField()
    region = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    geography = serializers.CharField()
    country = serializers.CharField(allow_blank=True)
    city = serializers.CharField(allow_blank=True)
    latitude = serializers.FloatField(allow_null=True)
    longitude = serializers.FloatField(allow_null=True)
    g_co2e_per_kwh = serializers.FloatField(allow_null=True)
    carbon_source = serializers.CharField(allow_blank=True)


class RegionsSerializer(serializers.Serializer[Any]):
    results = RegionSerializer(many=True)


def parameter(
    name: str, description: str = "", kind: Any = OpenApiTypes.STR, **more: Any
) -> OpenApiParameter:
    return OpenApiParameter(name, kind, description=description, **more)


def number_to(most: int, kind: str = "number") -> dict[str, Any]:
    """The schema of a number from 0."""
    return {"type": kind, "minimum": 0, "maximum": most}


def _words(name: str, **more: Any) -> OpenApiParameter:
    return parameter(name, "Repeat it, or separate values by commas.", **more)


MAX_ACCELERATORS = 100_000
MAX_MEMORY_GIB = 1_000_000
"""Beyond any machine: larger numbers are refused."""
OFFER_FILTERS = [
    _words("provider"),
    _words("region"),
    _words("geography"),
    parameter("accelerator", "Slug or usual name; repeat it, or separate values by commas."),
    _words("purchase_option", enum=[o.value for o in PurchaseOption]),
    _words("instance_type"),
    parameter("min_accelerators", "Of one machine.", number_to(MAX_ACCELERATORS)),
    parameter("accelerator_count", "Of one machine, exactly.", number_to(MAX_ACCELERATORS)),
    parameter("min_accelerator_memory_gib", "", number_to(MAX_MEMORY_GIB)),
    parameter("sold_now", "false: machines no longer sold, at their last known price.",
              OpenApiTypes.BOOL),
    parameter("as_of", "The market as it was known on this day, today at the latest.",
              OpenApiTypes.DATE),
    parameter("ordering", enum=ORDERINGS),
    parameter("page_size", "1 to 500.", OpenApiTypes.INT),
    parameter("cursor", "From a `next` link."),
]  # fmt: skip
