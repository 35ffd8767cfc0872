"""What a request cannot ask for, once market, terms and demand are known. PURE."""

from __future__ import annotations

from planner.costing.assumptions import Assumptions
from planner.request import ComparisonRequest
from planner.sizing.demand import Demand
from planner.sizing.workload import AcceleratorHours
from pricing.accelerators import all_accelerators
from pricing.invalid_input import InvalidInput
from pricing.snapshot import Catalog

LEAST_PEAK_HOURS = 0.001
"""Hours for which the peak of a month must be up at least: 3.6 s."""


def refuse_unknown_names(request: ComparisonRequest, catalog: Catalog) -> None:
    """Raise `InvalidInput` for a provider, region or geography that nothing is sold in, a quota
    of an unknown provider, or an interconnect that no accelerator has."""
    own = request.custom_offers
    limits = request.constraints
    _refuse_unknown_interconnect(limits.interconnect)
    if not request.use_catalog:
        return
    known = {
        "providers": {o.provider for o in own},
        "regions": {o.region for o in own},
        "geographies": set(),
    }
    for name, mine in known.items():
        wanted = [value for value in getattr(limits, name) or () if value not in mine]
        try:
            catalog.refuse_unknown(**{name: wanted})
        except InvalidInput as error:
            raise error.under("constraints") from error
    for i, quota in enumerate(limits.quotas):
        if quota.provider not in known["providers"]:
            field = f"constraints.quotas.{i}.provider"
            catalog.refuse("providers", [quota.provider], field)


def _refuse_unknown_interconnect(name: str | None) -> None:
    if name is None:
        return
    known = sorted({a.interconnect for a in all_accelerators() if a.interconnect})
    if not any(name.lower() in one.lower() for one in known):
        raise InvalidInput(
            "constraints.interconnect",
            f"{name!r} is no known interconnect; allowed are {', '.join(known)}",
        )


def refuse_clashing_terms(terms: Assumptions) -> None:
    """Raise `InvalidInput` for a useful life that is over when the server arrives."""
    life, lead = terms["useful_life_months"], terms["lead_time_months"]
    if life <= lead:
        raise InvalidInput(
            "on_prem.useful_life_months",
            f"{life:g} is no longer than the lead time of {lead:g} months; "
            f"allowed are more than {lead:g}",
        )


def refuse_a_blink(request: ComparisonRequest, demand: Demand) -> None:
    """Raise `InvalidInput` for given hours that are over in seconds at their peak."""
    if not isinstance(request.workload, AcceleratorHours):
        return
    at_work = demand.hours_per_month > 0
    least = (demand.hours_per_month[at_work] / demand.peak_accelerators[at_work]).min()
    if least < LEAST_PEAK_HOURS:
        raise InvalidInput(
            "workload.hours_per_month",
            f"keeps its peak busy for {least:.3g} h in a month; "
            f"allowed are {LEAST_PEAK_HOURS:g} h or more, or 0",
        )
