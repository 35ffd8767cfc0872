"""What a comparison inherits from its team: contract prices, own quotes, default assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeVar

from django.utils import timezone
from pydantic import AfterValidator, Field

from planner.contract.answer.comparison import ComparisonAnswer, InheritedField
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.request.constraints import CustomOffer, PriceAdjustment
from planner.contract.request.finance import Data, Finance
from planner.contract.request.on_prem import OnPrem
from planner.contract.validation import Entries, RequestModel, parse
from planner.models import ServerQuote, Team
from planner.usage.projects import ProjectRule, read_rule
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import resolve
from pricing.market.exchange_rates import ExchangeRates

_MONEY: Mapping[str, tuple[str, ...]] = {
    "on_prem": ("electricity_per_kwh", "colocation_per_kw_month", "staff_cost_per_year"),
    "server": ("unit_price", "running_cost_per_hour"),
}
"""Defaults and parts of a quote that are money, in the team's currency."""
MAX_ENTRIES = 200

Request = dict[str, Any]


class _Offer(CustomOffer):
    def _refusals(self) -> Iterator[InvalidInput]:
        yield from super()._refusals()
        try:
            resolve(self.accelerator)
        except InvalidInput as refusal:
            yield InvalidInput("accelerator", refusal.message)


class _OnPrem(OnPrem):
    def _refusals(self) -> Iterator[InvalidInput]:
        yield from super()._refusals()
        for field in {"servers", "already_owned"} & self.model_fields_set:
            yield InvalidInput(field, "is no default; keep server quotes instead")


class _Defaults(RequestModel):
    finance: Finance | None = None
    on_prem: _OnPrem | None = None
    data: Data | None = None


class _Settings(RequestModel):
    price_adjustments: Entries[PriceAdjustment] = Field((), max_length=MAX_ENTRIES)
    custom_offers: Entries[_Offer] = Field((), max_length=MAX_ENTRIES)
    defaults: _Defaults = _Defaults()
    project_rules: Entries[Annotated[str, AfterValidator(lambda text: read_rule(text, ""))]] = (
        Field((), max_length=MAX_ENTRIES)
    )


def rules_of(team: Team | None) -> tuple[ProjectRule, ...]:
    """The team's rules of which rows of a bill or log belong to which project."""
    return tuple(read_rule(text) for text in team.project_rules) if team else ()


def check_settings(changes: Mapping[str, Any]) -> None:
    """Refuses settings that a comparison request would refuse, all of them at once."""
    parse(_Settings, {name: changes[name] for name in _Settings.model_fields if name in changes})


def inherit(
    base_request: Mapping[str, Any], team: Team, rates: ExchangeRates | None = None, *without: str
) -> tuple[Request, dict[str, str]]:
    """`base_request` with what the team adds, and where each added field came from.

    The team's money is in its own currency; a request in another one gets it converted at
    `rates`, or at the rates that it gives itself. `without` are sections that take
    no defaults.
    """
    request: Request = dict(base_request)
    inherited: dict[str, str] = {}
    if base_request.get("inherits") is False:
        return request, inherited
    if "currency" not in request and team.currency != "USD":
        request["currency"] = team.currency
        inherited["currency"] = f"currency of the team {team.name}"
    factor, converted = _conversion(request, team, rates or ExchangeRates())
    for name in ("price_adjustments", "custom_offers"):
        own = request.get(name) or []
        if not isinstance(own, list):
            continue
        labels = {one.get("label") for one in own if isinstance(one, Mapping)} - {None}
        if added := [one for one in getattr(team, name) if one.get("label") not in labels]:
            request[name] = [*added, *own]
            inherited[name] = f"{len(added)} of the team {team.name}"
    for section, values in team.defaults.items():
        own = request.get(section) or {}
        if section in without or not isinstance(own, Mapping):
            continue
        scaled = _scale(section, values, factor)
        for name in values:
            if own.get(name) is None:
                request[section] = {**(request.get(section) or {}), name: scaled[name]}
                note = converted if name in _MONEY.get(section, ()) else ""
                inherited[f"{section}.{name}"] = f"default of the team {team.name}{note}"
    _add_quotes(request, team, inherited, factor, converted)
    return request, inherited


def _conversion(request: Request, team: Team, rates: ExchangeRates) -> tuple[float, str]:
    currency = request.get("currency") or "USD"
    if not isinstance(currency, str) or currency == team.currency:
        return 1.0, ""
    if not list_team_money(team, team.defaults):
        return 1.0, ""
    stated_rates = request.get("exchange_rates")

    def units_per_usd(name: str) -> float:
        rate = stated_rates.get(name) if isinstance(stated_rates, Mapping) else None
        rate = rate.get("units_per_usd") if isinstance(rate, Mapping) else rate
        if isinstance(rate, int | float) and rate > 0:
            return float(rate)
        return float(rates.find(name).units_per_usd)  # The core refuses a rate of no sense.

    factor = units_per_usd(currency) / units_per_usd(team.currency)
    return factor, f", converted from {team.currency} at {factor:.6g} {currency}"


def _scale(section: str, values: Mapping[str, Any], factor: float) -> Request:
    money = _MONEY.get(section, ()) if factor != 1 else ()
    return {
        name: value * factor if name in money and value is not None else value
        for name, value in values.items()
    }


def _add_quotes(
    request: Request, team: Team, inherited: dict[str, str], factor: float, converted: str
) -> None:
    """Servers named by a quote's slug become that quote; without any named, valid quotes are
    what may be bought."""
    quotes = {quote.slug: quote for quote in ServerQuote.objects.filter(team=team)}
    on_prem = request.get("on_prem") or {}
    if not quotes or not isinstance(on_prem, Mapping):
        return
    servers = on_prem.get("servers")
    if servers is None:
        today = timezone.now().date()
        valid = (q.slug for q in quotes.values() if q.valid_until is None or q.valid_until >= today)
        servers = [{"server": slug} for slug in valid]
    if not isinstance(servers, list):
        return
    used: list[ServerQuote] = []
    named: list[Any] = []
    for server in servers:
        slug = server.get("server") if isinstance(server, Mapping) else None
        quote = quotes.get(slug) if isinstance(slug, str) else None
        if quote is not None:
            used.append(quote)
            own = {name: value for name, value in server.items() if name != "server"}
            server = {**_scale("server", quote.server, factor), **own}
            if server["server"] == "custom":
                server.setdefault("label", quote.label)
        named.append(server)
    if used:
        request["on_prem"] = {**on_prem, "servers": named}
        labels = " and ".join(f"“{quote.label}”" for quote in used)
        noun = "quote" if len(used) == 1 else "quotes"
        note = converted if any("unit_price" in quote.server for quote in used) else ""
        inherited["on_prem.servers"] = f"{noun} {labels} of the team {team.name}{note}"


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


def list_team_money(team: Team, defaults: Mapping[str, Any]) -> list[str]:
    """What the team keeps in its currency, by name: its quotes, and money among `defaults`."""
    slugs = ServerQuote.objects.filter(team=team).order_by("slug").values_list("slug", flat=True)
    quotes = [f"quote {slug}" for slug in slugs]
    return quotes + [
        f"{section}.{name}"
        for section, values in defaults.items()
        for name in values
        if name in _MONEY.get(section, ())
    ]
