"""What files of usage say, for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rest_framework import serializers

_TEXT = partial(serializers.CharField, allow_blank=True)
_WORD = serializers.CharField
_AMOUNT = partial(serializers.CharField, allow_null=True)
_NUMBER = serializers.FloatField
_HOURS = partial(serializers.FloatField, allow_null=True)
_WHOLE = serializers.IntegerField


def _list_of(kind: Any, **options: Any) -> Callable[[], Any]:
    return lambda: serializers.ListField(child=kind(), **options)


def _object_of(kind: Any) -> Callable[[], Any]:
    return lambda: serializers.DictField(child=kind())


_TEXTS, _NUMBERS = _list_of(_WORD), _list_of(_NUMBER)
_BY_CURRENCY = _object_of(_AMOUNT)
"""Currency → amount; null where the file does not state it."""


def _shape(name: str, meaning: str, fields: Mapping[Any, str], **own: Any) -> Any:
    """A serializer with the fields that `fields` names for each kind, and some of its `own`."""
    named = {one: kind() for kind, names in fields.items() for one in names.split()}
    return type(
        f"{name}Serializer", (serializers.Serializer,), {"__doc__": meaning, **named, **own}
    )


class UsageFilesSerializer(serializers.Serializer[Any]):
    """Files in parts of one body."""

    file = serializers.ListField(child=serializers.FileField())


_File = _shape("UsageFile", "A file that was read.", {_WORD: "name format title", _WHOLE: "rows"})
_Demand = _shape(
    "Demand",
    "Hours of past months, and of coming ones with a range.",
    {
        _WORD: "accelerator history_start start method",
        _NUMBERS: "history hours_per_month",
        _list_of(_NUMBER, allow_null=True): "p10 p90",
        _list_of(_WHOLE): "peak_accelerators",
        _object_of(_NUMBER): "errors",
        _HOURS: "growth_per_year seasonality",
        _TEXTS: "notes",
    },
)
_Rows = _shape("Rows", "Rows that one thing became of.", {_WHOLE: "rows", _WORD: "meaning"})
_USED = {
    partial(_WORD, required=False): "month",
    _NUMBER: "accelerator_hours slice_hours",
    _HOURS: "instance_hours",
    _BY_CURRENCY: "billed amortised",
}
_UsedMonth = _shape(
    "UsedMonth",
    "A month: with its peak, and what monitors and queues saw.",
    _USED
    | {
        _HOURS: "instance_hours peak_accelerators unused_accelerator_hours",
        partial(_NUMBER, required=False): "busy_share utilisation unknown_hours",
    },
)
_Use = _shape(
    "Use",
    "Use by what was asked for; empty where the file does not say it.",
    _USED
    | {
        partial(_TEXT, required=False): "provider region machine accelerator option project account"
    },
)
_Charge = _shape(
    "Charge",
    "Rows of a bill summed by what they charge for.",
    {
        _TEXT: "month provider charge service pricing currency usage_month",
        _WHOLE: "rows",
        _NUMBER: "quantity",
        _AMOUNT: "billed amortised list_cost credits",
    },
)
_Total = _shape(
    "Total",
    "Sum of all rows of the bills in one currency; null where a part is not stated.",
    {_TEXT: "currency", _AMOUNT: "billed amortised"},
)
_Commitment = _shape(
    "OwnedCommitment",
    "A commitment of the bill, and how much of it was used.",
    {_WORD: "commitment", _TEXT: "provider kind currency"},
    billed=_AMOUNT(help_text="Payments for it; null in a file of amortised cost."),
    amortised_used=_AMOUNT(help_text="Cost of its hours used; null in a file of actual cost."),
    amortised_unused=_AMOUNT(
        help_text="Cost of its hours not used; null in a file of actual cost."
    ),
)
_Unused = _shape(
    "UnusedHours",
    "Hours that were held and not worked, by reason.",
    {_WORD: "month reason", _TEXT: "machine", _NUMBER: "accelerator_hours"},
)
_Idle = _shape(
    "Idle",
    "Accelerators that were paid for and stood idle; null where nothing states the figure.",
    {
        _WORD: "month reason meaning",
        _TEXT: "machine currency basis not_known",
        _HOURS: "accelerator_hours",
        _AMOUNT: "cost",
    },
)
_Peak = _shape(
    "Peak",
    "Most accelerators at work in an hour of a month.",
    {_WORD: "month", _TEXT: "accelerator", _NUMBER: "peak_accelerators"},
)


class UsageSerializer(serializers.Serializer[Any]):
    """Sums of files: money as text, hours as numbers; null where a file does not state it."""

    files = _File(many=True)
    complete = serializers.BooleanField()
    rows = _object_of(_Rows)()
    row_count = _WHOLE()
    not_understood = _TEXTS()
    problems = _object_of(_WHOLE)()
    warnings = _TEXTS()
    notes = _TEXTS()
    totals = _Total(many=True)
    months = _UsedMonth(many=True)
    use = _Use(many=True)
    charges = _Charge(many=True)
    commitments = _Commitment(many=True)
    unused = _Unused(many=True)
    peaks = _Peak(many=True)
    idle = _Idle(many=True)
    demand = _Demand(allow_null=True)
    no_demand_because = _TEXT()
