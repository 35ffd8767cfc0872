"""Servers that can be bought: the reference list, with the source of each figure."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from planner.costing.assumptions.reference_servers import all_servers
from pricing.api.plain_view import PlainView
from pricing.api.rest import Query, is_not_modified, make_etag, not_modified

_MONEY = ("unit_price_usd", "unit_price_low_usd", "unit_price_high_usd")


class PublishedServerPriceSerializer(serializers.Serializer[Any]):
    unit_price_usd = serializers.CharField()
    quoted = serializers.CharField()
    seller = serializers.ChoiceField(("vendor", "reseller", "analyst", "press"))
    source = serializers.CharField()  # type: ignore[assignment]


class ReferenceServerSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()
    accelerator = serializers.CharField()
    accelerator_count = serializers.FloatField()
    server_class = serializers.ChoiceField(("dgx", "server", "rack", "workstation"))
    unit_price_usd = serializers.CharField()
    unit_price_low_usd = serializers.CharField()
    unit_price_high_usd = serializers.CharField()
    price_year = serializers.IntegerField()
    power_kw = serializers.FloatField()
    idle_power_kw = serializers.FloatField()
    typical_power_kw = serializers.FloatField(allow_null=True)
    measured_idle_power_kw = serializers.FloatField(allow_null=True)
    rack_units = serializers.IntegerField()
    on_sale = serializers.BooleanField()
    unverified = serializers.ListField(child=serializers.CharField())
    source = serializers.CharField()  # type: ignore[assignment]
    notes = serializers.CharField(allow_blank=True)
    quotes = PublishedServerPriceSerializer(many=True)


class ReferenceServersSerializer(serializers.Serializer[Any]):
    results = ReferenceServerSerializer(many=True)


@cache
def _rows() -> dict[str, dict[str, Any]]:
    rows = {server.slug: asdict(server) for server in all_servers()}
    for row in rows.values():
        row |= {name: f"{row[name]:.2f}" for name in _MONEY}
        for quote in row["quotes"]:
            quote["unit_price_usd"] = f"{quote['unit_price_usd']:.2f}"
    return rows


@cache
def _etag() -> str:
    return make_etag("servers", _rows())


class ServersView(PlainView):
    is_conditional = True

    @extend_schema(responses=ReferenceServersSerializer, operation_id="list_servers")
    def get(self, request: Request) -> Response:
        """Every server of the reference list."""
        Query(request)
        if is_not_modified(request, _etag()):
            return not_modified(_etag())
        return Response({"results": list(_rows().values())}, headers={"ETag": _etag()})


class ServerView(PlainView):
    is_conditional = True

    @extend_schema(responses=ReferenceServerSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """One server of the reference list."""
        Query(request)
        server = _rows().get(slug)
        if server is None:
            raise Http404
        if is_not_modified(request, _etag()):
            return not_modified(_etag())
        return Response(server, headers={"ETag": _etag()})
