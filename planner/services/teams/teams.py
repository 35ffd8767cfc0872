"""Teams: members, invitations, tokens, and what its comparisons inherit from a team."""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
import secrets
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, TypeVar

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify
from pydantic import AfterValidator, Field

from planner.contract.answer.comparison import ComparisonAnswer, InheritedField
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.request.constraints import CustomOffer, PriceAdjustment
from planner.contract.request.finance import Data, Finance
from planner.contract.request.on_prem import OnPrem, Server
from planner.contract.validation import Entries, RequestModel, parse
from planner.models import (
    ALL_SCOPES,
    Access,
    ApiToken,
    Invitation,
    Membership,
    Role,
    Scope,
    ServerQuote,
    Team,
)
from planner.models.team import OwnTeamQuerySet
from planner.services.teams.access import (
    EDIT,
    OWN,
    TAKE_PART,
    WrongStateError,
    edit,
    find_token,
    record,
    remove,
    require,
    require_room,
)
from planner.usage.projects import ProjectRule, read_rule
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import resolve
from pricing.market.exchange_rates import ExchangeRates

INVITATION_DAYS = 14
MAX_INVITATION_DAYS = 90


def resolve_team(access: Access, slug: str | None) -> Team:
    """The caller's team with this slug; a foreign one is refused like one that is not there."""
    teams: OwnTeamQuerySet = Team.objects.for_access(access)
    matching: list[Team] = list(teams.filter(slug=slug) if slug else teams[:2])
    if len(matching) != 1:
        named = f"{slug[:60]!r} is none of your teams" if slug else "is required"
        known = ", ".join(teams.order_by("slug").values_list("slug", flat=True)[:20]) or "none"
        raise InvalidInput("team", f"{named}; yours are {known}")
    return matching[0]


@transaction.atomic
def create_team(access: Access, name: str, slug: str = "", currency: str = "USD") -> Team:
    """A new team, its creator the owner. Only a person can found one."""
    if access.user_id is None or access.token_id is not None:
        raise PermissionDenied("Only a signed-in person can create a team, not a token.")
    owned = Membership.objects.filter(user_id=access.user_id, role=Role.OWNER)
    require_room("teams", owned)
    slug = slug or slugify(name)[:60]
    if not slug:
        raise InvalidInput("slug", f"cannot be made from {name[:60]!r}; give one")
    try:
        with transaction.atomic():
            team = Team.objects.create(name=name, slug=slug, currency=currency)
    except IntegrityError:
        raise InvalidInput("slug", f"{slug!r} is taken; choose another") from None
    member = Membership.objects.create(team=team, user_id=access.user_id, role=Role.OWNER)
    record(access, "team.created", team, after={"name": name, "slug": slug})
    record(access, "member.added", member, after={"user": access.name, "role": Role.OWNER})
    return team


def change_settings(
    access: Access, team: Team, changes: Mapping[str, Any], seen_version: int | None = None
) -> Team:
    """Name, currency, contract prices and default assumptions; each change is logged."""
    require(access, team.pk, OWN)
    known = {name: changes[name] for name in _Settings.model_fields if name in changes}
    parse(_Settings, known)  # refuses what a comparison request would refuse, all of it at once
    # What is kept in a currency would be read as the new one.
    wanted = changes.get("currency", team.currency)
    defaults = changes.get("defaults", team.defaults)
    amounts = list_team_money(team, defaults) if wanted != team.currency else []
    if amounts:
        raise InvalidInput(
            "currency",
            f"{wanted} would turn what the team keeps in {team.currency} into {wanted}: "
            f"{', '.join(amounts[:10])}; remove that first, then enter it again in {wanted}",
        )
    return edit(access, team, changes, seen_version=seen_version, action="team.settings_changed")


# Members ----------------------------------------------------------------------------------


@transaction.atomic
def change_role(access: Access, member: Membership, role: Role) -> Membership:
    """Who is owner no more keeps no way back: the links that they made end too."""
    require(access, member.team_id, OWN)
    if role != Role.OWNER:
        _require_other_owner(member)
        _end_invitations_of(access, member)
    return edit(access, member, {"role": role}, action="member.role_changed")


@transaction.atomic
def remove_member(access: Access, member: Membership) -> None:
    """An owner removes anyone; anyone removes themselves. Their tokens end with it, and the
    invitations that they made."""
    if member.user_id != access.user_id or access.token_id is not None:
        require(access, member.team_id, OWN)
    _require_other_owner(member)
    own = ApiToken.objects.filter(team_id=member.team_id, user_id=member.user_id)
    for token in own.filter(revoked_at=None):
        end_token(access, token)
    _end_invitations_of(access, member)
    record(access, "member.removed", member, before={"user": str(member.user), "role": member.role})
    member.delete()


def _require_other_owner(member: Membership) -> None:
    owners = Membership.objects.select_for_update().filter(team=member.team_id, role=Role.OWNER)
    if [owner.pk for owner in owners] == [member.pk]:
        raise WrongStateError("This is the team's only owner; make another member owner first.")


# Invitations ------------------------------------------------------------------------------


@transaction.atomic
def invite(
    access: Access, team: Team, role: Role, email: str = "", days: int = INVITATION_DAYS
) -> tuple[Invitation, str]:
    """An invitation and the secret of its link, which is shown only once."""
    require(access, team.pk, OWN)
    require_room("invitations", Invitation.objects.open().filter(team=team))
    secret = new_secret(INVITATION_PREFIX)
    invitation = Invitation.objects.create(
        team=team,
        role=role,
        email=email,
        digest=hash_secret(secret),
        invited_by_id=access.user_id,
        expires_at=timezone.now() + dt.timedelta(days=days),
    )
    record(access, "invitation.created", invitation, after={"role": role, "email": email})
    return invitation, secret


@transaction.atomic
def revoke_invitation(access: Access, invitation: Invitation) -> None:
    """Its link works no longer, and nothing of it stays but what the audit log says."""
    require(access, invitation.team_id, OWN)
    if not invitation.is_open:
        raise WrongStateError("The invitation is no longer valid.")
    _end_invitation(access, invitation)


def _end_invitations_of(access: Access, member: Membership) -> None:
    """Those that `member` made and nobody took up: whoever made a link knows it."""
    made = Invitation.objects.open().filter(team=member.team_id, invited_by=member.user_id)
    for invitation in made:
        _end_invitation(access, invitation)


def _end_invitation(access: Access, invitation: Invitation) -> None:
    before = {"role": invitation.role, "email": invitation.email}
    record(access, "invitation.revoked", invitation, before=before)
    invitation.delete()


@transaction.atomic
def accept(access: Access, secret: str) -> Membership:
    """Makes the caller a member; a link works once, for one person, until it expires."""
    if access.user_id is None or access.token_id is not None:
        raise PermissionDenied("Only a signed-in person can accept an invitation.")
    invitation = Invitation.objects.select_for_update().filter(digest=hash_secret(secret)).first()
    if invitation is None or not invitation.is_open:
        raise InvalidInput("secret", "is not a valid invitation; ask for a new link")
    require_room("members", Membership.objects.filter(team=invitation.team_id))
    user = get_user_model().objects.get(pk=access.user_id)
    member, is_new = Membership.objects.get_or_create(
        team_id=invitation.team_id, user=user, defaults={"role": invitation.role}
    )
    if not is_new:
        raise WrongStateError("You are already a member of this team.")
    invitation.accepted_at = timezone.now()
    invitation.save()
    record(access, "member.added", member, after={"user": access.name, "role": member.role})
    return member


# Server quotes ------------------------------------------------------------------------


@transaction.atomic
def add_quote(access: Access, team: Team, values: Mapping[str, Any]) -> ServerQuote:
    """A supplier's quote, checked as a server of the comparison request would be."""
    require(access, team.pk, EDIT)
    require_room("server quotes", ServerQuote.objects.filter(team=team))
    parse(Server, values["server"], "server")
    try:
        with transaction.atomic():
            quote = ServerQuote.objects.create(team=team, **values)
    except IntegrityError:
        raise InvalidInput("slug", f"{values['slug']!r} is taken in this team") from None
    record(access, "server_quote.created", quote, after=values)
    return quote


def change_quote(
    access: Access, quote: ServerQuote, changes: Mapping[str, Any], seen_version: int | None = None
) -> ServerQuote:
    require(access, quote.team_id, EDIT)
    if "server" in changes:
        parse(Server, changes["server"], "server")
    return edit(access, quote, changes, seen_version=seen_version)


def remove_quote(access: Access, quote: ServerQuote) -> None:
    remove(access, quote, "server_quote.removed", {"server": quote.server})


logger = logging.getLogger(__name__)
NAME = "company sign-in"
"""Who the audit log says it was."""


def read_groups(claims: Mapping[str, Any]) -> list[str]:
    """The groups that an issuer's answer names, in its userinfo or its id token.

    >>> read_groups({"userinfo": {"groups": ["ml"]}}), read_groups({"groups": "ml"})
    (['ml'], ['ml'])
    """
    for part in (claims.get("userinfo"), claims.get("id_token"), claims):
        value = part.get("groups") if isinstance(part, Mapping) else None
        if isinstance(value, str):
            return [value]
        if isinstance(value, list):
            return [one for one in value if isinstance(one, str)]
    return []


@transaction.atomic
def apply_groups(user: Any, groups: Collection[str]) -> None:
    """Gives a person the roles of their groups, and takes those that no group gives."""
    granted = [rule for rule in settings.OIDC_GROUPS if rule.group in groups]
    if any(rule.is_operator for rule in settings.OIDC_GROUPS):
        is_operator = any(rule.is_operator for rule in granted)
        if user.is_staff != is_operator:
            user.is_staff = is_operator
            user.save(update_fields=["is_staff"])
            logger.warning("%s is %s operator now.", user, "an" if is_operator else "no")
    for slug in sorted({rule.team for rule in settings.OIDC_GROUPS if not rule.is_operator}):
        team = Team.objects.filter(slug=slug).first()
        if team is None:
            logger.warning("OIDC_GROUPS names the team %r, which is not there.", slug)
            continue
        roles = [Role(rule.role) for rule in granted if rule.team == slug]
        _set_role(user, team, max(roles, key=lambda role: role.rank, default=None))


def _set_role(user: Any, team: Team, role: Role | None) -> None:
    access = Access(name=NAME, roles={team.pk: Role.OWNER}, scopes=ALL_SCOPES)
    member = Membership.objects.filter(team=team, user=user).first()
    try:
        if member is None and role is not None:
            member = Membership.objects.create(team=team, user=user, role=role)
            record(access, "member.added", member, after={"user": str(user), "role": role})
        elif member is not None and role is None:
            remove_member(access, member)
        elif member is not None and role is not None and member.role != role:
            change_role(access, member, role)
    except WrongStateError as refusal:
        logger.warning("%s keeps the role in %s: %s", user, team, refusal)


# Tokens -----------------------------------------------------------------------------------

MAX_TOKEN_DAYS = 366
_USE_WRITTEN_EVERY = dt.timedelta(minutes=5)


@transaction.atomic
def create_token(
    access: Access,
    team: Team,
    *,
    name: str,
    scopes: Collection[Scope],
    days: int,
    is_service: bool = False,
    role: Role | None = None,
) -> tuple[ApiToken, str]:
    """A token and its secret, shown only once.

    Nobody gives a role above their own. A token makes no other token.
    """
    require(access, team.pk, OWN if is_service else TAKE_PART)
    if access.user_id is None or access.token_id is not None:
        raise PermissionDenied("Only a signed-in person can create a token.")
    own_role = access.roles[team.pk]
    role = role or own_role
    if role.rank > own_role.rank:
        raise InvalidInput("role", f"{role.value!r} is above your own, {own_role.value!r}")
    if Scope.REFRESH in scopes and not access.is_operator:
        raise InvalidInput("scopes", "only operators of this server can grant refresh")
    working = ApiToken.objects.filter(team=team, revoked_at=None, expires_at__gt=timezone.now())
    require_room("tokens", working)
    secret = new_secret(TOKEN_PREFIX)
    token = ApiToken.objects.create(
        team=team,
        name=name,
        user_id=None if is_service else access.user_id,
        role=role,
        scopes=sorted(scopes),
        digest=hash_secret(secret),
        hint=secret[:8],
        created_by_id=access.user_id,
        expires_at=timezone.now() + dt.timedelta(days=days),
    )
    granted = {"scopes": token.scopes, "role": role, "service": is_service}
    record(access, "token.created", token, after=granted)
    return token, secret


@transaction.atomic
def revoke_token(access: Access, token: ApiToken) -> None:
    """Owners revoke any token of the team, people their own."""
    if token.user_id is None or token.user_id != access.user_id:
        require(access, token.team_id, OWN)
    if token.revoked_at is None:
        end_token(access, token)


def count_service_tokens(team: Team, maker: Any) -> int:
    """Tokens of the team itself that this person made, and so knows, and that still work."""
    working = ApiToken.objects.filter(revoked_at=None, expires_at__gt=timezone.now())
    return working.filter(team=team, user=None, created_by=maker).count()


def end_token(access: Access, token: ApiToken) -> None:
    """Revokes a token, whoever may ask for it has been settled."""
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    record(access, "token.revoked", token)


def access_for_token(secret: str) -> Access | None:
    """The rights of a bearer token; None for an unknown, expired or revoked one."""
    working = find_token(digest=hash_secret(secret))
    if working is None:
        return None
    token, role = working
    name = f"service token {token.name}"
    if token.user is not None:
        name = f"{token.user.get_username()} (token {token.name})"
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > _USE_WRITTEN_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return Access(
        user_id=token.user_id,
        name=name,
        roles={token.team_id: role},
        scopes=frozenset(token.scopes),
        is_operator=Scope.REFRESH in token.scopes and (not token.user or token.user.is_staff),
        token_id=token.pk,
    )


TOKEN_PREFIX = "gcp_"  # noqa: S105
INVITATION_PREFIX = "inv_"


def new_secret(prefix: str) -> str:
    """256 random bits behind a prefix that leak scanners can find."""
    return prefix + secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    """SHA-256: enough for 256 random bits, which no dictionary holds."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


# What comparisons inherit -----------------------------------------------------------------

_MONEY: Mapping[str, tuple[str, ...]] = {
    "on_prem": ("electricity_per_kwh", "colocation_per_kw_month", "staff_cost_per_year"),
    "server": ("unit_price", "running_cost_per_hour"),
}
"""Defaults and parts of a quote that are money, in the team's currency."""
MAX_ENTRIES = 200

Request = dict[str, Any]


class _Offer(CustomOffer):
    def _refusals(self) -> Iterator[InvalidInput]:
        yield from super()._refusals()
        try:
            resolve(self.accelerator)
        except InvalidInput as refusal:
            yield InvalidInput("accelerator", refusal.message)


class _OnPrem(OnPrem):
    def _refusals(self) -> Iterator[InvalidInput]:
        yield from super()._refusals()
        for field in {"servers", "already_owned"} & self.model_fields_set:
            yield InvalidInput(field, "is no default; keep server quotes instead")


class _Defaults(RequestModel):
    finance: Finance | None = None
    on_prem: _OnPrem | None = None
    data: Data | None = None


class _Settings(RequestModel):
    price_adjustments: Entries[PriceAdjustment] = Field((), max_length=MAX_ENTRIES)
    custom_offers: Entries[_Offer] = Field((), max_length=MAX_ENTRIES)
    defaults: _Defaults = _Defaults()
    project_rules: Entries[Annotated[str, AfterValidator(lambda text: read_rule(text, ""))]] = (
        Field((), max_length=MAX_ENTRIES)
    )


def rules_of(team: Team | None) -> tuple[ProjectRule, ...]:
    """The team's rules of which rows of a bill or log belong to which project."""
    return tuple(read_rule(text) for text in team.project_rules) if team else ()


def inherit(
    base_request: Mapping[str, Any], team: Team, rates: ExchangeRates | None = None, *without: str
) -> tuple[Request, dict[str, str]]:
    """`base_request` with what the team adds, and where each added field came from.

    The team's money is in its own currency; a request in another one gets it converted at
    `rates`, or at the rates that it gives itself. `without` are sections that take
    no defaults.
    """
    request: Request = dict(base_request)
    inherited: dict[str, str] = {}
    if base_request.get("inherits") is False:
        return request, inherited
    if "currency" not in request and team.currency != "USD":
        request["currency"] = team.currency
        inherited["currency"] = f"currency of the team {team.name}"
    factor, converted = _conversion(request, team, rates or ExchangeRates())
    for name in ("price_adjustments", "custom_offers"):
        own = request.get(name) or []
        if not isinstance(own, list):
            continue
        labels = {one.get("label") for one in own if isinstance(one, Mapping)} - {None}
        if added := [one for one in getattr(team, name) if one.get("label") not in labels]:
            request[name] = [*added, *own]
            inherited[name] = f"{len(added)} of the team {team.name}"
    for section, values in team.defaults.items():
        own = request.get(section) or {}
        if section in without or not isinstance(own, Mapping):
            continue
        scaled = _scale(section, values, factor)
        for name in values:
            if own.get(name) is None:
                request[section] = {**(request.get(section) or {}), name: scaled[name]}
                note = converted if name in _MONEY.get(section, ()) else ""
                inherited[f"{section}.{name}"] = f"default of the team {team.name}{note}"
    _add_quotes(request, team, inherited, factor, converted)
    return request, inherited


def _conversion(request: Request, team: Team, rates: ExchangeRates) -> tuple[float, str]:
    currency = request.get("currency") or "USD"
    if not isinstance(currency, str) or currency == team.currency:
        return 1.0, ""
    if not list_team_money(team, team.defaults):
        return 1.0, ""
    stated_rates = request.get("exchange_rates")

    def units_per_usd(name: str) -> float:
        rate = stated_rates.get(name) if isinstance(stated_rates, Mapping) else None
        rate = rate.get("units_per_usd") if isinstance(rate, Mapping) else rate
        if isinstance(rate, int | float) and rate > 0:
            return float(rate)
        return float(rates.find(name).units_per_usd)  # The core refuses a rate of no sense.

    factor = units_per_usd(currency) / units_per_usd(team.currency)
    return factor, f", converted from {team.currency} at {factor:.6g} {currency}"


def _scale(section: str, values: Mapping[str, Any], factor: float) -> Request:
    money = _MONEY.get(section, ()) if factor != 1 else ()
    return {
        name: value * factor if name in money and value is not None else value
        for name, value in values.items()
    }


def _add_quotes(
    request: Request, team: Team, inherited: dict[str, str], factor: float, converted: str
) -> None:
    """Servers named by a quote's slug become that quote; without any named, valid quotes are
    what may be bought."""
    quotes = {quote.slug: quote for quote in ServerQuote.objects.filter(team=team)}
    on_prem = request.get("on_prem") or {}
    if not quotes or not isinstance(on_prem, Mapping):
        return
    servers = on_prem.get("servers")
    if servers is None:
        today = timezone.now().date()
        valid = (q.slug for q in quotes.values() if q.valid_until is None or q.valid_until >= today)
        servers = [{"server": slug} for slug in valid]
    if not isinstance(servers, list):
        return
    used: list[ServerQuote] = []
    named: list[Any] = []
    for server in servers:
        slug = server.get("server") if isinstance(server, Mapping) else None
        quote = quotes.get(slug) if isinstance(slug, str) else None
        if quote is not None:
            used.append(quote)
            own = {name: value for name, value in server.items() if name != "server"}
            server = {**_scale("server", quote.server, factor), **own}
            if server["server"] == "custom":
                server.setdefault("label", quote.label)
        named.append(server)
    if used:
        request["on_prem"] = {**on_prem, "servers": named}
        labels = " and ".join(f"“{quote.label}”" for quote in used)
        noun = "quote" if len(used) == 1 else "quotes"
        note = converted if any("unit_price" in quote.server for quote in used) else ""
        inherited["on_prem.servers"] = f"{noun} {labels} of the team {team.name}{note}"


AnyAnswer = TypeVar("AnyAnswer", ComparisonAnswer, PortfolioAnswer)


def with_sources(answer: AnyAnswer, inherited: Mapping[str, str]) -> AnyAnswer:
    """Marks the assumptions that come from the team, not from the request."""
    assumptions = tuple(
        row.model_copy(update={"given": False, "source": inherited[row.field]})
        if row.field in inherited
        else row
        for row in answer.assumptions
    )
    rows = tuple(InheritedField(field=name, source=text) for name, text in inherited.items())
    return answer.model_copy(update={"assumptions": assumptions, "inherited": rows})


def list_team_money(team: Team, defaults: Mapping[str, Any]) -> list[str]:
    """What the team keeps in its currency, by name: its quotes, and money among `defaults`."""
    slugs = ServerQuote.objects.filter(team=team).order_by("slug").values_list("slug", flat=True)
    quotes = [f"quote {slug}" for slug in slugs]
    return quotes + [
        f"{section}.{name}"
        for section, values in defaults.items()
        for name in values
        if name in _MONEY.get(section, ())
    ]
