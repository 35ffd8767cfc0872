"""Single prices that moved beyond their band, for operators to release or reject."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.authentication import access_of_request
from planner.api.views.held import OperatorView
from planner.services.jobs import quarantine
from pricing.api.pages import PAGE_PARAMETERS, CursorPages
from pricing.api.rest import Query
from pricing.models import QuarantinedPrice


class MovedPriceSerializer(serializers.Serializer[Any]):
    price_per_hour = serializers.CharField()
    upfront = serializers.CharField()
    currency = serializers.CharField()
    as_of = serializers.CharField()


class QuarantinedPriceSerializer(serializers.ModelSerializer[QuarantinedPrice]):
    before = MovedPriceSerializer(read_only=True, help_text="The price in force.")
    after = MovedPriceSerializer(read_only=True, help_text="The price that waits.")
    ratio = serializers.FloatField(read_only=True, help_text="New price over the one in force.")
    revision = serializers.IntegerField(
        source="revision.number", default=None, allow_null=True, read_only=True,
        help_text="The revision that published it.",
    )  # fmt: skip

    class Meta:
        model = QuarantinedPrice
        fields = ("id", "provider", "offer_id", "state", "before", "after", "ratio",
                  "created_at", "seen_again_at", "revision")  # fmt: skip


class QuarantinedPricesSerializer(serializers.Serializer[Any]):
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = QuarantinedPriceSerializer(many=True)


class QuarantinedPricesView(OperatorView):
    @extend_schema(
        operation_id="list_quarantined_prices",
        responses=QuarantinedPricesSerializer,
        parameters=[
            OpenApiParameter("state", str, enum=QuarantinedPrice.State.values),
            OpenApiParameter("provider", str),
            OpenApiParameter("cursor", str),
            OpenApiParameter("page_size", int),
        ],
    )
    def get(self, request: Request) -> Response:
        """Single prices in quarantine, the newest first; those to decide on by `state=waiting`."""
        query = Query(request, "state", "provider", *PAGE_PARAMETERS)
        filters = {
            "state": query.choice("state", QuarantinedPrice.State.values),
            "provider": query.text("provider"),
        }
        rows = QuarantinedPrice.objects.select_related("revision").order_by("-id")
        pages = CursorPages()
        pages.ordering = "-id"
        wanted = rows.filter(**{name: value for name, value in filters.items() if value})
        page = pages.paginate_queryset(wanted, request, self)
        return pages.get_paginated_response(QuarantinedPriceSerializer(page, many=True).data)


class QuarantinedPriceView(OperatorView):
    @extend_schema(responses=QuarantinedPriceSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """What moved, from which price to which."""
        Query(request)
        return _show(pk)


class ReleaseView(OperatorView):
    @extend_schema(request=None, responses=QuarantinedPriceSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Publishes the price; all else stays as it is in force."""
        Query(request)
        quarantine.release_prices(access_of_request(request), [_get_price_or_404(pk)])
        return _show(pk)


class RejectView(OperatorView):
    @extend_schema(request=None, responses=QuarantinedPriceSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Keeps the published price; the same new one is not brought up again."""
        Query(request)
        row = _get_price_or_404(pk)
        quarantine.expect_waiting(row)
        quarantine.reject_prices(access_of_request(request), [row])
        return _show(pk)


def _show(pk: int) -> Response:
    return Response(QuarantinedPriceSerializer(_get_price_or_404(pk)).data)


def _get_price_or_404(pk: int) -> QuarantinedPrice:
    return get_object_or_404(QuarantinedPrice.objects.select_related("revision"), pk=pk)
