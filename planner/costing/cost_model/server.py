"""A server as the request and the reference list describe it, before its charges. PURE."""

from __future__ import annotations

from dataclasses import dataclass

from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model.financing import Financing
from planner.costing.cost_model.purchase_risk import DeliveryRisk, PriceRange
from pricing.common.copies import replace


@dataclass(frozen=True)
class ServerToBuy:
    """One kind of server as the request and the reference list describe it."""

    slug: str
    label: str
    accelerator: str
    accelerator_count: float
    unit_price: float
    """In the request's currency."""
    power_kw: float
    """Nameplate, for which colocation is paid."""
    idle_power_kw: float
    running_cost_per_hour: float | None = None
    max_units: int | None = None
    source: str = "request"
    price_year: int | None = None
    is_workstation: bool = False
    """Whether it stands under a desk rather than in a rack."""
    comes_from_stock: bool = False
    """Whether it has the lead time of workstations."""
    stands_alone: bool = False
    """Whether it is known to have no network that joins several of it for one job."""
    is_hosted: bool = True
    """Whether its place and power in a data centre are paid for."""
    typical_power_kw: float | None = None
    """Average draw at work; None: the nameplate."""
    rack_units: float | None = None
    """Height; None: not known."""
    site: str = ""
    """Site where it is put; "" where sites have no limits."""
    financing: Financing | None = None
    """Contract under which it is paid; None: its price is paid at once."""

    reference: str = ""
    """Slug of the reference server that it is; "" for one of the request's own."""
    price_range: PriceRange | None = None
    """Where its price lies; None: firm."""
    delivery: DeliveryRisk | None = None
    """By how much it may come late; None: when planned."""
    certain_delay_months: int = 0
    """By how much it comes late whatever happens, which is part of its lead time."""

    own_figures: tuple[tuple[str, float], ...] = ()
    """Assumptions that are its own: name and value."""

    def assumptions(self, of_all: Assumptions) -> Assumptions:
        """Those of all servers, its own in their place."""
        if not self.own_figures:
            return of_all
        return replace(of_all, values={**of_all.values, **dict(self.own_figures)})

    def at_price(self, factor: float, in_range: bool) -> ServerToBuy:
        """The same at `factor` times its price, `in_range` within the range of its price."""
        if in_range and self.price_range is not None:
            factor = self.price_range.clip(factor)
        return replace(self, unit_price=self.unit_price * factor)

    @property
    def is_leased(self) -> bool:
        """Whether it goes back to its owner in the end."""
        return self.financing is not None and self.financing.is_lease

    @property
    def draw_kw(self) -> float:
        """Draw at work, which its electricity follows."""
        return self.power_kw if self.typical_power_kw is None else self.typical_power_kw


@dataclass(frozen=True)
class ServerBatch:
    """Servers already owned."""

    units: int
    age_months: int
    """Months from purchase to the plan's start."""
