"""What a comparison inherits from its team: contract prices, own quotes, default assumptions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils import timezone
from pydantic import BaseModel

from planner.models import ServerQuote, Team
from planner.request import CustomOffer, Data, Finance, OnPrem, PriceAdjustment
from planner.validation import parse
from pricing.accelerators import resolve
from pricing.invalid_input import InvalidInput

_SECTIONS: Mapping[str, type[BaseModel]] = {"finance": Finance, "on_prem": OnPrem, "data": Data}
_NOT_DEFAULTS = {"on_prem": ("servers", "already_owned")}
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


def inherit(given: Mapping[str, Any], team: Team) -> tuple[Request, dict[str, str]]:
    """`given` with what the team adds, and where each added field came from."""
    request: Request = dict(given)
    inherited: dict[str, str] = {}
    _add_currency(request, team, inherited)
    for name in _LISTS:
        _add_entries(request, name, getattr(team, name), team, inherited)
    for section, values in team.defaults.items():
        _add_section(request, section, values, team, inherited)
    _add_quotes(request, team, inherited)
    return request, inherited


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


def _add_quotes(request: Request, team: Team, inherited: dict[str, str]) -> None:
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
        request["on_prem"] = {**on_prem, "servers": [_server(s, quotes) for s in servers]}
        inherited["on_prem.servers"] = f"quotes {', '.join(used)} of the team {team.name}"


def _is_valid(quote: ServerQuote, today: dt.date) -> bool:
    return quote.valid_until is None or quote.valid_until >= today


def _quote_named(server: object, quotes: Mapping[str, ServerQuote]) -> bool:
    name = server.get("server") if isinstance(server, Mapping) else None
    return isinstance(name, str) and name in quotes


def _server(server: Any, quotes: Mapping[str, ServerQuote]) -> Any:
    """The quote with what the request says otherwise: `{"server": slug, "max_units": 4}`."""
    if not _quote_named(server, quotes):
        return server
    quote = quotes[server["server"]]
    own = {name: value for name, value in server.items() if name != "server"}
    merged = {**quote.server, **own}
    if merged["server"] == "custom":
        merged.setdefault("label", quote.label)
    return merged
