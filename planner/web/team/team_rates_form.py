"""The team's prices and default assumptions in the boxes of the plan form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import QueryDict

from planner.models import Team
from planner.web.common import query_codec
from planner.web.common.form_fields import FIELD_TYPES
from planner.web.plan.forms import PlanForm, as_query
from planner.web.team.plan_links import encode_in_units
from pricing.common.invalid_input import InvalidInput

SECTIONS = ("on_prem", "finance", "data")
LISTS = ("price_adjustments", "custom_offers")
_PREFIX = "defaults."


def team_query(team: Team) -> QueryDict:
    """What the team has set, as the form holds it."""
    values = {
        **team.defaults,
        "price_adjustments": team.price_adjustments,
        "custom_offers": team.custom_offers,
    }
    return as_query(encode_in_units(values))


def read_changes(query: QueryDict) -> dict[str, Any]:
    """The settings that the form asks for; what was emptied is gone."""
    others = [name for name in query if name.partition(".")[0] not in _OURS]
    settings = query_codec.read(query_codec.drop_empty(query, *others), FIELD_TYPES)
    lists = {name: settings.get(name, []) for name in LISTS}
    return {**lists, "defaults": {name: settings[name] for name in SECTIONS if name in settings}}


_OURS = frozenset((*SECTIONS, *LISTS))


def form_context(query: QueryDict, refusals: Iterable[InvalidInput] = ()) -> dict[str, Any]:
    """The form's boxes with what was typed and what was refused."""
    form = PlanForm(query, [_rename_field(refusal) for refusal in refusals])
    return {
        "form": form,
        "owning": form.build_fields("owning"),
        "finance": form.build_fields("finance"),
        "offers": form.rows("custom_offers"),
        "adjustments": form.rows("price_adjustments"),
        "others": list(form.other_errors()),
    }


def _rename_field(refusal: InvalidInput) -> InvalidInput:
    """Defaults are checked under a name of their own; the boxes carry the request's."""
    return InvalidInput(refusal.field.removeprefix(_PREFIX), refusal.message)


def wants_another_row(query: Mapping[str, Any]) -> bool:
    """Whether the button 'Add another' was pressed instead of saving."""
    return any(name.startswith("rows.") for name in query)
