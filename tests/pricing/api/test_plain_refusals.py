"""Refusals of a serializer speak as those of a request do."""

from __future__ import annotations

import pytest
from rest_framework import serializers

from pricing.api.refusals import flatten


class Item(serializers.Serializer):
    key = serializers.CharField()


class Batch(serializers.Serializer):
    items = serializers.ListField(child=Item(), min_length=1, max_length=2)


@pytest.mark.parametrize(
    ("data", "field", "message"),
    [
        ({}, "items", "is required"),
        ({"items": None}, "items", "is null; leave it out, or give a value"),
        ({"items": []}, "items", "has fewer entries than the least, which is 1"),
        ({"items": [{"key": "a"}] * 3}, "items", "has more than 2 entries"),
        ({"items": [{}]}, "items.0.key", "is required"),
        ({"items": [{"key": ""}]}, "items.0.key", "is empty"),
    ],
)
def test_a_refusal_is_in_plain_words(data, field, message):
    asked = Batch(data=data)
    assert not asked.is_valid()
    assert list(flatten(asked.errors, "")) == [{"field": field, "message": message}]
