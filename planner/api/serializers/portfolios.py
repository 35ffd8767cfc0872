"""Portfolios as the API writes and reads them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from planner.api.serializers.fields import FiniteField, ModelField, ObjectField, name_field
from planner.contract.answer.changes import ReplayDifference
from planner.contract.answer.portfolio import PortfolioAnswer, PortfolioChange, PortfolioRepricing
from planner.contract.request.portfolio import PortfolioRequest
from planner.models import SavedPortfolio
from pricing.api.rest import StrictSerializer


class SavedPortfolioSerializer(serializers.ModelSerializer[SavedPortfolio]):
    """A saved portfolio in a list: what anybody in the team may see of it."""

    team = serializers.CharField(source="team.slug", read_only=True)
    created_by = serializers.CharField(
        source="created_by.username", default=None, allow_null=True, read_only=True
    )

    class Meta:
        model = SavedPortfolio
        fields: tuple[str, ...] = (
            "id",
            "team",
            "name",
            "note",
            "state",
            "shown_to_all",
            "watched",
            "watch_threshold",
            "answered_on",
            "created_by",
            "approved_as",
            "approved_at",
            "created_at",
            "version",
        )


class SavedPortfolioDetailSerializer(SavedPortfolioSerializer):
    answer = ModelField(PortfolioAnswer, source="visible")
    """All of it, or the shares of one's own projects alone."""

    repriced = ModelField(PortfolioRepricing, source="visible_repricing", allow_null=True)
    """By the watch or a job at later prices, of what one may see; null before that."""

    class Meta(SavedPortfolioSerializer.Meta):
        fields = (*SavedPortfolioSerializer.Meta.fields, "answer", "repriced")


class PortfolioWatchSerializer(StrictSerializer):
    watched = serializers.BooleanField(required=False)
    """Whether it is priced again after each refresh while it is approved."""
    watch_threshold = FiniteField(min_value=0, max_value=10, required=False)
    """Fraction by which the total must move to raise an alert."""


class NewSavedPortfolioSerializer(StrictSerializer):
    team = serializers.CharField(max_length=60)
    name = name_field()
    note = serializers.CharField(max_length=2000, required=False, allow_blank=True)
    request = ObjectField(PortfolioRequest, required=False)
    """A portfolio request; absent: that of the team's projects."""
    projects = serializers.ListField(
        child=serializers.UUIDField(), required=False, min_length=1, max_length=100
    )
    """Of the team's projects those that are planned; absent: all. Not with `request`."""
    shown_to_all = serializers.BooleanField(required=False)


class PortfolioReplaySerializer(serializers.Serializer[Any]):
    identical = serializers.BooleanField()
    differences = ModelField(ReplayDifference, many=True)
    answer = ModelField(PortfolioAnswer)


class PortfolioRepricedSerializer(serializers.Serializer[Any]):
    changes = ModelField(PortfolioChange, many=True)
    answer = ModelField(PortfolioAnswer)
