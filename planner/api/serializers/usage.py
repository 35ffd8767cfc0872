"""What files of usage say, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class UsageFilesSerializer(serializers.Serializer[Any]):
    """Files in parts of one body."""

    file = serializers.ListField(child=serializers.FileField())


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


def _text() -> serializers.CharField:
    return serializers.CharField(allow_blank=True)


def _hours() -> serializers.FloatField:
    return serializers.FloatField(allow_null=True)


def _by_currency() -> serializers.DictField:
    """Currency → amount; null where the file does not state it."""
    return serializers.DictField(child=serializers.CharField(allow_null=True))


class RowsSerializer(serializers.Serializer[Any]):
    """Rows that one thing became of."""

    rows = serializers.IntegerField()
    meaning = serializers.CharField()


class UsedSerializer(serializers.Serializer[Any]):
    """Hours and money of one group."""

    month = serializers.CharField(required=False)
    accelerator_hours = serializers.FloatField()
    slice_hours = serializers.FloatField()
    instance_hours = _hours()
    billed = _by_currency()
    amortised = _by_currency()


class UsedMonthSerializer(UsedSerializer):
    """A month: with its peak, and what monitors and queues saw."""

    peak_accelerators = _hours()
    unused_accelerator_hours = _hours()
    busy_share = serializers.FloatField(required=False)
    utilisation = serializers.FloatField(required=False)
    unknown_hours = serializers.FloatField(required=False)


class UseSerializer(UsedSerializer):
    """Use by what was asked for; empty where the file does not say it."""

    provider = serializers.CharField(required=False, allow_blank=True)
    region = serializers.CharField(required=False, allow_blank=True)
    machine = serializers.CharField(required=False, allow_blank=True)
    accelerator = serializers.CharField(required=False, allow_blank=True)
    option = serializers.CharField(required=False, allow_blank=True)
    project = serializers.CharField(required=False, allow_blank=True)
    account = serializers.CharField(required=False, allow_blank=True)


class ChargeSerializer(serializers.Serializer[Any]):
    """Rows of a bill summed by what they charge for."""

    month = _text()
    provider = _text()
    charge = _text()
    service = _text()
    pricing = _text()
    currency = _text()
    usage_month = _text()
    rows = serializers.IntegerField()
    quantity = serializers.FloatField()
    billed = serializers.CharField(allow_null=True)
    amortised = serializers.CharField(allow_null=True)
    list_cost = serializers.CharField(allow_null=True)
    credits = serializers.CharField(allow_null=True)


class TotalSerializer(serializers.Serializer[Any]):
    """Sum of all rows of the bills in one currency; null where a part is not stated."""

    currency = _text()
    billed = serializers.CharField(allow_null=True)
    amortised = serializers.CharField(allow_null=True)


class OwnedCommitmentSerializer(serializers.Serializer[Any]):
    """A commitment of the bill, and how much of it was used."""

    commitment = serializers.CharField()
    provider = _text()
    kind = _text()
    currency = _text()
    billed = serializers.CharField(
        allow_null=True, help_text="Payments for it; null in a file of amortised cost."
    )
    amortised_used = serializers.CharField(
        allow_null=True, help_text="Cost of its hours used; null in a file of actual cost."
    )
    amortised_unused = serializers.CharField(
        allow_null=True, help_text="Cost of its hours not used; null in a file of actual cost."
    )


class UnusedHoursSerializer(serializers.Serializer[Any]):
    """Hours that were held and not worked, by reason."""

    month = serializers.CharField()
    machine = _text()
    reason = serializers.CharField()
    accelerator_hours = serializers.FloatField()


class IdleSerializer(serializers.Serializer[Any]):
    """Accelerators that were paid for and stood idle; null where nothing states the figure."""

    month = serializers.CharField()
    machine = _text()
    reason = serializers.CharField()
    meaning = serializers.CharField()
    accelerator_hours = _hours()
    cost = serializers.CharField(allow_null=True)
    currency = _text()
    basis = _text()
    not_known = _text()


class TakenOverSerializer(serializers.Serializer[Any]):
    """A commitment as an entry of `existing.commitments`, and what the bill leaves open of it."""

    commitment = serializers.CharField()
    entry = serializers.DictField()
    missing = serializers.DictField(child=serializers.CharField())
    is_of_money = serializers.BooleanField()


class PeakSerializer(serializers.Serializer[Any]):
    """Most accelerators at work in an hour of a month."""

    month = serializers.CharField()
    accelerator = _text()
    peak_accelerators = serializers.FloatField()


class UsageSerializer(serializers.Serializer[Any]):
    """Sums of files: money as text, hours as numbers; null where a file does not state it."""

    files = UsageFileSerializer(many=True)
    complete = serializers.BooleanField()
    rows = serializers.DictField(child=RowsSerializer())
    row_count = serializers.IntegerField()
    not_understood = serializers.ListField(child=serializers.CharField())
    problems = serializers.DictField(child=serializers.IntegerField())
    warnings = serializers.ListField(child=serializers.CharField())
    notes = serializers.ListField(child=serializers.CharField())
    totals = TotalSerializer(many=True)
    months = UsedMonthSerializer(many=True)
    use = UseSerializer(many=True)
    charges = ChargeSerializer(many=True)
    commitments = OwnedCommitmentSerializer(many=True)
    unused = UnusedHoursSerializer(many=True)
    peaks = PeakSerializer(many=True)
    idle = IdleSerializer(many=True)
    existing = TakenOverSerializer(many=True)
    demand = DemandSerializer(allow_null=True)
    no_demand_because = serializers.CharField(allow_blank=True)
