"""A link that opens the same answer on another day: it names the prices it was computed with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.http import QueryDict

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.labels import SCENARIO_TITLES
from planner.contract.request.comparison import with_rules
from planner.services.projects.comparisons import ComparisonOutcome, compare_for_team
from planner.web.common.choices import provider_title
from planner.web.common.form_fields import find_label
from planner.web.common.query_codec import drop_empty, flatten
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
    """The market at the revisions that the address names; None stands for today's."""
    revisions = pinned_revisions(query)
    if revisions is None:
        return None
    try:
        return catalog.at(revisions)
    except InvalidInput as refusal:
        raise InvalidInput(PRICES, refusal.message) from None


def build_share_query(outcome: ComparisonOutcome) -> str:
    """The address that gives this answer on any day: start month, prices and team's own in."""
    request = dict(outcome.resolved_request)
    if outcome.inherited:
        request["inherits"] = False
    return _pinned_query(request, outcome.answer)


def build_list_price_query(outcome: ComparisonOutcome) -> str:
    """The address of the same question without what the team adds: nobody reads its rates."""
    return _pinned_query(with_rules(outcome.request), outcome.answer)


def _pinned_query(request: Mapping[str, Any], answer: ComparisonAnswer) -> str:
    request = {**request, "start": answer.start}
    prices = "-".join(f"{row.provider}.{row.revision}" for row in answer.catalog) or _NONE
    query = QueryDict(mutable=True)
    for name, value in [*flatten(request), (PRICES, prices)]:
        query.appendlist(name, value)
    return query.urlencode()


@dataclass(frozen=True)
class ProviderUpdate:
    """A provider whose prices were published anew since the link was made."""

    title: str
    used: int
    newest: Revision


@dataclass(frozen=True)
class TotalChange:
    """The total of a scenario then and at today's prices; None where it is not possible."""

    title: str
    before: Decimal | None
    after: Decimal | None

    @property
    def change(self) -> Decimal | None:
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


@dataclass(frozen=True)
class PriceUpdate:
    """What has changed since a link was made."""

    providers: tuple[ProviderUpdate, ...]
    totals: tuple[TotalChange, ...] = ()
    new_advice: str = ""
    """What is advised at today's prices; empty where the advice is the same."""
    refusal: str = ""
    """Why today's prices give no answer."""


def find_price_update(query: QueryDict, outcome: ComparisonOutcome) -> PriceUpdate | None:
    """What has changed since the link was made; None for an address that names no prices."""
    revisions = pinned_revisions(query)
    if revisions is None:
        return None
    providers = tuple(_updated_providers(revisions))
    if not providers:
        return PriceUpdate(())
    request = {**outcome.resolved_request, "start": outcome.answer.start, "sensitivity": False}
    request.pop("risk", None)
    try:
        now = compare_for_team(request).answer
    except InvalidInput as refusal:
        return PriceUpdate(providers, refusal=f"{find_label(refusal.field)}: {refusal.message}")
    return PriceUpdate(
        providers,
        tuple(_total_changes(outcome.answer, now)),
        _changed_advice(outcome.answer, now),
    )


def _updated_providers(revisions: Mapping[str, int]) -> list[ProviderUpdate]:
    return [
        ProviderUpdate(provider_title(newest.provider), revisions[newest.provider], newest)
        for newest in catalog.revisions_in_force()
        if revisions.get(newest.provider, newest.number) != newest.number
    ]


def _total_changes(before: ComparisonAnswer, after: ComparisonAnswer) -> list[TotalChange]:
    return [
        TotalChange(SCENARIO_TITLES[one.key], one.total_cost, after.by_key[one.key].total_cost)
        for one in before.scenarios
    ]


def _changed_advice(before: ComparisonAnswer, after: ComparisonAnswer) -> str:
    if before.headline == after.headline:
        return ""
    return after.headline


def unpin_prices(query: QueryDict) -> str:
    """The same request at the prices in force."""
    return drop_empty(query, PRICES, "scenario").urlencode()
