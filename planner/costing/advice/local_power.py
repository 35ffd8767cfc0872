"""Own servers in a place whose electricity the American defaults do not describe. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from planner.contract.place_limits import limit_places
from planner.contract.request.comparison import ComparisonRequest
from planner.costing.analysis.carbon import ON_PREM_G_CO2E_PER_KWH
from planner.costing.assumptions.defaults import default
from planner.costing.model_inputs import ModelInputs
from pricing.market.places import EU
from pricing.market.snapshot import Catalog, Region

AMERICAN = "US"
"""Country of the default price of electricity and of the default grid, ISO 3166-1."""
AMERICAN_MONEY = "USD"
"""Its currency, ISO 4217."""
EU_PRICE = "0.19 EUR/kWh on average in the EU (non-household, Eurostat nrg_pc_205, H1 2025)"
"""What electricity costs there, for a reader to judge the default by; large data centres pay
less."""


def warn_of_foreign_power(
    request: ComparisonRequest, inputs: ModelInputs, catalog: Catalog
) -> Iterator[str]:
    """That own servers are counted with American electricity and its carbon where the places of
    the request hold none of the United States, and what is known of the place; without a place,
    its price where the money of the plan is not American."""
    places = _chosen_places(request, catalog)
    countries = {place.country for place in places if place.country}
    if not any(source.is_owned for source in inputs.sources):
        return
    is_given = inputs.assumptions.is_from_request("electricity_per_kwh")
    price = default("electricity_per_kwh").value
    if not countries and request.currency != AMERICAN_MONEY and not is_given:
        yield (
            f"Electricity for own servers is counted at {price:g} USD/kWh, the average industrial "
            f"price in the United States, although the plan is in {request.currency} and names no "
            "place: give your price as on_prem.electricity_per_kwh."
        )
    if not countries or AMERICAN in countries:
        return
    if not is_given:
        local = f"; it is {EU_PRICE}" if countries <= EU else ""
        yield (
            f"Electricity for own servers is counted at {price:g} USD/kWh, the average industrial "
            "price in the United States, although the places chosen are elsewhere: give your price "
            f"as on_prem.electricity_per_kwh{local}."
        )
    if request.on_prem.g_co2e_per_kwh is None:
        known = [p.g_co2e_per_kwh for p in places if p.g_co2e_per_kwh is not None]
        middle = " (median)" if len(set(known)) > 1 else ""
        local = f"; in the regions chosen it is {median(known):,.0f}{middle}" if known else ""
        yield (
            "Carbon of own servers is counted for the grid of the eastern United States, "
            f"{ON_PREM_G_CO2E_PER_KWH:,.0f} g CO2e/kWh{local}. Give your grid's value as "
            "on_prem.g_co2e_per_kwh."
        )


def _chosen_places(request: ComparisonRequest, catalog: Catalog) -> list[Region]:
    """Regions that the request chooses by name, country or part of the world; none where it leaves
    the place open."""
    places = limit_places(request, catalog.regions)
    return places.admitted if places.limits else []
