"""A request as the plan form types it: each figure in the unit of its box."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.http import QueryDict

from planner.models import Team
from planner.web.common import query_codec
from planner.web.common.fields import FIELD_TYPES, SINGLE, fields_below
from planner.web.common.query_codec import SCALES, flatten
from planner.web.plan.forms import PlanForm, as_query
from pricing.common.invalid_input import InvalidInput

_SCALES = {field.path: field.scale for field in SINGLE if field.scale}


def encode_in_units(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    pairs = []
    for path, value in flatten(request):
        scale = _SCALES.get(path)
        if scale:
            path, value = f"{path}~{scale}", f"{(Decimal(value) / SCALES[scale]).normalize():f}"
        pairs.append((path, value))
    return pairs


def address_of(request: Mapping[str, Any]) -> str:
    return as_query(encode_in_units(request)).urlencode()


SECTIONS = ("on_prem", "finance", "data")
LISTS = ("price_adjustments", "custom_offers")


def team_query(team: Team) -> QueryDict:
    values = {
        **team.defaults,
        "price_adjustments": team.price_adjustments,
        "custom_offers": team.custom_offers,
    }
    return as_query(encode_in_units(values))


def read_changes(query: QueryDict) -> dict[str, Any]:
    others = [name for name in query if name.partition(".")[0] not in (*SECTIONS, *LISTS)]
    settings = query_codec.read(query_codec.drop_empty(query, *others), FIELD_TYPES)
    lists = {name: settings.get(name, []) for name in LISTS}
    return {**lists, "defaults": {name: settings[name] for name in SECTIONS if name in settings}}


def form_context(query: QueryDict, refusals: Iterable[InvalidInput] = ()) -> dict[str, Any]:
    form = PlanForm(
        query,
        [
            InvalidInput(refusal.field.removeprefix("defaults."), refusal.message)
            for refusal in refusals
        ],
    )
    return {
        "form": form,
        "owning": form.boxes(one.path for one in fields_below("on_prem")),
        "finance": form.boxes(one.path for one in fields_below("finance")),
        "offers": form.rows("custom_offers", least=1),
        "adjustments": form.rows("price_adjustments", least=1),
        "others": list(form.other_errors()),
        "is_refused": bool(form.errors),
    }
