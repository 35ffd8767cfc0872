"""What every view of a team shares: signing in, the one team filter, refusals in words."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse

from planner.models import Team
from planner.models.team import TeamOwned
from planner.services.teams.errors import StaleError, WrongStateError
from planner.services.teams.permissions import VIEW, Need, require
from planner.web.common.current_team import get_access, remember_team
from planner.web.common.form_fields import find_label, in_field_unit
from planner.web.common.resume import sign_in_first
from pricing.common.invalid_input import InvalidInput

P = ParamSpec("P")
T = TypeVar("T")
Row = TypeVar("Row", bound=TeamOwned)
NOT_FOUND = "Not found, or you don't have access to it."

REFUSALS = (InvalidInput, WrongStateError, StaleError)


def signed_in(
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """A page for people with an account; others sign in first and lose nothing."""

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
) -> bool:
    """Does it and says so, or says why not."""
    try:
        action()
    except REFUSALS as refusal:
        messages.error(request, describe_refusal(refusal))
        return False
    messages.success(request, success_message)
    return True


def describe_refusal(refusal: Exception) -> str:
    """A refusal in words: the label of every field with what is wrong with it."""
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
