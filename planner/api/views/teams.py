"""Teams, members, invitations, tokens, own server quotes, the audit log."""

from __future__ import annotations

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api.base import (
    ChangeMixin,
    CreateMixin,
    DeleteMixin,
    InTeam,
    ListMixin,
    ReadMixin,
    Values,
    by_slug,
)
from planner.api.callers import SignedIn, access_of_request
from planner.api.serializers import teams as shapes
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
from planner.services.invitations import invite_by_mail
from planner.services.jobs.jobs import revoke
from planner.services.teams import teams, tokens
from planner.services.teams.access import OWN, TAKE_PART
from pricing.api.pages import PlainView
from pricing.api.rest import Query


class MeView(PlainView):
    """Who the caller is and what they may do."""

    permission_classes = (SignedIn,)

    @extend_schema(responses=shapes.MeSerializer)
    def get(self, request: Request) -> Response:
        Query(request)
        access = access_of_request(request)
        names = Team.objects.for_access(access).values_list("pk", "slug")
        return Response(
            {
                "name": access.name,
                "kind": "token" if access.token_id else "session",
                "scopes": sorted(
                    scope for scope in access.scopes if scope != Scope.REFRESH or access.is_operator
                ),
                "teams": [{"team": s, "role": access.roles[pk].value} for pk, s in names],
            }
        )


class TeamsView(ReadMixin, CreateMixin, ChangeMixin):
    """The caller's teams with their settings: contract prices and default assumptions."""

    model = Team
    lookup_field = "slug"
    lookup_url_kwarg = "slug"
    lookup_value_converter = "slug"
    page_order = ("name", "pk")
    serializer_class = shapes.TeamSerializer
    write_serializer = shapes.NewTeamSerializer
    change_serializer = shapes.TeamChangesSerializer
    needs = {"partial_update": OWN}
    change = staticmethod(teams.change_settings)

    def create_row(self) -> tuple[Team, Values]:
        team = teams.create_team(self.access, **self.read_body(shapes.NewTeamSerializer))
        self.access.roles[team.pk] = Role.OWNER  # type: ignore[index]
        return team, {}


class MembersView(InTeam, ReadMixin, ChangeMixin, DeleteMixin):
    """The team's members and their roles."""

    model = Membership
    related = ("user",)
    serializer_class = shapes.MemberSerializer
    change_serializer = shapes.RoleSerializer
    needs = {"partial_update": OWN, "destroy": TAKE_PART}
    delete_row = staticmethod(teams.remove_member)

    def change_row(self, row: Membership, seen: int | None) -> Membership:
        role = Role(self.read_body(shapes.RoleSerializer)["role"])
        return teams.change_role(self.access, row, role, seen)


class InvitationsView(InTeam, ListMixin, CreateMixin, DeleteMixin):
    """Links that make whoever opens them a member, once."""

    model = Invitation
    related = ("invited_by",)
    serializer_class = shapes.InvitationSerializer
    write_serializer = shapes.NewInvitationSerializer
    secret_fields = ("secret",)
    needs = {"list": OWN, "retrieve": OWN, "create": OWN, "destroy": OWN}
    delete_row = staticmethod(teams.revoke_invitation)

    def within(self) -> Values:
        return {**super().within(), "revoked_at": None}

    def create_row(self) -> tuple[Invitation, Values]:
        values = self.read_body(shapes.NewInvitationSerializer)
        role = Role(values.pop("role"))

        def link_of(secret: str) -> str:
            return self.request.build_absolute_uri(reverse("join", args=[secret]))

        row, secret = invite_by_mail(self.access, self.team, role, **values, link_of=link_of)
        return row, {"secret": secret}


class TokensView(InTeam, ListMixin, CreateMixin, DeleteMixin):
    """API tokens: owners see all of the team's, others their own; deleting one revokes it."""

    model = ApiToken
    related = ("user",)
    serializer_class = shapes.TokenSerializer
    write_serializer = shapes.NewTokenSerializer
    secret_fields = ("secret",)
    needs = {"create": TAKE_PART, "destroy": TAKE_PART}
    delete_row = staticmethod(revoke)

    def within(self) -> Values:
        if self.access.has_role(self.team.pk, Role.OWNER):
            return super().within()
        return {**super().within(), "user_id": self.access.user_id or 0}

    def create_row(self) -> tuple[ApiToken, Values]:
        values = self.read_body(shapes.NewTokenSerializer)
        role = values.get("role")
        row, secret = tokens.create_token(
            self.access,
            self.team,
            name=values["name"],
            scopes=[Scope(scope) for scope in values["scopes"]],
            days=values["days"],
            is_service=values["kind"] == "service",
            role=Role(role) if role else None,
        )
        return row, {"secret": secret}


class ServerQuotesView(InTeam, ReadMixin, CreateMixin, ChangeMixin, DeleteMixin):
    """The team's own server quotes, which its comparisons inherit."""

    model = ServerQuote
    page_order = ("slug", "id")
    serializer_class = shapes.ServerQuoteSerializer
    write_serializer = shapes.NewServerQuoteSerializer
    change = staticmethod(teams.change_quote)
    delete_row = staticmethod(teams.remove_quote)

    def create_row(self) -> tuple[ServerQuote, Values]:
        values = self.read_body(shapes.NewServerQuoteSerializer)
        return teams.add_quote(self.access, self.team, values), {}


class AuditLogView(InTeam, ListMixin):
    """Who changed what from what to what; nothing here is ever changed or removed."""

    model = AuditEntry
    page_order = ("-at", "id")
    serializer_class = shapes.AuditEntrySerializer
    filters = {
        "action": by_slug("action"),
        "object_type": by_slug("object_type"),
        "object_id": by_slug("object_id"),
    }
