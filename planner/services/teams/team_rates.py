"""What a comparison inherits from its team: contract prices, own quotes, default assumptions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from django.utils import timezone
from pydantic import BaseModel

from planner.contract.request.comparison import CustomOffer, Data, Finance, OnPrem, PriceAdjustment
from planner.contract.validation import parse
from planner.models import ServerQuote, Team
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import resolve
from pricing.market.exchange_rates import ExchangeRates

_SECTIONS: Mapping[str, type[BaseModel]] = {"finance": Finance, "on_prem": OnPrem, "data": Data}
_NOT_DEFAULTS = {"on_prem": ("servers", "already_owned")}
_MONEY: Mapping[str, tuple[str, ...]] = {
    "on_prem": ("electricity_per_kwh", "colocation_per_kw_month", "staff_cost_per_year"),
    "server": ("unit_price", "running_cost_per_hour"),
}
"""Defaults and parts of a quote that are money, in the team's currency."""
_LISTS: Mapping[str, type[BaseModel]] = {
    "price_adjustments": PriceAdjustment,
    "custom_offers": CustomOffer,
}
MAX_ENTRIES = 200

Request = dict[str, Any]


def check_settings(changes: Mapping[str, Any]) -> None:
    """Refuses settings that a comparison request would refuse."""
    for name, model in _LISTS.items():
        for index, entry in enumerate(_entries(changes, name)):
            parse(model, entry, f"{name}.{index}")
    for index, offer in enumerate(_entries(changes, "custom_offers")):
        _check_accelerator(offer["accelerator"], f"custom_offers.{index}.accelerator")
    for section, values in _section_items(changes.get("defaults", {})):
        parse(_SECTIONS[section], values, f"defaults.{section}")


def _entries(changes: Mapping[str, Any], name: str) -> list[Any]:
    entries = changes.get(name, [])
    if not isinstance(entries, list):
        raise InvalidInput(name, "is not a list")
    if len(entries) > MAX_ENTRIES:
        raise InvalidInput(name, f"holds {len(entries)} entries; at most {MAX_ENTRIES}")
    return entries


def _section_items(defaults: object) -> Iterable[tuple[str, Mapping[str, Any]]]:
    if not isinstance(defaults, Mapping):
        raise InvalidInput("defaults", "is not an object")
    for section, values in defaults.items():
        if section not in _SECTIONS:
            raise InvalidInput(
                f"defaults.{section}"[:120],
                f"is not a known section; allowed are {', '.join(_SECTIONS)}",
            )
        if not isinstance(values, Mapping):
            raise InvalidInput(f"defaults.{section}", "is not an object")
        for field in _NOT_DEFAULTS.get(section, ()):
            if field in values:
                raise InvalidInput(
                    f"defaults.{section}.{field}", "is no default; keep server quotes instead"
                )
        yield section, values


def _check_accelerator(name: str, field: str) -> None:
    try:
        resolve(name)
    except InvalidInput as refusal:
        raise InvalidInput(field, refusal.message) from None


def inherit(
    given: Mapping[str, Any], team: Team, rates: ExchangeRates | None = None
) -> tuple[Request, dict[str, str]]:
    """`given` with what the team adds, and where each added field came from.

    The team's money is in its own currency; a request in another one gets it converted at
    `rates`, or at the rates that it gives itself.
    """
    request: Request = dict(given)
    inherited: dict[str, str] = {}
    if given.get("inherits") is False:
        return request, inherited
    _add_currency(request, team, inherited)
    money = _Money(request, team.currency, rates or ExchangeRates())
    for name in _LISTS:
        _add_entries(request, name, getattr(team, name), team, inherited)
    for section, values in team.defaults.items():
        _add_section(request, section, money.of(section, values), team, inherited)
        _say_converted(section, values, money, inherited)
    _add_quotes(request, team, money, inherited)
    return request, inherited


class _Money:
    """The team's money in the currency of a request."""

    def __init__(self, request: Request, own: str, rates: ExchangeRates) -> None:
        wanted = request.get("currency") or "USD"
        self._request, self._own, self._rates = request, own, rates
        self._wanted = wanted if isinstance(wanted, str) else own

    @cached_property
    def _factor(self) -> float:
        own, wanted = (
            _units_per_usd(self._request, currency, self._rates)
            for currency in (self._own, self._wanted)
        )
        return wanted / own

    @property
    def words(self) -> str:
        if self._wanted == self._own:
            return ""
        return f", converted from {self._own} at {self._factor:.6g} {self._wanted}"

    def of(self, section: str, values: Mapping[str, Any]) -> dict[str, Any]:
        money = _MONEY.get(section, ()) if self._wanted != self._own else ()
        return {
            name: value * self._factor if name in money and value is not None else value
            for name, value in values.items()
        }


def _units_per_usd(request: Request, currency: str, rates: ExchangeRates) -> float:
    """Refused by the core where the request's own rate makes no sense."""
    given = request.get("exchange_rates")
    own = given.get(currency) if isinstance(given, Mapping) else None
    own = own.get("units_per_usd") if isinstance(own, Mapping) else own
    if isinstance(own, int | float) and own > 0:
        return float(own)
    return float(rates.find(currency).units_per_usd)


def _say_converted(
    section: str, values: Mapping[str, Any], money: _Money, inherited: dict[str, str]
) -> None:
    for name in values:
        if name in _MONEY.get(section, ()) and f"{section}.{name}" in inherited:
            inherited[f"{section}.{name}"] += money.words


def _add_currency(request: Request, team: Team, inherited: dict[str, str]) -> None:
    if "currency" not in request and team.currency != "USD":
        request["currency"] = team.currency
        inherited["currency"] = f"currency of the team {team.name}"


def _add_entries(
    request: Request, name: str, entries: list[Any], team: Team, inherited: dict[str, str]
) -> None:
    own = request.get(name) or []
    if not entries or not isinstance(own, list):
        return
    labels = {entry.get("label") for entry in own if isinstance(entry, Mapping)} - {None}
    added = [entry for entry in entries if entry.get("label") not in labels]
    if added:
        request[name] = [*added, *own]
        inherited[name] = f"{len(added)} of the team {team.name}"


def _add_section(
    request: Request,
    section: str,
    values: Mapping[str, Any],
    team: Team,
    inherited: dict[str, str],
) -> None:
    own = request.get(section) or {}
    if not isinstance(own, Mapping):
        return
    added = {field: value for field, value in values.items() if own.get(field) is None}
    if added:
        request[section] = {**own, **added}
        inherited |= {f"{section}.{name}": f"default of the team {team.name}" for name in added}


def _add_quotes(request: Request, team: Team, money: _Money, inherited: dict[str, str]) -> None:
    """Servers named by a quote's slug become that quote; without any named, valid quotes are
    what may be bought."""
    quotes = {quote.slug: quote for quote in ServerQuote.objects.filter(team=team)}
    on_prem = request.get("on_prem") or {}
    if not quotes or not isinstance(on_prem, Mapping):
        return
    servers = on_prem.get("servers")
    if servers is None:
        today = timezone.now().date()
        servers = [{"server": slug} for slug, quote in quotes.items() if _is_valid(quote, today)]
    if not isinstance(servers, list) or not servers:
        return
    used = [s["server"] for s in servers if _quote_named(s, quotes)]
    if used:
        request["on_prem"] = {**on_prem, "servers": [_server(s, quotes, money) for s in servers]}
        inherited["on_prem.servers"] = f"quotes {', '.join(used)} of the team {team.name}"
        if any(_MONEY["server"][0] in quotes[slug].server for slug in used):
            inherited["on_prem.servers"] += money.words


def _is_valid(quote: ServerQuote, today: dt.date) -> bool:
    return quote.valid_until is None or quote.valid_until >= today


def _quote_named(server: object, quotes: Mapping[str, ServerQuote]) -> bool:
    name = server.get("server") if isinstance(server, Mapping) else None
    return isinstance(name, str) and name in quotes


def _server(server: Any, quotes: Mapping[str, ServerQuote], money: _Money) -> Any:
    """The quote with what the request says otherwise: `{"server": slug, "max_units": 4}`."""
    if not _quote_named(server, quotes):
        return server
    quote = quotes[server["server"]]
    own = {name: value for name, value in server.items() if name != "server"}
    merged = {**money.of("server", quote.server), **own}
    if merged["server"] == "custom":
        merged.setdefault("label", quote.label)
    return merged


def money_kept(team: Team, defaults: Mapping[str, Any]) -> list[str]:
    """What the team keeps in its currency, by name: its quotes, and money among `defaults`."""
    slugs = ServerQuote.objects.filter(team=team).order_by("slug").values_list("slug", flat=True)
    quotes = [f"quote {slug}" for slug in slugs if slug]
    return quotes + [
        f"{section}.{name}"
        for section, values in defaults.items()
        for name in values
        if name in _MONEY.get(section, ())
    ]
