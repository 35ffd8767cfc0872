"""What a comparison inherits from its team: contract prices, own quotes, default assumptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, TypeVar

from django.utils import timezone
from pydantic import BaseModel

from planner.contract.answer.comparison import ComparisonAnswer, InheritedField
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.request.constraints import CustomOffer, PriceAdjustment
from planner.contract.request.finance import Data, Finance
from planner.contract.request.on_prem import OnPrem
from planner.contract.validation import parse
from planner.models import ServerQuote, Team
from planner.usage.projects import ProjectRule, read_rule
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


def rules_of(team: Team | None) -> tuple[ProjectRule, ...]:
    """The team's rules of which rows of a bill or log belong to which project."""
    return tuple(read_rule(text) for text in team.project_rules) if team else ()


def check_settings(changes: Mapping[str, Any]) -> None:
    """Refuses settings that a comparison request would refuse, all of them at once."""
    refusals: list[InvalidInput] = []
    for check in _checks(changes):
        try:
            check()
        except InvalidInput as refusal:
            refusals += refusal.all()
    if refusals:
        raise InvalidInput.together(refusals, len(refusals))


def _checks(changes: Mapping[str, Any]) -> Iterator[Callable[[], object]]:
    for name, model in _LISTS.items():
        for index, entry in enumerate(_entries(changes, name)):
            yield partial(parse, model, entry, f"{name}.{index}")
    for index, offer in enumerate(_entries(changes, "custom_offers")):
        accelerator = offer.get("accelerator") if isinstance(offer, Mapping) else None
        if isinstance(accelerator, str):
            field = f"custom_offers.{index}.accelerator"
            yield partial(_check_accelerator, accelerator, field)
    for index, rule in enumerate(_entries(changes, "project_rules")):
        text = rule if isinstance(rule, str) else ""
        yield partial(read_rule, text, f"project_rules.{index}")
    for section, values in _section_items(changes.get("defaults", {})):
        yield partial(parse, _SECTIONS[section], values, f"defaults.{section}")


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
    base_request: Mapping[str, Any], team: Team, rates: ExchangeRates | None = None
) -> tuple[Request, dict[str, str]]:
    """`base_request` with what the team adds, and where each added field came from.

    The team's money is in its own currency; a request in another one gets it converted at
    `rates`, or at the rates that it gives itself.
    """
    request: Request = dict(base_request)
    inherited: dict[str, str] = {}
    if base_request.get("inherits") is False:
        return request, inherited
    if "currency" not in request and team.currency != "USD":
        request["currency"] = team.currency
        inherited["currency"] = f"currency of the team {team.name}"
    money = _Money(request, team.currency, rates or ExchangeRates())
    for name in _LISTS:
        _add_entries(request, name, getattr(team, name), team, inherited)
    for section, values in team.defaults.items():
        _add_section(request, section, money.of(section, values), team, inherited)
        _note_conversion(section, values, money, inherited)
    _add_quotes(request, team, money, inherited)
    return request, inherited


AnyAnswer = TypeVar("AnyAnswer", ComparisonAnswer, PortfolioAnswer)


def with_sources(answer: AnyAnswer, inherited: Mapping[str, str]) -> AnyAnswer:
    """Marks the assumptions that come from the team, not from the request."""
    assumptions = tuple(
        row.model_copy(update={"given": False, "source": inherited[row.field]})
        if row.field in inherited
        else row
        for row in answer.assumptions
    )
    rows = tuple(InheritedField(field=name, source=text) for name, text in inherited.items())
    return answer.model_copy(update={"assumptions": assumptions, "inherited": rows})


class _Money:
    """The team's money in the currency of a request."""

    def __init__(self, request: Request, team_currency: str, rates: ExchangeRates) -> None:
        currency = request.get("currency") or "USD"
        self._request, self._team_currency, self._rates = request, team_currency, rates
        self._currency = currency if isinstance(currency, str) else team_currency

    @cached_property
    def _factor(self) -> float:
        own, wanted = (
            _units_per_usd(self._request, currency, self._rates)
            for currency in (self._team_currency, self._currency)
        )
        return wanted / own

    @property
    def conversion_note(self) -> str:
        if self._currency == self._team_currency:
            return ""
        return f", converted from {self._team_currency} at {self._factor:.6g} {self._currency}"

    def of(self, section: str, values: Mapping[str, Any]) -> dict[str, Any]:
        money = _MONEY.get(section, ()) if self._currency != self._team_currency else ()
        return {
            name: value * self._factor if name in money and value is not None else value
            for name, value in values.items()
        }


def _units_per_usd(request: Request, currency: str, rates: ExchangeRates) -> float:
    """Refused by the core where the request's own rate makes no sense."""
    exchange_rates = request.get("exchange_rates")
    rate = exchange_rates.get(currency) if isinstance(exchange_rates, Mapping) else None
    rate = rate.get("units_per_usd") if isinstance(rate, Mapping) else rate
    if isinstance(rate, int | float) and rate > 0:
        return float(rate)
    return float(rates.find(currency).units_per_usd)


def _note_conversion(
    section: str, values: Mapping[str, Any], money: _Money, inherited: dict[str, str]
) -> None:
    for name in values:
        if name in _MONEY.get(section, ()) and f"{section}.{name}" in inherited:
            inherited[f"{section}.{name}"] += money.conversion_note


def _add_entries(
    request: Request, name: str, entries: list[Any], team: Team, inherited: dict[str, str]
) -> None:
    entries_in_request = request.get(name) or []
    if not entries or not isinstance(entries_in_request, list):
        return
    labels = {entry.get("label") for entry in entries_in_request if isinstance(entry, Mapping)} - {
        None
    }
    added = [entry for entry in entries if entry.get("label") not in labels]
    if added:
        request[name] = [*added, *entries_in_request]
        inherited[name] = f"{len(added)} of the team {team.name}"


def _add_section(
    request: Request,
    section: str,
    values: Mapping[str, Any],
    team: Team,
    inherited: dict[str, str],
) -> None:
    values_in_request = request.get(section) or {}
    if not isinstance(values_in_request, Mapping):
        return
    added = {
        field: value for field, value in values.items() if values_in_request.get(field) is None
    }
    if added:
        request[section] = {**values_in_request, **added}
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
        servers = [
            {"server": slug}
            for slug, quote in quotes.items()
            if quote.valid_until is None or quote.valid_until >= today
        ]
    if not isinstance(servers, list) or not servers:
        return
    used = [s["server"] for s in servers if _names_quote(s, quotes)]
    if used:
        request["on_prem"] = {**on_prem, "servers": [_server(s, quotes, money) for s in servers]}
        labels = " and ".join(f"“{quotes[slug].label}”" for slug in used)
        noun = "quote" if len(used) == 1 else "quotes"
        inherited["on_prem.servers"] = f"{noun} {labels} of the team {team.name}"
        if any(_MONEY["server"][0] in quotes[slug].server for slug in used):
            inherited["on_prem.servers"] += money.conversion_note


def _names_quote(server: object, quotes: Mapping[str, ServerQuote]) -> bool:
    name = server.get("server") if isinstance(server, Mapping) else None
    return isinstance(name, str) and name in quotes


def _server(server: Any, quotes: Mapping[str, ServerQuote], money: _Money) -> Any:
    if not _names_quote(server, quotes):
        return server
    quote = quotes[server["server"]]
    overrides = {name: value for name, value in server.items() if name != "server"}
    merged = {**money.of("server", quote.server), **overrides}
    if merged["server"] == "custom":
        merged.setdefault("label", quote.label)
    return merged


def list_team_money(team: Team, defaults: Mapping[str, Any]) -> list[str]:
    """What the team keeps in its currency, by name: its quotes, and money among `defaults`."""
    slugs = ServerQuote.objects.filter(team=team).order_by("slug").values_list("slug", flat=True)
    quotes = [f"quote {slug}" for slug in slugs if slug]
    return quotes + [
        f"{section}.{name}"
        for section, values in defaults.items()
        for name in values
        if name in _MONEY.get(section, ())
    ]
