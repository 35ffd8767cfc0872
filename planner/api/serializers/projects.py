"""Projects, variants, saved comparisons, actuals."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from planner.api.answers import ModelField, rows_field, table_of
from planner.api.serializers.teams import (
    FiniteField,
    ObjectField,
    currency_field,
    name_field,
    optional_field,
)
from planner.contract.answer.comparison import (
    CatalogRevision,
    ComparisonAnswer,
    PriceMove,
    RequestChange,
    RowChange,
    ScenarioChange,
    ShownSection,
)
from planner.contract.answer.portfolio import PortfolioAnswer, PortfolioChange, PortfolioRepricing
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.portfolio import PortfolioRequest
from planner.models import (
    ActualsUpload,
    BudgetPeriod,
    Project,
    SavedComparison,
    SavedPortfolio,
    State,
    Variant,
)
from planner.models.project import REASON_LENGTH
from planner.services.projects.saved_comparisons import is_stale
from pricing.api.rest import StrictSerializer

_DATES = ("created_at", "updated_at", "version")


class TagsField(serializers.DictField):
    child = serializers.CharField(max_length=200, allow_blank=True)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        tags: dict[str, str] = super().to_internal_value(data)
        if len(tags) > 50 or any(len(name) > 100 for name in tags):
            raise serializers.ValidationError("At most 50 tags, names up to 100 characters.")
        return tags


class ProjectSerializer(serializers.ModelSerializer[Project]):
    team = serializers.CharField(source="team.slug", read_only=True)
    workload = ObjectField(read_only=True)
    assumptions = ObjectField(read_only=True)
    tags = TagsField(read_only=True)

    class Meta:
        model = Project
        fields = (
            "id",
            "team",
            "name",
            "description",
            "workload",
            "assumptions",
            "tags",
            "budget",
            "budget_period",
            "watched",
            "watch_threshold",
            "archived",
            *_DATES,
        )


class NewProjectSerializer(StrictSerializer):
    fixed = ("team",)
    team = serializers.CharField(max_length=60, required=False)
    """May be left out by a caller with one team."""
    name = name_field()
    description = serializers.CharField(max_length=2000, required=False, allow_blank=True)
    workload = ObjectField(required=False)
    assumptions = ObjectField(required=False)
    tags = TagsField(required=False)
    budget = serializers.CharField(max_length=40, required=False, allow_blank=True)
    budget_period = serializers.ChoiceField(BudgetPeriod.choices, required=False)
    watched = serializers.BooleanField(required=False)
    watch_threshold = FiniteField(min_value=0, max_value=10, required=False)
    archived = serializers.BooleanField(required=False)


class VariantSerializer(serializers.ModelSerializer[Variant]):
    changes = ObjectField(read_only=True)

    class Meta:
        model = Variant
        fields = ("id", "project", "name", "changes", *_DATES)


class NewVariantSerializer(StrictSerializer):
    fixed = ("project",)
    project = serializers.UUIDField()
    name = name_field()
    changes = ObjectField(required=False)


class SummarySerializer(serializers.Serializer[Any]):
    recommended = serializers.CharField(allow_null=True)
    total_cost = serializers.CharField(allow_null=True)
    net_present_cost = serializers.CharField(allow_null=True)
    currency = serializers.CharField()
    uses_catalog = serializers.BooleanField(required=False)


class SavedComparisonSerializer(serializers.ModelSerializer[SavedComparison]):
    """One saved comparison as lists show it."""

    summary = SummarySerializer(read_only=True)
    revisions = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    stale = serializers.SerializerMethodField()
    state = serializers.ChoiceField(State.choices, read_only=True)
    submitted_by = optional_field("submitter")
    sent_back_by = optional_field("sender")
    approved_by = optional_field("approver")

    class Meta:
        model = SavedComparison
        fields: tuple[str, ...] = (
            "id",
            "project",
            "variant",
            "name",
            "note",
            "state",
            "summary",
            "revisions",
            "stale",
            "answered_on",
            "submitted_by",
            "submitted_at",
            "sent_back_by",
            "sent_back_at",
            "sent_back_reason",
            "approved_by",
            "approved_at",
            "superseded_by",
            "superseded_at",
            *_DATES,
        )

    def get_stale(self, saved: SavedComparison) -> bool:
        return is_stale(saved, self.context["view"].current_revisions)


class SavedComparisonDetailSerializer(SavedComparisonSerializer):
    """All that the answer came from, frozen."""

    given = ObjectField(read_only=True)
    request = ObjectField(ComparisonRequest, read_only=True)
    inherited = ObjectField(read_only=True)
    rows = table_of(ShownSection, required=False)
    """What its page shows, where it is included."""
    answer = ModelField(ComparisonAnswer)
    """As it was given, with the tables that are included."""

    class Meta(SavedComparisonSerializer.Meta):
        fields = (
            *SavedComparisonSerializer.Meta.fields,
            "given",
            "request",
            "inherited",
            "rows",
            "answer",
        )

    def to_representation(self, instance: SavedComparison) -> dict[str, Any]:
        values = super().to_representation(instance)
        if "rows" not in self.context["view"].include:
            del values["rows"]
        return values


class NewSavedComparisonSerializer(StrictSerializer):
    """Without a request, the variant's is answered; without a variant, the project's."""

    fixed = ("project", "variant", "request")
    project = serializers.UUIDField()
    variant = serializers.UUIDField(required=False, allow_null=True)
    name = name_field()
    note = serializers.CharField(max_length=2000, required=False, allow_blank=True)
    request = ObjectField(ComparisonRequest, required=False)


class SendBackSerializer(StrictSerializer):
    reason = serializers.CharField(max_length=REASON_LENGTH, required=False, allow_blank=True)
    """What whoever submitted it should know."""


class RepriceSerializer(StrictSerializer):
    as_of = serializers.DateField(required=False)
    """Prices as they were published on that day; today's when absent."""
    request = ObjectField(ComparisonRequest, required=False)
    """Answered instead of what the variant asks today."""


class RepriceProjectSerializer(StrictSerializer):
    as_of = serializers.DateField(required=False)


class RepricedSerializer(serializers.Serializer[Any]):
    catalog = table_of(CatalogRevision)
    difference = table_of(ScenarioChange)
    prices_moved = table_of(PriceMove)
    request_changes = table_of(RequestChange)
    changed_rows = table_of(RowChange)
    answer = ModelField(ComparisonAnswer)


class UploadSerializer(serializers.ModelSerializer[ActualsUpload]):
    format = serializers.ChoiceField(("csv", "focus", "usage"), read_only=True)
    uploaded_by = optional_field("uploaded_by.username")
    currency = currency_field(read_only=True)

    class Meta:
        model = ActualsUpload
        fields = (
            "id",
            "project",
            "file_name",
            "format",
            "rows",
            "digest",
            "currency",
            "uploaded_by",
            "created_at",
        )


class UploadedSerializer(UploadSerializer):
    warnings = serializers.ListField(
        child=serializers.CharField(),
        help_text="Rows with more use than machines could give in the time, and months that an "
        "earlier upload counts too, and how to take that one out.",
    )

    class Meta(UploadSerializer.Meta):
        fields = (*UploadSerializer.Meta.fields, "warnings")  # type: ignore[assignment]


_VARIANCE = (
    *("planned", "actual", "difference", "planned_hours", "actual_hours"),
    "causes (price, usage, unplanned, other)",
)


class VarianceSerializer(serializers.Serializer[Any]):
    """Money as text, hours as accelerator-hours; those of machines whose accelerators are not
    known are not counted and are named in the warnings."""

    currency = serializers.CharField()
    saved_comparison = serializers.UUIDField(allow_null=True)
    months = rows_field("month", *_VARIANCE)
    categories = rows_field("category", *_VARIANCE)
    total = rows_field(*_VARIANCE, many=False)
    warnings = serializers.ListField(
        child=serializers.CharField(),
        help_text="Hours that could not be turned into accelerator-hours, and the remedy.",
    )


class CompletionSerializer(serializers.Serializer[Any]):
    """Money as text; null where it cannot be known, with the reason in `why_not`."""

    currency = serializers.CharField()
    months_done = serializers.IntegerField()
    months_left = serializers.IntegerField()
    actual = serializers.CharField()
    planned_total = serializers.CharField()
    remaining_plan = serializers.CharField()
    remaining_at_current_prices = serializers.CharField()
    prices_as_of = serializers.DateField(allow_null=True)
    offers_not_sold = serializers.IntegerField()
    estimate_at_completion = serializers.CharField(allow_null=True)
    low = serializers.CharField(allow_null=True)
    high = serializers.CharField(allow_null=True)
    budget = serializers.CharField(allow_null=True)
    budget_headroom = serializers.CharField(allow_null=True)
    hours_ratio = serializers.FloatField(allow_null=True)
    price_ratio = serializers.FloatField(allow_null=True)
    why_not = serializers.CharField(allow_blank=True)
    warnings = serializers.ListField(child=serializers.CharField())


class SavedPortfolioSerializer(serializers.ModelSerializer[SavedPortfolio]):
    """A saved portfolio in a list: what anybody in the team may see of it."""

    team = serializers.CharField(source="team.slug", read_only=True)
    created_by = optional_field("created_by.username")

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


class PortfolioRepricedSerializer(serializers.Serializer[Any]):
    changes = table_of(PortfolioChange)
    answer = ModelField(PortfolioAnswer)
