"""Batches of prices that the checks held, for operators to release or reject."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.authentication import access_of_request
from planner.api.permissions import SignedIn
from planner.services.jobs import quarantine
from planner.services.jobs.price_refreshes import require_operator
from pricing.api.pages import PAGE_PARAMETERS, CursorPages
from pricing.api.plain_view import PlainView
from pricing.api.rest import Query
from pricing.models import HeldBatch


class HeldBatchSerializer(serializers.ModelSerializer[HeldBatch]):
    reasons = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = HeldBatch
        fields = ("id", "provider", "state", "reasons", "offer_count", "created_at",
                  "seen_again_at")  # fmt: skip


class HeldBatchesSerializer(serializers.Serializer[Any]):
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = HeldBatchSerializer(many=True)


class OperatorView(PlainView):
    """For operators, or a token with the scope refresh."""

    permission_classes = (SignedIn,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        require_operator(access_of_request(request))


class HeldBatchesView(OperatorView):
    @extend_schema(
        operation_id="list_held_batches",
        responses=HeldBatchesSerializer,
        parameters=[
            OpenApiParameter("state", str, enum=HeldBatch.State.values),
            OpenApiParameter("cursor", str),
            OpenApiParameter("page_size", int),
        ],
    )
    def get(self, request: Request) -> Response:
        """Batches held, the newest first; those that wait for a decision by `state=waiting`."""
        state = Query(request, "state", *PAGE_PARAMETERS).choice("state", HeldBatch.State.values)
        rows = HeldBatch.objects.defer("payload").order_by("-id")
        pages = CursorPages()
        pages.ordering = "-id"
        page = pages.paginate_queryset(rows.filter(state=state) if state else rows, request, self)
        return pages.get_paginated_response(HeldBatchSerializer(page, many=True).data)


class HeldBatchView(OperatorView):
    @extend_schema(responses=HeldBatchSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Why a batch was held."""
        Query(request)
        return Response(HeldBatchSerializer(_get_batch_or_404(pk)).data)


class ReleaseView(OperatorView):
    @extend_schema(request=None, responses=HeldBatchSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Publishes the batch as it was fetched."""
        Query(request)
        quarantine.release(access_of_request(request), _get_batch_or_404(pk))
        return Response(HeldBatchSerializer(_get_batch_or_404(pk)).data)


class RejectView(OperatorView):
    @extend_schema(request=None, responses=HeldBatchSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Keeps the batch for the record, never to be published."""
        Query(request)
        return Response(
            HeldBatchSerializer(
                quarantine.reject(access_of_request(request), _get_batch_or_404(pk))
            ).data
        )


def _get_batch_or_404(pk: int) -> HeldBatch:
    return get_object_or_404(HeldBatch, pk=pk)
