"""Tables of an answer: what to buy and when, outcomes, energy, owning against renting by two.

Plain arrangements of the answer's own figures, so that a table never disagrees with a chart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from planner.contract.answer.common import Category
from planner.contract.answer.comparison import ComparisonAnswer, OfferUsed, ServerUsed
from planner.contract.answer.energy import ScenarioEnergy
from planner.contract.answer.portfolio import PortfolioLine
from planner.contract.answer.scenario import CostLine, Purchase, ScenarioAnswer, SourceCost
from planner.contract.months import format_month, name_day, name_month
from planner.web.answer.place_names import name_place, with_place
from planner.web.answer.scenario_rows import ScenarioRow
from planner.web.common.formatting import money, plain, singular, unit_words

PURCHASE_VERBS: Mapping[str, str] = {
    "server": "bought",
    "commitment": "committed",
    "capacity_block": "reserved by date",
}


@dataclass(frozen=True)
class PurchaseRow:
    """One purchase of the shown plan, with its months written out."""

    purchase: Purchase
    month: str
    first: str
    last: str
    fittings: Decimal = Decimal(0)
    """What network, storage, spares and installation of the servers cost beside their invoice."""
    idle: str = ""
    """The months in service in which it has no work: `March 2027 to May 2027, September 2027`."""

    @property
    def units(self) -> str:
        """`1 server`, `2 commitments`, `738.02 machine-hours`."""
        unit, units = unit_words(self.purchase.unit), round(self.purchase.units, 2)
        return f"{plain(units)} {singular(unit) if units == 1 else unit}"

    @property
    def how(self) -> str:
        """Bought, committed to or reserved by date."""
        return PURCHASE_VERBS[self.purchase.kind]


@dataclass(frozen=True)
class SourceRow:
    """An offer or server of the shown plan with what it costs altogether."""

    cost: SourceCost
    offer: OfferUsed | None
    server: ServerUsed | None
    where: str
    """The place as people call it; "own" for servers."""
    currency: str

    @property
    def what(self) -> str:
        """The machine; its place stands in a column of its own."""
        return self.offer.instance_type if self.offer else self.cost.label

    @property
    def price_source(self) -> str:
        """Where the price comes from."""
        if self.server is None:
            return self.offer.source if self.offer else ""
        is_own = self.server.price_source == "request"
        return f"{'your own figure' if is_own else self.server.price_source}{self._price_range()}"

    def _price_range(self) -> str:
        """Between which prices a server may be bought; nothing of a firm one."""
        server = self.server
        if server is None or server.unit_price_p10 is None or server.unit_price_p90 is None:
            return ""
        low, high = (
            money(p, self.currency) for p in (server.unit_price_p10, server.unit_price_p90)
        )
        ends = f"{low} to {high}"
        count = server.price_quotes
        return f"; {ends} by {count} dated quotes" if count else f"; {ends} assumed"

    @property
    def price_date(self) -> str:
        """Day of an offer's price, year of a server's."""
        if self.server is not None:
            return str(self.server.price_year or "")
        if self.offer is None:
            return ""
        return name_day(self.offer.as_of) if self.offer.as_of else "undated"

    @property
    def quantity_digits(self) -> int:
        """Decimals with which price × quantity is the amount shown."""
        return 0 if self.cost.quantity == round(self.cost.quantity) else 2


@dataclass(frozen=True)
class EnergyRow:
    """Energy and carbon of one scenario."""

    title: str
    energy: ScenarioEnergy

    @property
    def kg_co2e(self) -> float | None:
        """Carbon of the grids that are known, None where none is."""
        return self.energy.kg_co2e_of_known_grid

    @property
    def is_unknown(self) -> bool:
        """Whether none of the energy comes from a grid that we know."""
        return self.kg_co2e is None

    @property
    def sources(self) -> list[str]:
        """Where the carbon figures come from, each once."""
        names = (source.carbon_source for source in self.energy.sources)
        return list(dict.fromkeys(name for name in names if name))


@dataclass(frozen=True)
class GridCell:
    """Owning less renting at one utilisation and price."""

    difference: Decimal | None

    @property
    def winner(self) -> str:
        if self.difference is None:
            return "not known"
        return "own" if self.difference < 0 else "rent"

    @property
    def saving(self) -> Decimal | None:
        """What the cheaper of the two saves."""
        return None if self.difference is None else abs(self.difference)


@dataclass(frozen=True)
class Grid:
    """When owning is the cheaper: a row for each utilisation, a column for each price."""

    server: str
    against: str
    factors: tuple[float, ...]
    rows: tuple[tuple[float, tuple[tuple[float, GridCell], ...]], ...]
    """Utilisation, and a cell with the factor of the price for each column."""


def purchase_rows(answer: ComparisonAnswer, scenario: ScenarioAnswer) -> list[PurchaseRow]:
    """What a plan buys, commits to and reserves, in order of months."""

    def written(index: int) -> str:
        return name_month(format_month(answer.month(index)))

    fittings = sum_fittings(scenario.lines)
    return [
        PurchaseRow(
            one,
            written(one.month),
            written(one.first),
            written(one.last),
            fittings.pop((one.source, one.month), Decimal(0)),
            ", ".join(_write_runs(one.idle_months, written)),
        )
        for one in scenario.purchases
    ]


def _write_runs(months: Sequence[int], written: Callable[[int], str]) -> Iterator[str]:
    """Months that follow one another as one span.

    >>> list(_write_runs([2, 3, 4, 8], str))
    ['2 to 4', '8']
    """
    for first in (month for month in months if month - 1 not in months):
        last = next(month for month in months if month >= first and month + 1 not in months)
        yield written(first) if first == last else f"{written(first)} to {written(last)}"


_FITTINGS = (Category.INSTALL, Category.NETWORK_STORAGE, Category.SPARES)


def sum_fittings(
    lines: Iterable[CostLine | PortfolioLine],
) -> dict[tuple[str, int], Decimal]:
    """What is due for network, spares and installation beside a price, by source and month."""
    fittings: dict[tuple[str, int], Decimal] = defaultdict(Decimal)
    for line in lines:
        if line.category in _FITTINGS:
            fittings[line.source, line.month] += line.amount
    return fittings


def source_rows(answer: ComparisonAnswer, scenario: ScenarioAnswer) -> list[SourceRow]:
    """Offers and servers behind a plan, the dearest first."""
    return cost_rows(scenario.costs_by_source, answer, answer.region_names)


class HasPrices(Protocol):
    """An answer with the offers and servers that it uses."""

    @property
    def offers(self) -> dict[str, OfferUsed]: ...
    @property
    def servers(self) -> tuple[ServerUsed, ...]: ...
    @property
    def currency(self) -> str: ...


def cost_rows(
    costs: Iterable[SourceCost], answer: HasPrices, region_names: Mapping[str, str]
) -> list[SourceRow]:
    """Costs of offers and servers, each with where its price is from."""
    servers = {server.key: server for server in answer.servers}
    return [
        SourceRow(
            one,
            answer.offers.get(one.offer_id),
            servers.get(one.source),
            name_place(one.provider, one.region, region_names) or "own",
            answer.currency,
        )
        for one in costs
    ]


def energy_rows(rows: Iterable[ScenarioRow]) -> list[EnergyRow]:
    """Energy and carbon of each plan."""
    return [EnergyRow(r.title, r.scenario.energy) for r in rows if r.scenario.energy]


def price_grid(answer: ComparisonAnswer) -> Grid | None:
    """The two-way grid with the names of what is compared in it."""
    grid = answer.price_grid
    if grid is None:
        return None
    rows = zip(grid.utilisations, grid.difference, strict=True)
    return Grid(
        server=answer.labels.get(grid.server, grid.server),
        against=with_place(
            grid.against, answer.labels.get(grid.against, grid.against), answer.region_names
        ),
        factors=grid.price_factors,
        rows=tuple(
            (use, tuple(zip(grid.price_factors, map(GridCell, costs), strict=True)))
            for use, costs in rows
        ),
    )
