"""Whose rates an address was answered with: it names the team, and says so where they are missing.

A plan's address holds no contract prices, so that it can be sent to colleagues. It names the team
whose rates made the answer instead; whoever opens it without them is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    page = reverse("plan")
    if not _is_without_its_rates(query, team):
        return None
    next_page = urlencode({"next": f"{page}?{query.urlencode()}"})
    return MissingRates(
        sign_in=f"{reverse('account_login')}?{next_page}",
        at_list_prices=f"{page}?{drop_empty(query, RATES, 'scenario').urlencode()}",
    )


def _is_without_its_rates(query: QueryDict, team: Team | None) -> bool:
    named = query.get(RATES)
    return bool(named) and PRICES not in query and not (team and team.slug == named)


def find_missing_rates_of_several(
    addresses: Sequence[str], team: Team | None, page_url: Callable[[Sequence[str]], str]
) -> MissingRates | None:
    """The same for a page that holds the addresses of several plans."""
    queries = [QueryDict(address) for address in addresses]
    if not any(_is_without_its_rates(query, team) for query in queries):
        return None
    without = [drop_empty(query, RATES, "scenario").urlencode() for query in queries]
    return MissingRates(
        sign_in=f"{reverse('account_login')}?{urlencode({'next': page_url(addresses)})}",
        at_list_prices=page_url(without),
    )
