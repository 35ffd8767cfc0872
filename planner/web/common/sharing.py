"""A link that opens the same answer on another day: it names the prices it was computed with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.http import QueryDict

from planner.contract.labels import SCENARIO_TITLES
from planner.services.projects.comparisons import Answer, Answered, answer
from planner.web.common.choices import provider_title
from planner.web.common.query_codec import flatten, tidied
from pricing import catalog
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog
from pricing.models import Revision

PRICES = "prices"
"""Name in the address: `aws.1-azure.2`, or `none` where no catalog price is used."""
_NONE = "none"
_ONE = r"[a-z][a-z0-9_-]*\.\d{1,9}"
_PINNED = re.compile(rf"{_ONE}(-{_ONE})*")
_PART = re.compile(r"([a-z][a-z0-9_-]*?)\.(\d{1,9})(?:-|$)")


def pinned(query: QueryDict) -> dict[str, int] | None:
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
    revisions = pinned(query)
    if revisions is None:
        return None
    try:
        return catalog.at(revisions)
    except InvalidInput as refusal:
        raise InvalidInput(PRICES, refusal.message) from None


def address_to_share(answered: Answered) -> str:
    """The address that gives this answer on any day: start month, prices and team's own in."""
    rows = answered.answer["catalog"]
    prices = "-".join(f"{row['provider']}.{row['revision']}" for row in rows) or _NONE
    request = {**answered.request, "start": answered.answer["start"]}
    if answered.inherited:
        request["inherits"] = False
    query = QueryDict(mutable=True)
    for name, value in [*flatten(request), (PRICES, prices)]:
        query.appendlist(name, value)
    return query.urlencode()


@dataclass(frozen=True)
class MovedProvider:
    """A provider whose prices were published anew since the link was made."""

    title: str
    used: int
    newest: Revision


@dataclass(frozen=True)
class MovedTotal:
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
class Since:
    """What has changed since a link was made."""

    moved: tuple[MovedProvider, ...]
    totals: tuple[MovedTotal, ...] = ()
    advice_now: str = ""
    """What is advised at today's prices; empty where the advice is the same."""
    refusal: str = ""
    """Why today's prices give no answer."""


def since(query: QueryDict, answered: Answered) -> Since | None:
    """What has changed since the link was made; None for an address that names no prices."""
    revisions = pinned(query)
    if revisions is None:
        return None
    moved = tuple(_moved(revisions))
    if not moved:
        return Since(())
    asked = {**answered.request, "start": answered.answer["start"], "sensitivity": False}
    asked.pop("risk", None)
    try:
        now = answer(asked).answer
    except InvalidInput as refusal:
        return Since(moved, refusal=str(refusal))
    return Since(moved, tuple(_totals(answered.answer, now)), _new_advice(answered.answer, now))


def _moved(revisions: Mapping[str, int]) -> list[MovedProvider]:
    return [
        MovedProvider(provider_title(newest.provider), revisions[newest.provider], newest)
        for newest in catalog.revisions_in_force()
        if revisions.get(newest.provider, newest.number) != newest.number
    ]


def _totals(before: Answer, after: Answer) -> list[MovedTotal]:
    now = {scenario["key"]: scenario for scenario in after["scenarios"]}
    return [
        MovedTotal(SCENARIO_TITLES[one["key"]], _total(one), _total(now[one["key"]]))
        for one in before["scenarios"]
    ]


def _total(scenario: Mapping[str, Any]) -> Decimal | None:
    return Decimal(scenario["total_cost"]) if scenario["feasible"] else None


def _new_advice(before: Answer, after: Answer) -> str:
    if before["recommendation"]["because"][:1] == after["recommendation"]["because"][:1]:
        return ""
    return str(next(iter(after["recommendation"]["because"]), "Nothing fits."))


def with_todays_prices(query: QueryDict) -> str:
    """The same request at the prices in force."""
    return tidied(query, PRICES, "scenario").urlencode()
