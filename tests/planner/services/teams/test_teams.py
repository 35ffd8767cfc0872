"""Teams: founding, inviting, roles, leaving, settings, the audit log."""

from importlib import import_module

import pytest
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, connection
from django.utils import timezone

from planner.models import (
    Access,
    ApiToken,
    AuditEntry,
    Invitation,
    Membership,
    Role,
    Scope,
    Team,
    access_of,
)
from planner.services.housekeeping.retention import delete_account
from planner.services.teams import teams
from planner.services.teams.access import StaleError, WrongStateError
from planner.services.teams.teams import access_for_token
from pricing.common.invalid_input import InvalidInput
from tests.planner.workspace import Workspace, person

pytestmark = pytest.mark.django_db
append_only = import_module("planner.migrations.0001_squashed")


def test_whoever_founds_a_team_owns_it() -> None:
    ada = person("ada")
    team = teams.create_team(access_of(ada), "Vision Lab")
    assert team.slug == "vision-lab"
    assert Membership.objects.get(team=team).role == Role.OWNER


@pytest.mark.parametrize(("name", "slug"), [("Alpha", ""), ("Other", "alpha"), ("!!!", "")])
def test_a_slug_is_given_once(work: Workspace, name: str, slug: str) -> None:
    with pytest.raises(InvalidInput, match="slug"):
        teams.create_team(work.access(), name, slug)


def test_an_invitation_makes_a_member_once(work: Workspace) -> None:
    _, secret = teams.invite(work.access(), work.team, Role.EDITOR)
    assert secret not in str(Invitation.objects.values())
    member = teams.accept(access_of(person("eve")), secret)
    assert (member.team, member.role) == (work.team, Role.EDITOR)
    with pytest.raises(InvalidInput, match="not a valid invitation"):
        teams.accept(access_of(person("mallory")), secret)


@pytest.mark.parametrize("how", ["expired", "revoked", "wrong"])
def test_a_closed_invitation_opens_nothing(work: Workspace, how: str) -> None:
    invitation, secret = teams.invite(work.access(), work.team, Role.EDITOR)
    if how == "expired":
        Invitation.objects.update(expires_at=timezone.now())
    if how == "revoked":
        teams.revoke_invitation(work.access(), invitation)
    with pytest.raises(InvalidInput, match="not a valid invitation"):
        teams.accept(access_of(person("eve")), "inv_other" if how == "wrong" else secret)


def test_the_last_owner_stays(work: Workspace) -> None:
    owner = Membership.objects.get(team=work.team, role=Role.OWNER)
    with pytest.raises(WrongStateError, match="only owner"):
        teams.change_role(work.access(), owner, Role.VIEWER)
    with pytest.raises(WrongStateError, match="only owner"):
        teams.remove_member(work.access(), owner)


def test_who_leaves_loses_their_tokens(work: Workspace) -> None:
    access = work.access(Role.EDITOR)
    _, secret = teams.create_token(access, work.team, name="t", scopes=[Scope.READ], days=9)
    assert access_for_token(secret) is not None
    teams.remove_member(access, Membership.objects.get(team=work.team, role=Role.EDITOR))
    assert access_for_token(secret) is None
    assert ApiToken.objects.get().revoked_at


def test_settings_are_what_a_comparison_would_take(work: Workspace) -> None:
    change = {
        "price_adjustments": [{"provider": "aws", "multiplier": 0.8}],
        "defaults": {"finance": {"discount_rate_per_year": 0.07}, "on_prem": {"pue": 1.2}},
    }
    team = teams.change_settings(work.access(), work.team, change)
    assert team.defaults == change["defaults"]
    entry = AuditEntry.objects.get(action="team.settings_changed")
    assert entry.before == {"price_adjustments": [], "defaults": {}}
    assert entry.after == change
    assert entry.actor == "owner-of-alpha"


OFFER = {"label": "x", "accelerator": "H100", "accelerator_count": 8,
         "purchase_option": "on_demand", "usd_per_hour": 20}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"price_adjustments": [{"multiplier": 0}]}, "price_adjustments.0.multiplier"),
        ({"price_adjustments": [{"discount": 1}]}, "price_adjustments.0"),
        ({"price_adjustments": {}}, "price_adjustments"),
        ({"custom_offers": [{**OFFER, "accelerator": "H1000"}]}, "custom_offers.0.accelerator"),
        ({"custom_offers": [OFFER, {**OFFER, "usd_per_hour": -1}]}, "custom_offers.1.usd_per_hour"),
        ({"custom_offers": [OFFER] * 201}, "custom_offers"),
        ({"project_rules": ["cost center"]}, "project_rules.0"),
        ({"defaults": {"finance": {"tax_rate": 2}}}, "defaults.finance.tax_rate"),
        ({"defaults": {"weather": {}}}, "defaults.weather"),
        ({"defaults": {"on_prem": {"servers": []}}}, "defaults.on_prem.servers"),
        ({"defaults": {"on_prem": 3}}, "defaults.on_prem"),
        ({"defaults": []}, "defaults"),
    ],
)
def test_settings_that_no_comparison_takes_are_refused(
    work: Workspace, change: dict, field: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        teams.change_settings(work.access(), work.team, change)
    assert refusal.value.field.startswith(field)


def test_a_stale_change_is_refused_and_writes_nothing(work: Workspace) -> None:
    teams.change_settings(work.access(), work.team, {"name": "A"}, seen_version=1)
    with pytest.raises(StaleError):
        teams.change_settings(work.access(), work.team, {"name": "B"}, seen_version=1)
    assert Team.objects.get(slug="alpha").name == "A"
    assert AuditEntry.objects.filter(action="team.settings_changed").count() == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {} SET actor = 'nobody'",
        "DELETE FROM {}",
        "INSERT INTO {0} SELECT * FROM {0} WHERE true ON CONFLICT (id) DO UPDATE SET actor = 'x'",
        "INSERT OR REPLACE INTO {0} SELECT * FROM {0}",
        "TRUNCATE {}",
    ],
)
def test_the_database_refuses_to_change_the_audit_log(work: Workspace, statement: str) -> None:
    teams.create_team(access_of(person("ada")), "Vision Lab")
    assert AuditEntry.objects.exists()
    table = AuditEntry._meta.db_table
    if "OR REPLACE" in statement and connection.vendor != "sqlite":
        pytest.skip("SQLite alone replaces a row so")
    if "TRUNCATE" in statement and connection.vendor == "sqlite":
        pytest.skip("SQLite has no TRUNCATE")
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(append_only.SQLITE[1])
        else:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(append_only.POSTGRESQL[2])
        with pytest.raises(DatabaseError, match="append-only"):
            cursor.execute(statement.format(table))


def test_only_the_hash_of_a_token_is_kept(work: Workspace) -> None:
    secret = work.token(Scope.READ)
    assert secret not in str(ApiToken.objects.values())
    access = access_for_token(secret)
    assert access is not None
    assert access.scopes == {Scope.READ}
    assert list(access.roles) == [work.team.pk]


@pytest.mark.parametrize("how", ["expired", "revoked"])
def test_a_token_ends(work: Workspace, how: str) -> None:
    secret = work.token(Scope.READ)
    now = timezone.now()
    ApiToken.objects.update(**({"expires_at": now} if how == "expired" else {"revoked_at": now}))
    assert access_for_token(secret) is None


def test_a_personal_token_never_exceeds_its_user(work: Workspace) -> None:
    secret = work.token(Scope.READ, Scope.WRITE, service=False)
    Membership.objects.filter(team=work.team, role=Role.OWNER).update(role=Role.VIEWER)
    access = access_for_token(secret)
    assert access is not None
    assert set(access.roles.values()) == {Role.VIEWER}
    work.users[Role.OWNER].is_active = False
    work.users[Role.OWNER].save()
    assert access_for_token(secret) is None


def holder(work: Workspace, *scopes: Scope) -> Access:
    access = access_for_token(work.token(*scopes, service=False))
    assert access is not None
    return access


def test_nobody_gives_more_than_they_have(work: Workspace) -> None:
    def give(access: Access, **values: object) -> None:
        plain = {"name": "t", "scopes": [Scope.READ], "days": 30}
        teams.create_token(access, work.team, **{**plain, **values})

    with pytest.raises(InvalidInput, match="role"):
        give(work.access(Role.EDITOR), role=Role.OWNER)
    with pytest.raises(PermissionDenied, match="signed-in"):
        give(holder(work, Scope.READ, Scope.WRITE))
    with pytest.raises(InvalidInput, match="operators"):
        give(work.access(), scopes=[Scope.REFRESH])
    with pytest.raises(PermissionDenied):
        give(work.access(Role.EDITOR), is_service=True)


@pytest.mark.parametrize("how", ["removed", "demoted", "deactivated", "deleted"])
def test_who_is_owner_no_more_has_no_way_back(work: Workspace, how: str) -> None:
    """A link that an owner made for themselves before they had to go."""
    other = person("other-owner")
    member = Membership.objects.create(team=work.team, user=other, role=Role.OWNER)
    _, secret = teams.invite(access_of(other), work.team, Role.OWNER)
    _, secret_of_another = teams.invite(work.access(), work.team, Role.VIEWER)
    if how == "removed":
        teams.remove_member(work.access(), member)
    elif how == "demoted":
        teams.change_role(work.access(), member, Role.APPROVER)
    elif how == "deleted":
        delete_account(other)
    else:
        other.is_active = False
        other.save()
    with pytest.raises(InvalidInput, match="not a valid invitation"):
        teams.accept(access_of(person("eve")), secret)
    assert not Invitation.objects.open().filter(role=Role.OWNER).exists()
    assert teams.accept(access_of(person("bob")), secret_of_another).role == Role.VIEWER
    ended = AuditEntry.objects.filter(action="invitation.revoked").count()
    assert ended == (0 if how == "deactivated" else 1)
