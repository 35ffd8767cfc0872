"""Who may open a page: everybody, unless the operator closed the market and plan pages."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, Concatenate, ParamSpec, TypeVar

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import user_passes_test
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from planner.backends import UNSENT
from planner.models import Access, Role, Team, access_of
from planner.models.team import TeamOwned
from planner.services.teams.access import VIEW, Need, StaleError, WrongStateError, require
from planner.web.common.choices import provider_title
from planner.web.common.fields import find_label, in_field_unit
from pricing.common.invalid_input import InvalidInput
from pricing.freshness import freshness
from pricing.market.clouds import MARKETPLACES, OTHER_CLOUDS, find_cloud
from pricing.market.snapshot import PricePart

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


open_page = user_passes_test(lambda user: not settings.LOGIN_REQUIRED or user.is_authenticated)
"""A page open to anyone who reaches the server, unless `LOGIN_REQUIRED=1`."""
_CHOSEN = "team"
_ACCESS, _TEAMS = "_planner_access", "_planner_teams"


def get_access(request: HttpRequest) -> Access:
    access: Access | None = getattr(request, _ACCESS, None)
    if access is None:
        access = access_of(request.user)
        setattr(request, _ACCESS, access)
    return access


def my_teams(request: HttpRequest) -> list[Team]:
    """The person's teams in order of name, read once a request; none for a visitor."""
    teams: list[Team] | None = getattr(request, _TEAMS, None)
    if teams is None:
        access = get_access(request)
        teams = list(Team.objects.for_access(access)) if access.roles else []
        setattr(request, _TEAMS, teams)
    return teams


def current_team(request: HttpRequest) -> Team | None:
    """The team that the person opened last, else their first; None for a visitor."""
    teams = my_teams(request)
    if not teams:
        return None
    chosen = request.session.get(_CHOSEN)
    return next((team for team in teams if team.slug == chosen), teams[0])


def remember_team(request: HttpRequest, team: Team) -> None:
    if request.session.get(_CHOSEN) != team.slug:
        request.session[_CHOSEN] = team.slug


def clear_cached_access(request: HttpRequest) -> None:
    for name in (_ACCESS, _TEAMS):
        if hasattr(request, name):
            delattr(request, name)


def sign_in_first(request: HttpRequest) -> HttpResponse:
    back = request.get_full_path() if request.method in ("GET", "HEAD") else "/"
    if getattr(request, "htmx", False):
        here = request.htmx.current_url_abs_path or back  # type: ignore[attr-defined]
        answer = HttpResponse(status=HTTPStatus.NO_CONTENT)
        answer["HX-Redirect"] = redirect_to_login(here).url
        return answer
    return redirect_to_login(back)


def back_to(request: HttpRequest, fallback: str) -> HttpResponseRedirect:
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    return HttpResponseRedirect(back if safe else fallback)


THEMES = ("light", "dark")


def _freshness() -> list[dict[str, Any]]:
    """The large clouds, the one with the oldest list prices first; most plans pay those."""
    today = timezone.now().date()
    rows = []
    for row in freshness():
        if find_cloud(row.provider).partition("") in (OTHER_CLOUDS, MARKETPLACES):
            continue
        listed = next((part for part in row.parts if part.part == PricePart.ON_DEMAND), None)
        age = listed.median_age_days if listed else None
        day = None if age is None else today - dt.timedelta(days=age)
        level = listed.level if listed else "none"
        rows.append({"row": row, "title": provider_title(row.provider), "day": day, "level": level})
    return sorted(rows, key=lambda row: row["day"] or dt.date.min)


def page(request: HttpRequest) -> dict[str, Any]:
    """Context of every template; no theme where the visitor's system decides."""
    theme = request.COOKIES.get("theme", "")
    here = reverse("plan") if request.path == reverse("start") else request.path
    pages = [("Plan", reverse("plan")), ("Market", reverse("market"))]
    if getattr(request, "user", None) and request.user.is_authenticated:
        pages.append(("Team", reverse("team")))
    pages += [("Method", reverse("method")), ("API", reverse("api:docs"))]
    return {
        "theme": theme if theme in THEMES else "",
        "navigation": [
            {"title": title, "url": url, "active": here.startswith(url)} for title, url in pages
        ],
        "freshness": _freshness,
        "sends_mail": settings.EMAIL_BACKEND != UNSENT,
    }


T = TypeVar("T")
Row = TypeVar("Row", bound=TeamOwned)
NOT_FOUND = "Not found, or you don't have access to it."

REFUSALS = (InvalidInput, WrongStateError, StaleError)


def signed_in(
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return sign_in_first(request)
        return view(request, *args, **kwargs)

    return guarded


TeamView = Callable[Concatenate[HttpRequest, Team, P], HttpResponse]


def team_page(need: Need = VIEW) -> Callable[[TeamView[P]], Callable[..., HttpResponse]]:
    """A page of the team that the address names; a foreign team is like one that is not there."""

    def decorate(view: TeamView[P]) -> Callable[..., HttpResponse]:
        @signed_in
        @wraps(view)
        def guarded(
            request: HttpRequest, /, slug: str, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponse:
            team = get_team_or_404(request, slug)
            require(get_access(request), team.pk, need)
            return view(request, team, *args, **kwargs)

        return guarded

    return decorate


def get_team_or_404(request: HttpRequest, slug: str) -> Team:
    """The person's team of this slug, which becomes their current one."""
    team: Team | None = Team.objects.for_access(get_access(request)).filter(slug=slug).first()
    if team is None:
        raise Http404(NOT_FOUND)
    remember_team(request, team)
    return team


def get_owned_or_404(
    request: HttpRequest, model: type[Row], pk: uuid.UUID, *related: str, **within: Any
) -> Row:
    """A row of the person's teams; a foreign one is like one that is not there."""
    rows = model.objects.for_access(get_access(request)).filter(pk=pk, **within)
    row: Row | None = rows.select_related(*related).first()
    if row is None:
        raise Http404(NOT_FOUND)
    return row


def run_with_messages(
    request: HttpRequest, action: Callable[[], object], success_message: str
) -> None:
    try:
        action()
    except REFUSALS as refusal:
        messages.error(request, describe_refusal(refusal))
    else:
        messages.success(request, success_message)


def form_sent(request: HttpRequest) -> str:
    """Which form of a page with several was sent, as its address says; empty where none was."""
    return request.GET.get("form", "") if request.method == "POST" else ""


def back_within(request: HttpRequest, team: Team, page: str) -> HttpResponse:
    """Back to where the form stood, else to `page`; who left the team goes to their next one."""
    clear_cached_access(request)
    if not get_access(request).has_role(team.pk, Role.VIEWER):
        return redirect("team")
    return back_to(request, page)


def describe_refusal(refusal: Exception) -> str:
    if not isinstance(refusal, InvalidInput):
        return str(refusal)
    return "; ".join(map(_describe_field, refusal.all()))


def _describe_field(refusal: InvalidInput) -> str:
    label = find_label(refusal.field)
    message = in_field_unit(refusal.field, refusal.message)
    return f"{label}: {message}" if label else message


def submit_form(form: forms.Form, action: Callable[[dict[str, Any]], T]) -> T | None:
    """What came of a valid form; None with the refusals beside their fields otherwise."""
    if not form.is_valid():
        return None
    try:
        return action(form.cleaned_data)
    except InvalidInput as refusal:
        for one in refusal.all():
            add_refusal(form, one)
    except (WrongStateError, StaleError) as refusal:
        form.add_error(None, str(refusal))
    return None


def add_refusal(form: forms.Form, refusal: InvalidInput) -> None:
    """Puts a refusal beside the field that it names, a line of a text beside the text, or above
    the form."""
    whole, _, position = refusal.field.partition(".")
    is_line = position.isdigit() and whole in form.fields
    names = (whole if is_line else refusal.field, refusal.field.rpartition(".")[2])
    field = next((name for name in names if name in form.fields), None)
    form.add_error(
        field, in_field_unit(refusal.field, refusal.message) if field else _describe_field(refusal)
    )
