"""Whose rates an address was answered with: it names the team, and says so where they are missing.

A plan's address holds no contract prices, so that it can be sent to colleagues. It names the team
whose rates made the answer instead; whoever opens it without them is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from planner.models import Team
from planner.services.teams.team_rates import inherit
from planner.web.common.plan_request import read_plan_request
from planner.web.common.query_codec import drop_empty
from planner.web.common.sharing import PRICES, RATES
from pricing import catalog
from pricing.common.invalid_input import InvalidInput


def name_rates(query: QueryDict, team: Team | None) -> QueryDict:
    """The address with the team whose rates go into the answer; as it is where none do."""
    if team is None or query.get(RATES) or PRICES in query or "workload.kind" not in query:
        return query
    try:
        _, inherited = inherit(read_plan_request(query), team, catalog.current().exchange_rates)
    except InvalidInput:
        return query
    if not inherited:
        return query
    named = query.copy()
    named[RATES] = team.slug
    return named


@dataclass(frozen=True)
class MissingRates:
    """The ways on from an address made with rates that the visitor does not have."""

    sign_in: str
    at_list_prices: str


def find_missing_rates(query: QueryDict, team: Team | None) -> MissingRates | None:
    """None unless the address was made with the rates of a team that is not the visitor's."""
    if not query.get(RATES) or PRICES in query or (team and team.slug == query[RATES]):
        return None
    page = reverse("plan")
    next_page = urlencode({"next": f"{page}?{query.urlencode()}"})
    return MissingRates(
        sign_in=f"{reverse('account_login')}?{next_page}",
        at_list_prices=f"{page}?{drop_empty(query, RATES, 'scenario').urlencode()}",
    )
