"""The shapes of answers, for the OpenAPI document; the pure core makes them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from planner.api.serializers.fields import ObjectField, ObjectsField


class CatalogRowSerializer(serializers.Serializer[Any]):
    provider = serializers.CharField()
    revision = serializers.IntegerField()
    as_of = serializers.DateField(allow_null=True)
    oldest_price_as_of = serializers.DateField(allow_null=True)
    age_days = serializers.IntegerField(allow_null=True)


class AssumptionSerializer(serializers.Serializer[Any]):
    field = serializers.CharField()
    value = serializers.JSONField()
    unit = serializers.CharField(allow_blank=True)
    given = serializers.BooleanField()
    source = serializers.CharField()  # type: ignore[assignment]


class LineSerializer(serializers.Serializer[Any]):
    month = serializers.IntegerField()
    category = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    provider = serializers.CharField(allow_blank=True)
    region = serializers.CharField(allow_blank=True)
    instance_type = serializers.CharField(allow_blank=True)
    purchase_option = serializers.CharField(allow_blank=True)
    quantity = serializers.FloatField()
    unit = serializers.CharField()
    unit_price = serializers.CharField()
    amount = serializers.CharField()
    offer_id = serializers.CharField(allow_blank=True)


class CapacitySerializer(serializers.Serializer[Any]):
    month = serializers.IntegerField()
    source = serializers.CharField()  # type: ignore[assignment]
    accelerators = serializers.FloatField()
    hours_available = serializers.FloatField()
    hours_used = serializers.FloatField()


class EnergySerializer(serializers.Serializer[Any]):
    """Energy and carbon of a scenario; null where a figure is not known, with the reasons."""

    kwh = serializers.FloatField(allow_null=True)
    """Of the sources whose power is known."""
    kg_co2e = serializers.FloatField(allow_null=True)
    """Of all of it; null unless every power and every grid is known."""
    kg_co2e_of_known_grid = serializers.FloatField(allow_null=True)
    """The part that is known."""
    why_not = serializers.ListField(child=serializers.CharField())
    kwh_of_unknown_grid = serializers.FloatField()
    unknown_power = serializers.ListField(child=serializers.CharField())
    sources = ObjectsField()


class ScenarioAnswerSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    feasible = serializers.BooleanField()
    why_not = serializers.ListField(child=serializers.CharField())
    total_cost = serializers.CharField(allow_null=True)
    net_present_cost = serializers.CharField(allow_null=True)
    levelised_cost_per_accelerator_hour = serializers.CharField(allow_null=True)
    lines = LineSerializer(many=True)
    capacity = CapacitySerializer(many=True)
    gap = serializers.FloatField(allow_null=True)
    bound = serializers.CharField(allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField())
    energy = EnergySerializer(allow_null=True, required=False)


class DemandSerializer(serializers.Serializer[Any]):
    accelerator = serializers.CharField()
    hours_per_month = serializers.ListField(child=serializers.FloatField())
    peak_accelerators = serializers.ListField(child=serializers.FloatField())
    method = serializers.CharField()
    range = ObjectField()


class RecommendationSerializer(serializers.Serializer[Any]):
    scenario = serializers.CharField(allow_null=True)
    saving = serializers.CharField(allow_null=True)
    next_best = serializers.CharField(allow_null=True)
    because = serializers.ListField(child=serializers.CharField())


class ComparisonSerializer(serializers.Serializer[Any]):
    """What renting, owning and mixing cost; money as decimal text, months from `start`."""

    name = serializers.CharField(allow_blank=True)
    start = serializers.CharField()
    horizon_months = serializers.IntegerField()
    currency = serializers.CharField()
    catalog = CatalogRowSerializer(many=True)
    assumptions = AssumptionSerializer(many=True)
    demand = DemandSerializer()
    scenarios = ScenarioAnswerSerializer(many=True)
    break_even = ObjectsField()
    recommendation = RecommendationSerializer()
    risk = ObjectField(allow_null=True)
    sensitivity = ObjectsField()
    warnings = serializers.ListField(child=serializers.CharField())
    exchange_rate = ObjectField(allow_null=True, required=False)
    offers = ObjectField(required=False)
    """Offer id → the offer, with the provider's own price."""
    servers = ObjectsField(required=False)
    cost_curve = ObjectField(required=False)
    price_grid = ObjectField(allow_null=True, required=False)
    explanation = ObjectField(allow_null=True, required=False)
    robust = ObjectField(allow_null=True, required=False)
    inherited = ObjectsField(required=False)
    """What came from the team's settings."""


class RangeSerializer(serializers.Serializer[Any]):
    p10 = serializers.FloatField()
    p50 = serializers.FloatField()
    p90 = serializers.FloatField()


class EstimateSerializer(serializers.Serializer[Any]):
    """Hours, memory, duration and layout of a workload on one accelerator, with ranges; null
    where a figure has no meaning for the kind of work."""

    accelerator = serializers.CharField()
    accelerators = serializers.IntegerField()
    runs = serializers.IntegerField()
    accelerator_hours = RangeSerializer()
    precision = serializers.CharField(allow_null=True)
    wall_clock_hours = serializers.FloatField(allow_null=True)
    training_flops = serializers.FloatField(allow_null=True)
    hardware_flops = serializers.FloatField(allow_null=True)
    samples_per_second_per_accelerator = serializers.FloatField(allow_null=True)
    mfu = serializers.FloatField(allow_null=True)
    mfu_source = serializers.CharField(allow_null=True)
    hfu = serializers.FloatField(allow_null=True)
    goodput = serializers.FloatField(allow_null=True)
    goodput_source = serializers.CharField(allow_null=True)
    goodput_on_spot = ObjectField(allow_null=True)
    hours_between_failures = serializers.FloatField(allow_null=True)
    checkpoint_interval_hours = serializers.FloatField(allow_null=True)
    memory_per_accelerator_gib = serializers.FloatField(allow_null=True)
    memory_breakdown = ObjectField(allow_null=True)
    min_accelerators = serializers.IntegerField(allow_null=True)
    parallelism = ObjectField(allow_null=True)
    scaling_efficiency = serializers.FloatField(allow_null=True)
    energy_kwh = serializers.FloatField(allow_null=True)
    inference = ObjectField(allow_null=True)
    cpu = ObjectField()
    candidates = ObjectsField()
    notes = serializers.ListField(child=serializers.CharField())
    method = serializers.CharField()
    warnings = serializers.ListField(child=serializers.CharField())
