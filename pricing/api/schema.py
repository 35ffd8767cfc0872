"""What the read endpoints answer, for the API's document."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import Enum, EnumType
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from pricing.market.accelerators import Accelerator
from pricing.market.coverage import CoverageRow
from pricing.market.exchange_rates import ExchangeRate
from pricing.market.offer_filters import ORDERINGS
from pricing.market.offer_rows import OfferRow
from pricing.market.offers import PAYMENT_OPTIONS, PurchaseOption
from pricing.market.snapshot import PricePart, Region, RevisionInfo
from pricing.models import RefreshRun, Revision
from pricing.publish.batch import PriceChange
from pricing.revisions import Freshness, PartFreshness


def serializer_of(
    kind: type, *leave_out: str, name: str = "", fields: Mapping[str, Any] = MappingProxyType({})
) -> type[serializers.Serializer[Any]]:
    """What the document says of a dataclass: its fields by their types, some as `fields` say."""
    hints = get_type_hints(kind)
    known = {
        one.name: _field_of(hints[one.name])
        for one in dataclasses.fields(kind)
        if one.name not in (*leave_out, *fields)
    }
    name = f"{name or kind.__name__}Serializer"
    return type(name, (serializers.Serializer,), {"__doc__": kind.__doc__, **known, **fields})


_PLAIN: Mapping[Any, Any] = {
    str: partial(serializers.CharField, allow_blank=True),
    Decimal: serializers.CharField,
    float: serializers.FloatField,
    int: serializers.IntegerField,
    bool: serializers.BooleanField,
    dt.date: serializers.DateField,
    dt.datetime: serializers.DateTimeField,
}


def _field_of(hint: Any, **options: Any) -> Any:
    parts = get_args(hint)
    if type(None) in parts:
        return _field_of(parts[0], allow_null=True)
    if get_origin(hint) is tuple:
        if dataclasses.is_dataclass(parts[0]):
            return serializer_of(cast(type, parts[0]))(many=True)
        return serializers.ListField(child=_field_of(parts[0]))
    if get_origin(hint) is Literal:
        return serializers.ChoiceField(parts)
    if isinstance(hint, EnumType):
        members = cast(Iterable[Enum], hint)
        return serializers.ChoiceField([(member.value, member.name) for member in members])
    return _PLAIN[hint](**options)


def described(name: str, text: str, **fields: Any) -> type[serializers.Serializer[Any]]:
    """What the document says of an answer: its fields by their types, or by what makes them."""
    known = {
        key: kind() if isinstance(kind, partial) else _field_of(kind)
        for key, kind in fields.items()
    }
    return type(f"{name}Serializer", (serializers.Serializer,), {"__doc__": text, **known})


def results_of(serializer: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    name = f"{serializer.__name__.removesuffix('Serializer')}List"
    return described(name, "All of them.", results=partial(serializer, many=True))


CatalogStateSerializer = described(
    "CatalogState",
    "One provider's revision behind an answer; `age_days` is that of its oldest price.",
    provider=str,
    revision=int,
    as_of=dt.date | None,
    oldest_price_as_of=dt.date | None,
    age_days=int | None,
)
OfferSerializer = described(
    "Offer",
    "Money is a decimal string. `usd_per_hour` is the effective price of the whole machine, the "
    "upfront payment spread over the term, and `usd_per_accelerator_hour` that of one "
    "accelerator; `recurring_usd_per_hour` is what each hour is billed, `upfront_usd` what is due "
    "once.",
    **get_type_hints(OfferRow)
    | {
        "purchase_option": partial(serializers.ChoiceField, [o.value for o in PurchaseOption]),
        "payment_option": partial(serializers.ChoiceField, PAYMENT_OPTIONS, allow_blank=True),
        "revision": int,
    },
)
OffersSerializer = described(
    "Offers",
    "",
    next=str | None,
    count=int,
    catalog=partial(CatalogStateSerializer, many=True),
    results=partial(OfferSerializer, many=True),
)
DatedPriceSerializer = described(
    "DatedPrice",
    "A price from a day on; null prices from the day on which the offer was gone.",
    date=dt.date,
    revision=int | None,
    **dict.fromkeys(("price_per_hour", "upfront", "currency"), str | None),
    sold_now=bool,
    source=str,
)
PriceHistorySerializer = described(
    "PriceHistory", "", offer_id=str, results=partial(DatedPriceSerializer, many=True)
)
ListPriceMoveSerializer = serializer_of(PriceChange, name="ListPriceMove")
RowsOfReasonSerializer = described(
    "RowsOfReason",
    "Rows left out for one reason, with the most frequent details.",
    count=int,
    examples=partial(serializers.DictField, child=serializers.IntegerField()),
)


class RevisionSerializer(serializers.ModelSerializer[Revision]):
    moves = ListPriceMoveSerializer(many=True)
    skipped = serializers.DictField(child=RowsOfReasonSerializer())
    withheld = serializers.DictField(child=RowsOfReasonSerializer())
    warnings = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Revision
        exclude = ("id", "dates", "absences")


class RefreshRunSerializer(serializers.ModelSerializer[RefreshRun]):
    revision = serializers.IntegerField(source="revision.number", default=None, allow_null=True)

    class Meta:
        model = RefreshRun
        fields = "__all__"


def _rows(kind: type[Any]) -> Any:
    return partial(serializers.ListField, child=serializers.ListField(child=kind()))


CatalogSerializer = described(
    "Catalog",
    "Rows stand under their columns; amounts are decimal text, an absent value is empty text in "
    "`offers` and null elsewhere. A rate is currency, day, units per US dollar and source.",
    form=int,
    offer_columns=tuple[str, ...],
    offers=_rows(serializers.CharField),
    region_columns=tuple[str, ...],
    regions=_rows(serializers.JSONField),
    exchange_rates=_rows(serializers.CharField),
    revisions=partial(serializer_of(RevisionInfo, name="RevisionSummary"), many=True),
)
LEVEL = ("green", "amber", "red")
AcceleratorSerializer = serializer_of(Accelerator, "api_names")
PartFreshnessSerializer = serializer_of(
    PartFreshness,
    fields={
        "part": serializers.ChoiceField([(part.value, part.name) for part in PricePart]),
        "level": serializers.ChoiceField(LEVEL),
    },
)
FreshnessSerializer = serializer_of(
    Freshness,
    fields={"level": serializers.ChoiceField(LEVEL), "parts": PartFreshnessSerializer(many=True)},
)
CoverageSerializer = serializer_of(
    CoverageRow,
    name="Coverage",
    fields={"purchase_option": serializers.ChoiceField([one.value for one in PurchaseOption])},
)
ExchangeRateSerializer = serializer_of(ExchangeRate)
RegionSerializer = serializer_of(
    Region, fields={"provider": serializers.CharField(), "region": serializers.CharField()}
)


def parameter(
    name: str, description: str = "", kind: Any = OpenApiTypes.STR, **more: Any
) -> OpenApiParameter:
    return OpenApiParameter(name, kind, description=description, **more)


def number_to(most: int, kind: str = "number") -> dict[str, Any]:
    return {"type": kind, "minimum": 0, "maximum": most}


def _words(name: str, **more: Any) -> OpenApiParameter:
    return parameter(name, "Repeat it, or separate values by commas.", **more)


MAX_ACCELERATORS = 100_000
MAX_MEMORY_GIB = 1_000_000
"""Beyond any machine: larger numbers are refused."""
OFFER_FILTERS = [
    _words("provider"),
    _words("region"),
    parameter(
        "geography",
        "Part of the world, or eu, eea, uk, switzerland; repeat it, or separate values by commas.",
    ),
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
