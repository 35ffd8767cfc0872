"""From the address of a plan page to its answer: parse, call, nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from planner.contract.answer.comparison import ComparisonAnswer
from planner.models import Team
from planner.services.projects.comparisons import ComparisonOutcome, compare_in_steps_for_team
from planner.services.teams.teams import inherit
from planner.web.common import fields, query_codec
from planner.web.common.choices import provider_title
from planner.web.common.fields import KIND_FIELDS
from planner.web.common.query_codec import drop_empty, flatten, to_pattern
from pricing import catalog
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog
from pricing.models import Revision

PRICES = "prices"
"""Name in the address: `aws.1-azure.2`, or `none` where no catalog price is used."""
RATES = "rates"
"""Name in the address: the team whose rates are in the answer."""
_NONE = "none"
_ONE = r"[a-z][a-z0-9_-]*\.\d{1,9}"
_PINNED = re.compile(rf"{_ONE}(-{_ONE})*")
_PART = re.compile(r"([a-z][a-z0-9_-]*?)\.(\d{1,9})(?:-|$)")


def pinned_revisions(query: QueryDict) -> dict[str, int] | None:
    """Provider → revision that the address names; None where it names none.

    Raises `InvalidInput` on text that names no revisions.
    """
    text = query.get(PRICES, "").strip()
    if not text:
        return None
    if text == _NONE:
        return {}
    if not _PINNED.fullmatch(text):
        raise InvalidInput(
            PRICES, f"{text[:60]!r} names no prices; allowed is aws.1-azure.1 or {_NONE}"
        )
    return {provider: int(number) for provider, number in _PART.findall(text)}


def pinned_catalog(query: QueryDict) -> Catalog | None:
    revisions = pinned_revisions(query)
    if revisions is None:
        return None
    try:
        return catalog.at(revisions)
    except InvalidInput as refusal:
        raise InvalidInput(PRICES, refusal.message) from None


def build_pinned_query(request: Mapping[str, Any], answer: ComparisonAnswer) -> str:
    request = {**request, "start": answer.start}
    prices = "-".join(f"{row.provider}.{row.revision}" for row in answer.catalog) or _NONE
    return urlencode([*flatten(request), (PRICES, prices)])


@dataclass(frozen=True)
class ProviderUpdate:
    title: str
    used: int
    newest: Revision


def find_newer_prices(query: QueryDict) -> tuple[ProviderUpdate, ...] | None:
    """Providers with later prices than the link names; None for an address that names none."""
    revisions = pinned_revisions(query)
    if revisions is None:
        return None
    return tuple(
        ProviderUpdate(provider_title(newest.provider), revisions[newest.provider], newest)
        for newest in catalog.revisions_in_force()
        if revisions.get(newest.provider, newest.number) != newest.number
    )


REST, REST_EXAMPLE = "all_else", '{"finance": {"tax_rate": 0.21}}'
"""Name of the box of JSON, which a plan page spreads into names of its own."""
PAGE_ONLY = frozenset({"csrfmiddlewaretoken", "scenario", "edit", "work", PRICES, RATES, REST})
"""Names of the address that are about the page, not part of the request."""
MAX_SAMPLES_AT_ONCE = 100_000
"""Most Monte Carlo samples that a page computes while a visitor waits."""


def is_page_only(name: str) -> bool:
    path = name.partition("~")[0]
    return path.partition(".")[0] == "rows" or path in PAGE_ONLY


def is_of_other_work(name: str, kind: str) -> bool:
    """Whether a name is a field of another kind of work alone: what was typed there stays out of
    the request."""
    path = to_pattern(name.partition("~")[0])
    own = KIND_FIELDS.get(kind)
    return own is not None and path not in own and any(path in one for one in KIND_FIELDS.values())


def read_plan_request(query: QueryDict) -> dict[str, Any]:
    kind = query.get("workload.kind", "")
    unused = [name for name in query if is_page_only(name) or is_of_other_work(name, kind)]
    tidy = query_codec.drop_empty(query, *unused)
    return query_codec.read(tidy, fields.FIELD_TYPES, fields.usual_share)


def spread_rest(query: QueryDict) -> QueryDict:
    """The address with what the box of all else holds, JSON of a request, as names of its own.

    Raises `InvalidInput` where that is no such JSON, or names what a box above has already.
    """
    text = query.get(REST, "").strip()
    if not text:
        return query
    try:
        rest = json.loads(text)
    except (ValueError, RecursionError) as problem:
        where = f"line {problem.lineno}: " if isinstance(problem, json.JSONDecodeError) else ""
        raise InvalidInput(REST, f"{where}this is no JSON; an example is {REST_EXAMPLE}") from None
    if not isinstance(rest, dict):
        raise InvalidInput(REST, f"write an object of fields, such as {REST_EXAMPLE}")
    tidy = drop_empty(query, REST)
    taken = {name.partition("~")[0] for name in tidy}
    for name, value in flatten(rest):
        if name in taken:
            raise InvalidInput(REST, f"{name} has a value in a box already; leave one of the two")
        tidy.appendlist(name, value)
    return tidy


def answer_plan(query: QueryDict, team: Team | None = None) -> ComparisonOutcome:
    """Compares the request of a query string with the team's rates; errors name their field.

    A query string that names price revisions is a shared link: it holds every rate already and
    is answered at those prices.
    """
    *_, whole = answer_plan_in_steps(query, team)
    return whole


def answer_plan_in_steps(
    query: QueryDict, team: Team | None = None, *, brief: bool = False
) -> Iterator[ComparisonOutcome]:
    """The same, first with what is advised and what it costs, last with everything. `brief` leaves
    out risk and sensitivity."""
    request: dict[str, Any] = {}
    try:
        request = read_plan_request(spread_rest(query))
        if "workload" not in request:
            yield ComparisonOutcome(request)
            return
        compared = request
        if brief:
            compared = {**request, "sensitivity": False}
            compared.pop("risk", None)
        risk = compared.get("risk")
        samples = risk.get("samples") if isinstance(risk, Mapping) else None
        if isinstance(samples, int | float) and samples > MAX_SAMPLES_AT_ONCE:
            raise InvalidInput(
                "risk.samples",
                f"{samples:,.0f} take longer than a page waits; ask for at most "
                f"{MAX_SAMPLES_AT_ONCE:,}, or through the API for a job",
            )
        catalog = pinned_catalog(query)
        is_pinned = catalog is not None
        for outcome in compare_in_steps_for_team(
            compared, None if is_pinned else team, catalog, runs_already=is_pinned
        ):
            yield replace(outcome, request=request)
    except InvalidInput as refusal:
        yield ComparisonOutcome(request, errors=tuple(map(_beside_the_model, refusal.all())))


def _beside_the_model(refusal: InvalidInput) -> InvalidInput:
    """A size that is missing is asked for at the box of the model, which tells it."""
    if (refusal.field, refusal.message) != ("workload.parameters", "is required"):
        return refusal
    return InvalidInput("workload.model", "is required: a name, or a size such as 7B")


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
    page, named = reverse("plan"), query.get(RATES)
    if not named or PRICES in query or (team and team.slug == named):
        return None
    next_page = urlencode({"next": f"{page}?{query.urlencode()}"})
    return MissingRates(
        sign_in=f"{reverse('account_login')}?{next_page}",
        at_list_prices=f"{page}?{drop_empty(query, RATES, 'scenario').urlencode()}",
    )
