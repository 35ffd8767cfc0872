"""Teams, members, invitations, tokens, own server quotes, the audit log."""

from __future__ import annotations

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from planner.api import bodies, shapes
from planner.api.base import (
    ChangeMixin,
    CreateMixin,
    DeleteMixin,
    Filter,
    InTeam,
    ListMixin,
    ReadMixin,
    Values,
)
from planner.api.callers import SignedIn, access_of_request
from planner.models import (
    Access,
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

    @extend_schema(responses=shapes.Me)
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
    new = bodies.NewTeam
    changes = bodies.TeamChanges
    needs = {"partial_update": OWN}
    change = staticmethod(teams.change_settings)

    def create_row(self, values: Values) -> tuple[Team, Values]:
        team = teams.create_team(self.access, **values)
        self.access.roles[team.pk] = Role.OWNER  # type: ignore[index]
        return team, {}


class MembersView(InTeam, ReadMixin, ChangeMixin, DeleteMixin):
    """The team's members and their roles."""

    model = Membership
    related = ("user",)
    serializer_class = shapes.MemberSerializer
    changes = bodies.RoleChange
    needs = {"partial_update": OWN, "destroy": TAKE_PART}
    delete_row = staticmethod(teams.remove_member)

    @staticmethod
    def change(access: Access, row: Membership, changes: Values, seen: int | None) -> Membership:
        return teams.change_role(access, row, changes["role"], seen)


class InvitationsView(InTeam, ListMixin, CreateMixin, DeleteMixin):
    """Links that make whoever opens them a member, once."""

    model = Invitation
    related = ("invited_by",)
    serializer_class = shapes.InvitationSerializer
    new = bodies.NewInvitation
    secret_fields = ("secret",)
    needs = {"list": OWN, "retrieve": OWN, "create": OWN, "destroy": OWN}
    delete_row = staticmethod(teams.revoke_invitation)

    def within(self) -> Values:
        return {**super().within(), "revoked_at": None}

    def create_row(self, values: Values) -> tuple[Invitation, Values]:
        role = values.pop("role")

        def link_of(secret: str) -> str:
            return self.request.build_absolute_uri(reverse("join", args=[secret]))

        row, secret = invite_by_mail(self.access, self.team, role, **values, link_of=link_of)
        return row, {"secret": secret}


class TokensView(InTeam, ListMixin, CreateMixin, DeleteMixin):
    """API tokens: owners see all of the team's, others their own; deleting one revokes it."""

    model = ApiToken
    related = ("user",)
    serializer_class = shapes.TokenSerializer
    new = bodies.NewToken
    secret_fields = ("secret",)
    needs = {"create": TAKE_PART, "destroy": TAKE_PART}
    delete_row = staticmethod(revoke)

    def within(self) -> Values:
        if self.access.has_role(self.team.pk, Role.OWNER):
            return super().within()
        return {**super().within(), "user_id": self.access.user_id or 0}

    def create_row(self, values: Values) -> tuple[ApiToken, Values]:
        is_service = values.pop("kind", "") == "service"
        row, secret = tokens.create_token(
            self.access,
            self.team,
            is_service=is_service,
            **{"days": bodies.TOKEN_DAYS, **values},
        )
        return row, {"secret": secret}


class ServerQuotesView(InTeam, ReadMixin, CreateMixin, ChangeMixin, DeleteMixin):
    """The team's own server quotes, which its comparisons inherit."""

    model = ServerQuote
    page_order = ("slug", "id")
    serializer_class = shapes.ServerQuoteSerializer
    new = bodies.NewServerQuote
    changes = bodies.ServerQuoteChanges
    change = staticmethod(teams.change_quote)
    delete_row = staticmethod(teams.remove_quote)

    def create_row(self, values: Values) -> tuple[ServerQuote, Values]:
        return teams.add_quote(self.access, self.team, values), {}


class AuditLogView(InTeam, ListMixin):
    """Who changed what from what to what; nothing here is ever changed or removed."""

    model = AuditEntry
    page_order = ("-at", "id")
    serializer_class = shapes.AuditEntrySerializer
    filters = {
        "action": Filter("action"),
        "object_type": Filter("object_type"),
        "object_id": Filter("object_id"),
    }
