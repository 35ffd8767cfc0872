"""Energy and carbon of a scenario: kWh at the meter, kg CO2e by the grid of each place. PURE.

A figure that is not known is None with the reasons beside it, never 0.

Owned servers draw what their electricity lines bill: (power · hours used + idle power · other
hours) · PUE. A rented node draws per hour of use TDP · what servers were
measured to draw over it · PUE, and of a
committed node that stands idle the idle share of it. What is unknown is left out and named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.inputs.servers import IDLE_SHARE
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.sizing.performance.goodput import energy_kwh
from pricing.market import accelerators
from pricing.market.offers import HOURS_PER_MONTH
from pricing.market.snapshot import Catalog

CLOUD_PUE = 1.1
"""Power usage effectiveness of large clouds: Google fleet 1.1 (2024); default for hyperscalers
of Epoch AI, training-cost-trends @263c40a15930."""
TPU_POWER_FACTOR, TPU_POWER_LOAD = 1.56, 0.43
"""Server power over chip TDP, and average load, of TPU v4 (Epoch AI, as above, 2024)."""
ON_PREM_G_CO2E_PER_KWH = 415.755
"""Grid of the owned servers unless given, g CO2e/kWh: eastern United States (EPA, by
cloud-carbon-footprint/cloud-carbon-coefficients @dda7621, 2023), as the default tariff is
American too."""
ON_PREM_SOURCE = "eastern United States, EPA 2023 (cloud-carbon-coefficients @dda7621)"

Intensity = Callable[[str, str], tuple[float, str] | None]
"""(provider, region) → g CO2e/kWh and its source; None where it is not known."""


@dataclass(frozen=True)
class SourceEnergy:
    """Energy of one source over the horizon."""

    source: str
    place: str
    """Provider and region; "" for owned servers."""
    kwh: float
    kg_co2e: float | None
    """None where the grid of the place is not known."""
    g_co2e_per_kwh: float | None
    carbon_source: str
    method: str


@dataclass(frozen=True)
class Energy:
    """Energy and carbon of a scenario."""

    by_source: tuple[SourceEnergy, ...]
    unknown_power: tuple[str, ...] = ()
    """Sources whose power is not known."""

    @property
    def kwh(self) -> float | None:
        """Energy at the meter, of the sources whose power is known; None if it is of none."""
        if self.unknown_power and not self.by_source:
            return None
        return sum(entry.kwh for entry in self.by_source)

    @property
    def kg_co2e(self) -> float | None:
        """Carbon of all of it; None unless every power and every grid is known."""
        return None if self.why_not else sum(entry.kg_co2e or 0.0 for entry in self.by_source)

    @property
    def kg_co2e_of_known_grid(self) -> float | None:
        """The part of the carbon that is known; None where none of it is."""
        known_carbon = [entry.kg_co2e for entry in self.by_source if entry.kg_co2e is not None]
        return sum(known_carbon) if known_carbon or not self.why_not else None

    @property
    def why_not(self) -> tuple[str, ...]:
        """Why the carbon of all of it is not known; () where it is."""
        places = dict.fromkeys(entry.place for entry in self.by_source if entry.kg_co2e is None)
        grids = [f"the carbon of the grid of {place} is not known" for place in places]
        return (*grids, *(f"the power of {source} is not known" for source in self.unknown_power))

    @property
    def kwh_of_unknown_grid(self) -> float:
        """Energy in places whose grid is not known: its carbon is in no figure."""
        return sum(entry.kwh for entry in self.by_source if entry.kg_co2e is None)


@dataclass(frozen=True)
class GridCarbon:
    """Carbon of the electricity of each place."""

    catalog: Catalog
    on_prem: float | None = None
    """g CO2e/kWh of the owned servers, if the request gives it."""

    def intensity(self, provider: str, region: str) -> tuple[float, str] | None:
        """g CO2e/kWh of a place and its source; owned servers have no provider."""
        if not provider:
            carbon = self.on_prem
            return (
                (ON_PREM_G_CO2E_PER_KWH, ON_PREM_SOURCE) if carbon is None else (carbon, "request")
            )
        place = self.catalog.region(provider, region)
        if place is None or place.g_co2e_per_kwh is None:
            return None
        return place.g_co2e_per_kwh, place.carbon_source


def calculate_energy(scenario: Scenario, inputs: ModelInputs, intensity: Intensity) -> Energy:
    """Energy and carbon of every source that the scenario keeps in service or uses."""
    by_source, unknown_power = [], []
    for key, source in inputs.by_key.items():
        hours_used = float(np.sum(scenario.used_hours.get(key, 0.0)))
        hours_in_service = 0.0
        if source.term is not None:
            nothing = np.zeros(source.term.months)
            started = np.asarray(scenario.units_started.get(key, nothing), dtype=float)
            hours_in_service = float(source.units_in_service(started).sum()) * HOURS_PER_MONTH
        if not hours_used and not hours_in_service:
            continue
        idle = max(0.0, hours_in_service - hours_used)
        estimate = _kwh(source, hours_used, idle)
        if estimate is None:
            unknown_power.append(key)
            continue
        kwh, method = estimate
        grid = intensity(source.provider, source.region)
        by_source.append(
            SourceEnergy(
                key,
                f"{source.provider} {source.region}".strip(),
                kwh,
                None if grid is None else kwh * grid[0] / 1000.0,
                None if grid is None else grid[0],
                "" if grid is None else grid[1],
                method,
            )
        )
    return Energy(tuple(by_source), tuple(unknown_power))


def _kwh(source: CapacitySource, hours_used: float, idle: float) -> tuple[float, str] | None:
    if source.is_owned:
        if not source.power_kw:
            return None
        kw_hours = source.power_kw * hours_used + source.idle_power_kw * idle
        return kw_hours * source.pue, "power at load and idle of the server, × PUE"
    power = node_power_kw(source.accelerator, source.accelerators)
    if power is None:
        return None
    billed = hours_used / source.goodput
    method = "TDP × measured draw of servers over it × PUE of large clouds"
    return (billed + idle * IDLE_SHARE) * power * CLOUD_PUE, method


def node_power_kw(slug: str, count: float) -> float | None:
    """Average draw at work of a node of `count` accelerators; None without a TDP.

    >>> round(node_power_kw("nvidia-h100-80gb-sxm", 8), 2)
    7.15
    """
    sheet = accelerators.get(slug)
    if sheet.accelerator_class == "tpu" and sheet.tdp_w is not None:
        return count * sheet.tdp_w / 1000.0 * TPU_POWER_FACTOR * TPU_POWER_LOAD
    return energy_kwh(sheet, count)
