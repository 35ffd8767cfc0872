"""Teams and what is kept under them."""

from __future__ import annotations

from math import isfinite
from typing import Any

from pydantic import BaseModel
from rest_framework import serializers

from planner.contract.request.constraints import CustomOffer, PriceAdjustment
from planner.contract.request.on_prem import Server
from planner.models import (
    ApiToken,
    AuditEntry,
    Invitation,
    Membership,
    Role,
    Scope,
    ServerQuote,
    Team,
)
from planner.services.teams.teams import INVITATION_DAYS, MAX_INVITATION_DAYS
from planner.services.teams.tokens import MAX_TOKEN_DAYS
from pricing.api.rest import StrictSerializer


class ObjectField(serializers.JSONField):
    """A JSON object, or with `many` a list of them, judged by the service that it is for; `model`
    says what one looks like."""

    default_error_messages = {
        "not_object": "This is not an object.",
        "not_objects": "This is not a list of objects.",
    }

    def __init__(
        self, model: type[BaseModel] | None = None, *, many: bool = False, **options: Any
    ) -> None:
        super().__init__(**options)
        self.model = model
        self.many = many

    def to_internal_value(self, data: Any) -> Any:
        rows = data if self.many and isinstance(data, list) else [data]
        if isinstance(data, list) is not self.many or not all(isinstance(r, dict) for r in rows):
            self.fail("not_objects" if self.many else "not_object")
        return data


class FiniteField(serializers.FloatField):
    """A number that is neither NaN nor infinite, whatever it is written like."""

    def to_internal_value(self, data: Any) -> float:
        value = super().to_internal_value(data)
        if not isfinite(value):
            self.fail("invalid")
        return value


def name_field(**options: Any) -> serializers.CharField:
    return serializers.CharField(max_length=120, **options)


def optional_field(source: str) -> serializers.CharField:
    """A name of something that may not be there."""
    return serializers.CharField(source=source, default=None, allow_null=True, read_only=True)


def currency_field(**options: Any) -> serializers.CharField:
    messages: dict[str, Any] = {"invalid": "is not a currency of three letters, like USD"}
    return serializers.RegexField(r"^[A-Z]{3}\Z", error_messages=messages, **options)


_DATES = ("created_at", "updated_at", "version")


def _rules(**options: Any) -> serializers.ListField:
    """`SOURCE:PATTERN=PROJECT`, such as `tag:team:ml-*=Vision`: which project a row belongs to."""
    return serializers.ListField(child=serializers.CharField(max_length=500), **options)


class TeamSerializer(serializers.ModelSerializer[Team]):
    role = serializers.SerializerMethodField()
    price_adjustments = ObjectField(PriceAdjustment, many=True, read_only=True)
    custom_offers = ObjectField(CustomOffer, many=True, read_only=True)
    defaults = ObjectField(read_only=True)
    project_rules = _rules(read_only=True)

    class Meta:
        model = Team
        fields = (
            "slug",
            "name",
            "currency",
            "role",
            "price_adjustments",
            "custom_offers",
            "defaults",
            "project_rules",
            *_DATES,
        )

    def get_role(self, team: Team) -> str:
        return str(self.context["view"].access.roles.get(team.pk, ""))


class NewTeamSerializer(StrictSerializer):
    name = name_field()
    slug = serializers.SlugField(max_length=60, required=False)
    currency = currency_field(required=False)


class TeamChangesSerializer(StrictSerializer):
    """Settings of the team; every comparison of the team inherits prices and defaults, every
    reading of its bills the rules."""

    name = name_field(required=False)
    currency = currency_field(required=False)
    price_adjustments = ObjectField(PriceAdjustment, many=True, required=False)
    custom_offers = ObjectField(CustomOffer, many=True, required=False)
    defaults = ObjectField(required=False)
    project_rules = _rules(required=False)


class MemberSerializer(serializers.ModelSerializer[Membership]):
    username = serializers.CharField(source="user.username", read_only=True)
    email = serializers.CharField(source="user.email", read_only=True)

    class Meta:
        model = Membership
        fields = ("id", "username", "email", "role", *_DATES)


class RoleSerializer(StrictSerializer):
    role = serializers.ChoiceField(Role.choices)


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    is_open = serializers.BooleanField(read_only=True)
    secret = serializers.CharField(read_only=True, allow_null=True, default=None)
    """Given once, by the answer that creates it."""

    class Meta:
        model = Invitation
        fields = (
            "id",
            "role",
            "email",
            "is_open",
            "created_at",
            "expires_at",
            "accepted_at",
            "revoked_at",
            "secret",
        )


class NewInvitationSerializer(StrictSerializer):
    role = serializers.ChoiceField(Role.choices)
    email = serializers.EmailField(required=False, max_length=254)
    days = serializers.IntegerField(
        min_value=1, max_value=MAX_INVITATION_DAYS, default=INVITATION_DAYS
    )


class ServerQuoteSerializer(serializers.ModelSerializer[ServerQuote]):
    server = ObjectField(Server, read_only=True)

    class Meta:
        model = ServerQuote
        fields = (
            "id",
            "slug",
            "label",
            "server",
            "supplier",
            "quoted_on",
            "valid_until",
            *_DATES,
        )


class NewServerQuoteSerializer(StrictSerializer):
    fixed = ("slug",)
    slug = serializers.SlugField(max_length=60)
    label = name_field()  # type: ignore[assignment]
    server = ObjectField(Server)
    supplier = name_field(required=False, allow_blank=True)
    quoted_on = serializers.DateField(required=False, allow_null=True)
    valid_until = serializers.DateField(required=False, allow_null=True)


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    kind = serializers.SerializerMethodField()
    scopes = serializers.ListField(child=serializers.ChoiceField(Scope.choices), read_only=True)
    username = optional_field("user.username")
    is_active = serializers.BooleanField(read_only=True)
    secret = serializers.CharField(read_only=True, allow_null=True, default=None)

    class Meta:
        model = ApiToken
        fields = (
            "id",
            "name",
            "kind",
            "username",
            "role",
            "scopes",
            "hint",
            "is_active",
            "created_at",
            "expires_at",
            "last_used_at",
            "revoked_at",
            "secret",
        )

    def get_kind(self, token: ApiToken) -> str:
        return "service" if token.user_id is None else "personal"


class NewTokenSerializer(StrictSerializer):
    name = name_field()
    kind = serializers.ChoiceField(("personal", "service"), default="personal")
    role = serializers.ChoiceField(Role.choices, required=False)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(Scope.choices), min_length=1, max_length=4
    )
    days = serializers.IntegerField(min_value=1, max_value=MAX_TOKEN_DAYS, default=90)


class AuditEntrySerializer(serializers.ModelSerializer[AuditEntry]):
    before = ObjectField(read_only=True)
    after = ObjectField(read_only=True)

    class Meta:
        model = AuditEntry
        fields = (
            "id",
            "at",
            "actor",
            "action",
            "object_type",
            "object_id",
            "object_name",
            "before",
            "after",
        )


class MeSerializer(serializers.Serializer[Any]):
    """The caller: name, teams with roles, and what this session or token may do."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(("session", "token"))
    scopes = serializers.ListField(child=serializers.ChoiceField(Scope.choices))
    teams = serializers.ListField(child=serializers.DictField(child=serializers.CharField()))
