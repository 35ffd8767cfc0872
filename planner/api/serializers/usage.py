"""What files of usage say, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class UsageFileSerializer(serializers.Serializer[Any]):
    """A file that was read."""

    name = serializers.CharField()
    format = serializers.CharField()
    title = serializers.CharField()
    rows = serializers.IntegerField()


class DemandSerializer(serializers.Serializer[Any]):
    """Hours of past months, and of coming ones with a range."""

    accelerator = serializers.CharField()
    history_start = serializers.CharField()
    history = serializers.ListField(child=serializers.FloatField())
    start = serializers.CharField()
    hours_per_month = serializers.ListField(child=serializers.FloatField())
    p10 = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    p90 = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    peak_accelerators = serializers.ListField(child=serializers.IntegerField())
    method = serializers.CharField()
    errors = serializers.DictField(child=serializers.FloatField())  # type: ignore[assignment]
    growth_per_year = serializers.FloatField(allow_null=True)
    seasonality = serializers.FloatField(allow_null=True)
    notes = serializers.ListField(child=serializers.CharField())


class UsageSerializer(serializers.Serializer[Any]):
    """Sums of files: money as text, hours as numbers; null where a file does not state it."""

    files = UsageFileSerializer(many=True)
    complete = serializers.BooleanField()
    rows = serializers.DictField()
    not_understood = serializers.ListField(child=serializers.CharField())
    notes = serializers.ListField(child=serializers.CharField())
    months = serializers.ListField(child=serializers.DictField())
    use = serializers.ListField(child=serializers.DictField())
    charges = serializers.ListField(child=serializers.DictField())
    commitments = serializers.ListField(child=serializers.DictField())
    unused = serializers.ListField(child=serializers.DictField())
    peaks = serializers.ListField(child=serializers.DictField())
    demand = DemandSerializer(allow_null=True)
    no_demand_because = serializers.CharField(allow_blank=True)
