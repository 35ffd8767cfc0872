"""Tables of an answer: what to buy and when, the offers used, futures, energy, the two-way grid.

Plain arrangements of the answer's own figures, so that a table never disagrees with a chart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.contract.labels import SCENARIO_TITLES
from planner.web.answer.charts import months_of
from pricing.market.offers import HOURS_PER_MONTH

Answer = Mapping[str, Any]
Scenario = Mapping[str, Any]
Line = Mapping[str, Any]

_LINE_SOURCES = ("compute", "commitment", "upfront", "capex")


@dataclass(frozen=True)
class Purchase:
    """Something begun in a month: bought, committed or paid upfront."""

    month: str
    label: str
    what: str
    units: float
    amount: Decimal
    per: str = ""
    """`a month` where the amount falls due every month."""


@dataclass(frozen=True)
class UsedOffer:
    """An offer or server of the shown scenario, with what it costs altogether."""

    line: Line
    quantity: float
    amount: Decimal
    offer: Mapping[str, Any] | None


@dataclass(frozen=True)
class FutureRow:
    """A scenario over the futures: its range, how often it is cheapest, what choosing it costs."""

    title: str
    spread: Mapping[str, Any]
    probability_cheapest: float | None
    regret: str | None
    is_best: bool


@dataclass(frozen=True)
class EnergyRow:
    title: str
    energy: Mapping[str, Any]

    @property
    def kg_co2e(self) -> float | None:
        """Carbon of the grids that are known, None where none is; answers saved before there
        was a figure for a part gave that one, and 0 for none."""
        if "kg_co2e_of_known_grid" in self.energy:
            found: float | None = self.energy["kg_co2e_of_known_grid"]
        else:
            found = self.energy["kg_co2e"] or (None if self.energy["kwh_of_unknown_grid"] else 0.0)
        return found

    @property
    def is_unknown(self) -> bool:
        """Whether none of the energy comes from a grid that we know."""
        return self.kg_co2e is None

    @property
    def sources(self) -> list[str]:
        """Where the carbon figures come from, each once."""
        found = (draw.get("carbon_source") for draw in self.energy["sources"])
        return list(dict.fromkeys(source for source in found if source))


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
    def saved(self) -> Decimal | None:
        """What the cheaper of the two saves."""
        return None if self.difference is None else abs(self.difference)


@dataclass(frozen=True)
class Grid:
    """When owning is the cheaper: a row for each utilisation, a column for each price."""

    server: str
    against: str
    factors: tuple[float, ...]
    rows: tuple[tuple[float, tuple[GridCell, ...]], ...]


def purchases_of(answer: Answer, scenario: Scenario) -> list[Purchase]:
    """What a plan begins, in order of months."""
    labels = [*months_of(answer), "end"]
    once = [line for line in scenario["lines"] if line["category"] in ("capex", "upfront")]
    bought = [
        (
            int(line["month"]),
            Purchase(
                labels[int(line["month"])],
                line["label"],
                "bought" if line["category"] == "capex" else "paid upfront",
                float(line["quantity"]),
                Decimal(line["amount"]),
            ),
        )
        for line in once
    ]
    committed = list(_commitments(scenario["lines"], labels))
    return [purchase for _, purchase in sorted([*bought, *committed], key=lambda p: p[0])]


def _commitments(lines: list[Line], labels: list[str]) -> Iterator[tuple[int, Purchase]]:
    """Units by which a commitment grows from one month to the next."""
    by_offer: dict[str, dict[int, Line]] = defaultdict(dict)
    for line in lines:
        if line["category"] == "commitment":
            by_offer[line["offer_id"] or line["label"]][int(line["month"])] = line
    for months in by_offer.values():
        for month, line in months.items():
            before = months.get(month - 1)
            more = float(line["quantity"]) - (float(before["quantity"]) if before else 0.0)
            if more > 0:
                amount = Decimal(str(more)) * Decimal(line["unit_price"])
                yield (
                    month,
                    Purchase(
                        labels[month],
                        line["label"],
                        "committed",
                        more / HOURS_PER_MONTH,
                        amount,
                        "a month",
                    ),
                )


def used_of(answer: Answer, scenario: Scenario) -> list[UsedOffer]:
    """Offers and servers behind a plan, the dearest first."""
    sums: dict[str, list[Line]] = defaultdict(list)
    for line in scenario["lines"]:
        if line["category"] in _LINE_SOURCES:
            sums[line["offer_id"] or line["label"]].append(line)
    rows = [
        UsedOffer(
            line=lines[0],
            quantity=sum(float(line["quantity"]) for line in lines),
            amount=sum((Decimal(line["amount"]) for line in lines), Decimal(0)),
            offer=answer["offers"].get(key),
        )
        for key, lines in sums.items()
    ]
    return sorted(rows, key=lambda row: -row.amount)


def futures_of(answer: Answer) -> list[FutureRow]:
    """One row for each scenario that the futures were tried on."""
    risk = answer.get("risk") or {}
    likely, regret = risk.get("probability_cheapest") or {}, risk.get("regret") or {}
    best = answer["recommendation"].get("scenario")
    return [
        FutureRow(title, risk[key], likely.get(key), regret.get(key), key == best)
        for key, title in SCENARIO_TITLES.items()
        if isinstance(risk.get(key), Mapping)
    ]


def energy_of(answer: Answer) -> list[EnergyRow]:
    """Energy and carbon of each feasible scenario."""
    return [
        EnergyRow(SCENARIO_TITLES[one["key"]], one["energy"])
        for one in answer["scenarios"]
        if one["feasible"] and one.get("energy")
    ]


def grid_of(answer: Answer) -> Grid | None:
    """The two-way grid with the words of what is compared in it."""
    found = answer.get("price_grid")
    if not found:
        return None
    labels = {one["key"]: one["label"] for one in answer["servers"]}
    labels |= {key: offer["label"] for key, offer in answer["offers"].items()}
    curve = answer.get("cost_curve") or {}
    labels |= {one["key"]: one["label"] for one in curve.get("series", [])}
    return Grid(
        server=labels.get(found["server"], found["server"]),
        against=labels.get(found["against"], found["against"]),
        factors=tuple(found["price_factors"]),
        rows=tuple(
            (use, tuple(GridCell(None if cost is None else Decimal(cost)) for cost in costs))
            for use, costs in zip(found["utilisations"], found["difference"], strict=True)
        ),
    )
