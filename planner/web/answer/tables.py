"""Tables of an answer: what to buy and when, outcomes, energy.

Plain arrangements of the answer's own figures, so that a table never disagrees with a chart.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from planner.contract import amounts
from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer, OfferUsed, ServerUsed
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.risk import CostRange
from planner.contract.answer.scenario import FiscalYearFinance, Purchase, ScenarioAnswer, SourceCost
from planner.contract.labels import (
    SCENARIO_TITLES,
    UNNAMED_REGION,
    cloud_title,
    join_place,
    unit_words,
)
from planner.exports.focus import describe_discount
from planner.web.common.formatting import money, plain, singular
from pricing.common.words import capitalize_first

PURCHASE_VERBS: Mapping[str, str] = {
    "server": "bought",
    "commitment": "committed",
    "capacity_block": "reserved by date",
}


@dataclass(frozen=True)
class PurchaseRow:
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
        unit, units = unit_words(self.purchase.unit), round(self.purchase.units, 2)
        return f"{plain(units)} {singular(unit) if units == 1 else unit}"

    @property
    def service(self) -> str:
        return self.first if self.first == self.last else f"{self.first} to {self.last}"

    @property
    def how(self) -> str:
        return PURCHASE_VERBS[self.purchase.kind]


@dataclass(frozen=True)
class SourceRow:
    cost: SourceCost
    offer: OfferUsed | None
    server: ServerUsed | None
    where: str
    """The place as people call it; "own" for servers."""
    currency: str

    @property
    def what(self) -> str:
        return self.offer.instance_type if self.offer else self.cost.label

    @property
    def price_source(self) -> str:
        server = self.server
        if server is None:
            offer = self.offer
            discount = (
                describe_discount(offer.multiplier) if offer and offer.multiplier != 1 else ""
            )
            return ", ".join(filter(None, (offer.source, discount))) if offer else ""
        source = "your own figure" if server.price_source == "request" else server.price_source
        low, high = server.unit_price_p10, server.unit_price_p90
        if low is None or high is None:
            return source
        count = server.price_quotes
        basis = f"by {count} dated quotes" if count else "assumed"
        return f"{source}; {money(low, self.currency)} to {money(high, self.currency)} {basis}"

    @property
    def price_date(self) -> str:
        if self.server is not None:
            return str(self.server.price_year or "")
        if self.offer is None:
            return ""
        return amounts.name_day(self.offer.as_of) if self.offer.as_of else "undated"

    @property
    def is_whole(self) -> bool:
        return self.cost.quantity == round(self.cost.quantity)


def purchase_rows(
    answer: ComparisonAnswer | PortfolioAnswer, plan: ScenarioAnswer | PortfolioAnswer
) -> list[PurchaseRow]:
    def written(index: int) -> str:
        return amounts.name_month(amounts.format_month(answer.month(index)))

    fittings: dict[tuple[str, int], Decimal] = defaultdict(Decimal)
    for line in plan.lines:
        if line.category in _FITTINGS:
            fittings[line.source, line.month] += line.amount
    return [
        PurchaseRow(
            one,
            written(one.month),
            written(one.first),
            written(one.last),
            fittings.pop((one.source, one.month), Decimal(0)),
            ", ".join(_write_runs(one.idle_months, written)),
        )
        for one in plan.purchases
    ]


def _write_runs(months: Sequence[int], written: Callable[[int], str]) -> Iterator[str]:
    for first in (month for month in months if month - 1 not in months):
        last = next(month for month in months if month >= first and month + 1 not in months)
        yield written(first) if first == last else f"{written(first)} to {written(last)}"


_FITTINGS = (Category.INSTALL, Category.NETWORK_STORAGE, Category.SPARES)


def cost_rows(
    costs: Iterable[SourceCost],
    answer: ComparisonAnswer | PortfolioAnswer,
    region_names: Mapping[str, str],
) -> list[SourceRow]:
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


def name_place(provider: str, region: str, names: Mapping[str, str]) -> str:
    """A place as people call it; `names` are the answer's regions by provider and id."""
    return join_place(provider, names.get(f"{provider}:{region}", region))


def with_place(key: str, label: str, names: Mapping[str, str]) -> str:
    """The label of an offer with its region's id replaced by what people call it, before the zone
    that its price holds in.

    `key` is the offer's id, which begins with provider, region and zone; other labels stay.
    """
    provider, _, rest = key.partition(":")
    region, _, zone = rest.partition(":")[0].partition("/")
    known = names.get(f"{provider}:{region}")
    if region == UNNAMED_REGION:
        known = cloud_title(provider)
    if not known:
        return label
    return label.replace(
        f" in {zone or region}", f" in {', '.join(filter(None, (known, zone)))}", 1
    )


_FISCAL = {
    "Cash": "cash", "Capital": "capital", "Operating": "operating", "Depreciation": "depreciation",
    "Leases": "lease", "Interest": "interest", "Resale": "resale", "Tax": "tax", "Cost": "cost",
    "Loan owed": "loan",
}  # fmt: skip


@dataclass(frozen=True)
class FiscalTable:
    """Amounts by fiscal year; what is nothing in every year has no column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[FiscalYearFinance, list[Decimal]], ...]

    @classmethod
    def of(cls, years: Sequence[FiscalYearFinance]) -> FiscalTable:
        shown = [title for title, name in _FISCAL.items() if any(getattr(y, name) for y in years)]
        rows = ((year, [getattr(year, _FISCAL[title]) for title in shown]) for year in years)
        return cls(tuple(shown), tuple(rows))


_RENTED = (Category.COMPUTE, Category.COMMITMENT)


@dataclass(frozen=True)
class Span:
    """Where a row's bar lies on an axis of 0 to 100 that all rows share."""

    at: float
    """The total."""
    left: float = 0.0
    """10th percentile."""
    width: float = 0.0
    """From there to the 90th."""


@dataclass(frozen=True)
class ScenarioRow:
    """Scenarios with the same plan, or one that has none."""

    scenario: ScenarioAnswer
    """The first of them; the advised one where it is among them."""
    keys: tuple[ScenarioKey, ...]
    is_best: bool
    range: CostRange | None = None
    probability_cheapest: float | None = None
    """Share of the simulated outcomes in which one of them is the cheapest."""
    cheapest_in: str = ""
    """The same in per cent; those of all rows add up to 100.0% as shown."""
    span: Span | None = None
    less_than_on_demand: Decimal | None = None
    """The total on demand less this one, both as shown."""
    oldest_price: dt.date | None = None
    """Day of the oldest price that the plan pays for offers; None where none has a date."""

    @property
    def title(self) -> str:
        """The plainest of them: what only rents is not called by an owning scenario."""
        return SCENARIO_TITLES[self.keys[0]]

    @property
    def carbon_sources(self) -> list[str]:
        sources = self.scenario.energy.sources if self.scenario.energy else ()
        return list(dict.fromkeys(one.carbon_source for one in sources if one.carbon_source))

    @property
    def ends(self) -> list[float]:
        """Its total and the range of it; none without a plan."""
        if self.scenario.total_cost is None:
            return []
        spread = (self.range.total_p10, self.range.total_p90) if self.range else ()
        return [float(one) for one in (self.scenario.total_cost, *spread) if one is not None]

    @property
    def has_range(self) -> bool:
        return self.range is not None and None not in (self.range.total_p10, self.range.total_p90)

    @property
    def note(self) -> str:
        """Which scenarios are the same, and what the plan holds that the title does not say."""
        others = [SCENARIO_TITLES[key].lower() for key in self.keys[1:]]
        same = " and ".join(", ".join(others).rsplit(", ", 1)) + ": the same plan" if others else ""
        if not self.scenario.feasible:
            return capitalize_first(same.removesuffix(" plan"))
        rents = any(category in self.scenario.cost_by_category for category in _RENTED)
        is_named_for_owning = self.keys[0] is ScenarioKey.ON_PREM and rents
        beside = "machines rented before and alongside its servers" if is_named_for_owning else ""
        return capitalize_first("; ".join(filter(None, (same, beside))))


def scenario_rows(answer: ComparisonAnswer) -> list[ScenarioRow]:
    """The advised plan first, then the others by their total, those without a plan last."""
    groups: list[list[ScenarioAnswer]] = []
    best = answer.recommendation.scenario
    for scenario in sorted(
        answer.scenarios,
        key=lambda s: (s.key is not best, not s.feasible, s.total_cost or Decimal(0)),
    ):
        same = next((group for group in groups if _plan_of(group[0]) == _plan_of(scenario)), None)
        groups.append([scenario]) if same is None else same.append(scenario)
    rows = [_row(answer, group) for group in groups]
    chances = [row.probability_cheapest for row in rows if row.probability_cheapest is not None]
    shares = iter(amounts.format_shares(chances, 1))
    ends = [0.0, *(end for row in rows for end in row.ends)]
    low, wide = min(ends), max(ends) - min(ends)

    def span(at: float, *spread: float) -> Span:
        share, *shares = (round(100 * (end - low) / wide, 2) for end in (at, *spread))
        return Span(share, shares[0], round(shares[1] - shares[0], 2)) if shares else Span(share)

    return [
        replace(
            row,
            cheapest_in="" if row.probability_cheapest is None else next(shares),
            span=span(*row.ends) if row.ends and wide else None,
        )
        for row in rows
    ]


def _plan_of(one: ScenarioAnswer) -> tuple[object, ...]:
    """What two scenarios with the same plan, or with the same reasons for none, have alike."""
    plan = (one.total_cost, one.lines) if one.feasible else one.why_not
    return one.feasible, one.allowed, plan


def _row(answer: ComparisonAnswer, group: Sequence[ScenarioAnswer]) -> ScenarioRow:
    keys = {scenario.key for scenario in group}
    rent, total = answer.by_key[ScenarioKey.ON_DEMAND].total_cost, group[0].total_cost
    offers = (answer.offers.get(row.source) for row in group[0].costs_by_source)
    risk = answer.risk
    chances = risk.probability_cheapest if risk else {}
    likely = [chances[key] for key in keys if key in chances]
    return ScenarioRow(
        scenario=group[0],
        keys=tuple(key for key in ScenarioKey if key in keys),
        is_best=answer.recommendation.scenario in keys,
        less_than_on_demand=(
            None if rent is None or total is None else amounts.subtract_as_shown(rent, total)
        ),
        oldest_price=min((one.as_of for one in offers if one and one.as_of), default=None),
        range=risk.range_of(group[0].key) if risk else None,
        probability_cheapest=sum(likely) if likely else None,
    )
