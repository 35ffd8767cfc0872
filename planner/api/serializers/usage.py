"""What files of usage say, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from planner.api.answers import rows_field


class UsageFilesSerializer(serializers.Serializer[Any]):
    """Files in parts of one body."""

    file = serializers.ListField(child=serializers.FileField())


class UsageSerializer(serializers.Serializer[Any]):
    """Sums of files: money as text, hours as numbers; null where a file does not state it."""

    files = rows_field("name", "format", "title", "rows")
    complete = serializers.BooleanField()
    rows = rows_field("rows", "meaning", many=False)
    row_count = serializers.IntegerField()
    not_understood = serializers.ListField(child=serializers.CharField())
    problems = serializers.DictField(child=serializers.IntegerField())
    warnings = serializers.ListField(child=serializers.CharField())
    notes = serializers.ListField(child=serializers.CharField())
    totals = rows_field("currency", "billed", "amortised")
    months = rows_field(
        *("month", "accelerator_hours", "instance_hours", "slice_hours", "billed", "amortised"),
        *("peak_accelerators", "unused_accelerator_hours", "busy_share", "utilisation"),
        "unknown_hours",
    )
    use = rows_field(
        *("month", "provider", "region", "machine", "accelerator", "option", "project", "account"),
        *("accelerator_hours", "instance_hours", "slice_hours", "billed", "amortised"),
    )
    charges = rows_field(
        *("month", "usage_month", "provider", "charge", "service", "pricing", "currency", "rows"),
        *("quantity", "billed", "amortised", "list_cost", "credits"),
    )
    commitments = rows_field(
        *("commitment", "provider", "kind", "currency", "billed", "amortised_used"),
        "amortised_unused",
    )
    unused = rows_field("month", "machine", "reason", "accelerator_hours")
    peaks = rows_field("month", "accelerator", "peak_accelerators")
    idle = rows_field(
        *("month", "machine", "reason", "meaning", "accelerator_hours", "cost", "currency"),
        *("basis", "not_known"),
    )
    demand = rows_field(
        *("accelerator", "history_start", "start", "method", "history", "hours_per_month", "p10"),
        *("p90", "peak_accelerators", "errors", "growth_per_year", "seasonality", "notes"),
        many=False,
        allow_null=True,
    )
    no_demand_because = serializers.CharField(allow_blank=True)
