"""What a request says of some offers: limits that they meet, quotas that count them, discounts on
them. PURE."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planner.contract.accelerator_names import find_software
from planner.contract.labels import LIMIT_TITLES, cloud_title
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import Constraints, PriceAdjustment
from planner.contract.request.on_prem import Existing
from planner.contract.request.rules import ANY, PlaceLimit, PlaceLimits, PlanRules
from planner.costing.inputs.existing import SupplyLimits
from planner.costing.optimizer.problem import Quota
from pricing.market.accelerators import get, resolve
from pricing.market.clouds import CLOUD_PARTITIONS, PARTITIONS
from pricing.market.offer_table import OfferTable
from pricing.market.offers import PurchaseOption

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
NONE_FITS = ("no accelerator fits",)
"""Stands for slugs where no accelerator can do the work, as no slugs admit every one."""
WHOLE_NODE = 1.0
"""Least accelerators of a node unless the request says otherwise: a share of a card does not
hold the memory of a whole one."""


@dataclass(frozen=True)
class Filters:
    """The limits that tell which offers are eligible wherever they are, by the field that sets
    them."""

    accelerators: tuple[str, ...]
    providers: tuple[str, ...] = ()
    purchase_options: tuple[str, ...] = ()
    min_accelerator_memory_gib: float | None = None
    min_accelerators_per_node: float | None = None
    interconnect: str | None = None
    max_term_months: int | None = None

    @classmethod
    def of(cls, limits: Constraints, accelerators: tuple[str, ...]) -> Filters:
        """Those of a request, for some accelerators."""
        return cls(
            accelerators=accelerators,
            providers=limits.providers or (),
            purchase_options=tuple(option.value for option in limits.purchase_options or ()),
            min_accelerator_memory_gib=limits.min_accelerator_memory_gib,
            min_accelerators_per_node=limits.min_accelerators_per_node or WHOLE_NODE,
            interconnect=limits.interconnect,
            max_term_months=limits.max_term_months,
        )

    def rows(self, table: OfferTable) -> Rows:
        """Rows on sale that meet every limit and have a price."""
        rows = table.select(
            self.providers,
            accelerators=self.accelerators,
            purchase_options=self.purchase_options,
            min_accelerator_memory_gib=self.min_accelerator_memory_gib,
            min_accelerators_per_node=self.min_accelerators_per_node,
            interconnect=self.interconnect,
        )
        if self.max_term_months is not None:
            rows = rows[table.term_months[rows] <= self.max_term_months]
        names = table.purchase_option.names
        binds = np.array([PurchaseOption(name).is_commitment for name in names], dtype=bool)
        is_commitment = binds[table.purchase_option.codes[rows]] if len(rows) else rows > 0
        effective, hourly = table.effective_usd_per_hour[rows], table.usd_per_hour[rows]
        per_hour = np.where(is_commitment, effective, hourly)
        has_term = ~is_commitment | (table.term_months[rows] > 0)
        return rows[np.isfinite(per_hour) & (per_hour > 0) & has_term]

    def active(self) -> list[str]:
        """Names of the limits that the request sets, the workload's accelerators first."""
        names = ["accelerators"] if self.accelerators else []
        for name in (
            "providers",
            "min_accelerator_memory_gib",
            "min_accelerators_per_node",
            "interconnect",
            "max_term_months",
        ):
            if getattr(self, name):
                names.append(name)
        return names

    def restrict_to(self, names: Collection[str]) -> Filters:
        """Nothing but the named limits and the purchase options."""
        selected = {name: getattr(self, name) for name in names}
        return Filters(**{"accelerators": (), "purchase_options": self.purchase_options} | selected)


@dataclass(frozen=True)
class QuotaRule:
    """Which offers a quota counts."""

    group: str
    provider: str
    region: str | None
    accelerator: str | None

    @property
    def words(self) -> str:
        """What people call the quota.

        >>> QuotaRule("", "gcp", "us-central1", "nvidia-h200-141gb-sxm").words
        'quota for H200 SXM 141 GB at Google Cloud us-central1'
        """
        place = " ".join(filter(None, (cloud_title(self.provider), self.region)))
        what = "all accelerators" if self.accelerator is None else get(self.accelerator).name
        return f"quota for {what} at {place}"


@dataclass(frozen=True)
class Adjustment:
    """A contract discount on the catalog prices that match all that is given."""

    multiplier: float
    provider: str | None = None
    family: str | None = None
    region: str | None = None
    purchase_option: str | None = None


def read_adjustment(one: PriceAdjustment) -> Adjustment:
    """A contract discount of a request."""
    return Adjustment(one.multiplier, one.provider, one.family, one.region, one.purchase_option)


def list_provider_groups(existing: Existing) -> Iterator[QuotaRule]:
    """Providers whose offers no other provider's replace, as credits or a minimum spend make
    their prices differ from what they seem."""
    names = {one.provider for one in existing.credits}
    names |= {one.provider for one in existing.minimum_spend}
    yield from (QuotaRule(f"provider {name}", name, None, None) for name in sorted(names))


def depends_on_payments(request: ComparisonRequest) -> bool:
    """Whether it matters in which months a commitment is paid, beside what it costs: under a
    monthly budget, and for credits and minimum spends, which only bills of their months count
    for."""
    return request.constraints.monthly_budget is not None or counts_bills(request)


def counts_bills(request: ComparisonRequest) -> bool:
    """Whether credits or minimum spends count what providers bill."""
    return bool(request.existing.credits or request.existing.minimum_spend)


def parts_nodes(request: ComparisonRequest) -> bool:
    """Whether a limit on spot or on providers may part a machine among offers of its size: part of
    its time is spot, the rest firm."""
    limits = request.constraints
    tells_apart = SupplyLimits.read(limits).tells_providers_apart
    return tells_apart or 0.0 < (limits.max_spot_share or 0.0) < 1.0


def multipliers(table: OfferTable, rows: Rows, adjustments: Sequence[Adjustment]) -> Floats:
    """[row] product of the adjustments for it."""
    total = np.ones(len(rows))
    for rule in adjustments:
        total[match_adjustment(table, rows, rule)] *= rule.multiplier
    return total


def match_adjustment(table: OfferTable, rows: Rows, rule: Adjustment) -> NDArray[np.bool_]:
    """[row] whether an adjustment is for it."""
    hit = np.ones(len(rows), dtype=bool)
    for column, name in (
        (table.provider, rule.provider),
        (table.region, rule.region),
        (table.purchase_option, rule.purchase_option),
    ):
        if name is not None:
            hit &= column.match_names([name])[column.codes[rows]]
    if rule.family is not None:
        names = [n for n in table.instance_type.names if belongs_to_family(n, rule.family)]
        hit &= table.instance_type.match_names(names)[table.instance_type.codes[rows]]
    return hit


def belongs_to_family(instance_type: str, family: str) -> bool:
    """Whether a machine belongs to a family: its name begins with it, up to a mark or a digit
    where the family ends in a letter.

    >>> belongs_to_family("p5.48xlarge", "p5"), belongs_to_family("p5en.48xlarge", "p5")
    (True, False)
    >>> belongs_to_family("ND96isr_H100_v5", "ND"), belongs_to_family("a3-highgpu-8g", "a3")
    (True, True)
    """
    name = instance_type.lower().removeprefix("standard_")
    start = family.lower().removeprefix("standard_")
    if not name.startswith(start):
        return False
    rest = name[len(start) :]
    return not rest or not rest[0].isalnum() or (start[-1:].isalpha() and rest[0].isdigit())


def quota_bits(table: OfferTable, rows: Rows, quotas: Iterable[QuotaRule]) -> NDArray[np.int64]:
    """[row] bit i is set where quota i counts it."""
    bits = np.zeros(len(rows), dtype=np.int64)
    for i, rule in enumerate(quotas):
        bits[match_quota(table, rows, rule)] |= 1 << i
    return bits


def match_quota(table: OfferTable, rows: Rows, rule: QuotaRule) -> NDArray[np.bool_]:
    """[row] whether a quota counts it."""
    hit = table.provider.match_names([rule.provider])[table.provider.codes[rows]]
    if rule.accelerator is not None:
        hit &= table.accelerator.match_names([rule.accelerator])[table.accelerator.codes[rows]]
    if rule.region is not None:
        hit &= table.region.match_names([rule.region])[table.region.codes[rows]]
    return np.asarray(hit)


Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class GuardRails:
    """The rules of a request as rules on the catalog's offers; offers of its own are exempt."""

    rules: PlanRules
    places: PlaceLimits = field(default_factory=PlaceLimits)
    """The limits on places."""

    def rows(self, table: OfferTable, rows: Rows) -> Rows:
        """Those of `rows` that every rule admits."""
        masks = self._masks_of_machines(table, rows)
        return _admitted_by_all(rows, [*self._masks_of_places(table, rows), *masks.values()])

    def admitted(self, table: OfferTable, rows: Rows) -> dict[str, Rows]:
        """Name of each rule in force, limits on places left out → those of `rows` that it
        admits."""
        masks = self._masks_of_parts(table, rows) | self._masks_of_machines(table, rows)
        return {name: rows[mask] for name, mask in masks.items()}

    def rows_in(self, table: OfferTable, rows: Rows, limit: PlaceLimit) -> Rows:
        """Those of `rows` that keep to one limit on places."""
        return rows[self._is_in(table, rows, limit)]

    def rows_in_places(self, table: OfferTable, rows: Rows) -> Rows:
        """Those of `rows` in the places that may be used, whatever machine they are."""
        return _admitted_by_all(rows, self._masks_of_places(table, rows))

    def runs_on(self, accelerator: str) -> bool:
        """Whether an accelerator runs the software of the request."""
        return self.rules.software in (ANY, find_software(accelerator))

    def _masks_of_machines(self, table: OfferTable, rows: Rows) -> dict[str, Bools]:
        masks = {}
        if self.rules.software != ANY:
            flags = [self.runs_on(slug) for slug in table.accelerator.names]
            of_rows = np.array(flags, dtype=bool)[table.accelerator.codes[rows]]
            masks[LIMIT_TITLES["software"]] = of_rows
        is_sold = _is_sold_on_demand(table, rows)
        masks["the need for a machine that is sold on demand too"] = is_sold
        return masks

    def _masks_of_places(self, table: OfferTable, rows: Rows) -> list[Bools]:
        chosen = [self._is_in(table, rows, limit) for limit in self.places.limits]
        return [*self._masks_of_parts(table, rows).values(), *chosen]

    def _masks_of_parts(self, table: OfferTable, rows: Rows) -> dict[str, Bools]:
        masks = {}
        if set(self.rules.partitions) != set(PARTITIONS):
            parts = [part in self.rules.partitions for part in table.partitions]
            admitted = np.array(parts, dtype=bool)
            is_in = admitted[table.place_codes[rows]]
            if not is_in.all() or self.rules.partitions != CLOUD_PARTITIONS:
                masks[LIMIT_TITLES["partitions"]] = is_in
        return masks

    def _is_in(self, table: OfferTable, rows: Rows, limit: PlaceLimit) -> Bools:
        alone = PlaceLimits((limit,), self.places.regions)
        return self._match_places(table, rows, alone.admits)

    def _match_places(
        self, table: OfferTable, rows: Rows, is_allowed: Callable[[str, str], bool]
    ) -> Bools:
        codes = table.place_codes[rows]
        is_present = np.bincount(codes, minlength=len(table.places)) > 0
        pairs = zip(table.places, is_present.tolist(), strict=True)
        flags = [present and is_allowed(*place) for place, present in pairs]
        return np.array(flags, dtype=bool)[codes]


def _is_sold_on_demand(table: OfferTable, rows: Rows) -> Bools:
    options = table.purchase_option
    commitments = [o.value for o in PurchaseOption if o.is_commitment]
    is_commitment = options.match_names(commitments)[options.codes[rows]]
    everywhere = np.flatnonzero(
        options.match_names([PurchaseOption.ON_DEMAND.value])[options.codes] & table.sold_now
    )
    is_sold = np.zeros(len(table), dtype=bool)  # [machine], of which there are no more than rows
    is_sold[table.machine_codes[everywhere]] = True
    return np.asarray(~is_commitment | is_sold[table.machine_codes[rows]])


def _admitted_by_all(rows: Rows, masks: Iterable[Bools]) -> Rows:
    is_admitted = np.ones(len(rows), dtype=bool)
    for mask in masks:
        is_admitted &= mask
    return rows[is_admitted]


@dataclass(frozen=True)
class StatedQuotas:
    """The quotas of a request, each as a rule on offers and as a limit of the optimiser."""

    rules: tuple[QuotaRule, ...] = ()
    quotas: tuple[Quota, ...] = ()

    @classmethod
    def read(cls, request: ComparisonRequest) -> StatedQuotas:
        """Those of a request, each under a name of its own."""
        rules: list[QuotaRule] = []
        for i, quota in enumerate(request.constraints.quotas):
            slug = resolve(quota.accelerator, f"constraints.quotas.{i}.accelerator").slug
            place = f"{quota.provider}/{quota.region}" if quota.region else quota.provider
            same_name = sum(rule.group.startswith(f"{place} {slug}") for rule in rules)
            group = f"{place} {slug}" + (f" ({same_name + 1})" if same_name else "")
            rules.append(QuotaRule(group, quota.provider, quota.region, slug))
        stated = zip(rules, request.constraints.quotas, strict=True)
        quotas = (Quota(r.group, q.max_accelerators, in_machines=True) for r, q in stated)
        return cls(tuple(rules), tuple(quotas))

    def without_loose(self, most_at_once: Mapping[str, float]) -> StatedQuotas:
        """Those that may bind: not those of more accelerators than a plan has at once of a kind, so
        that a quota beyond any use changes nothing."""
        pairs = [
            (rule, quota)
            for rule, quota in zip(self.rules, self.quotas, strict=True)
            if quota.most < most_at_once.get(rule.accelerator or "", 0.0)
        ]
        return StatedQuotas(tuple(rule for rule, _ in pairs), tuple(quota for _, quota in pairs))

    def are_beyond(self, table: OfferTable, rows: Rows) -> NDArray[np.bool_]:
        """[row] whether one machine has more accelerators than a quota that counts it."""
        beyond = np.zeros(len(rows), dtype=bool)
        for _, _, of_it in self._beyond_each(table, rows):
            beyond |= of_it
        return beyond

    def count_beyond(self, table: OfferTable, rows: Rows) -> Iterator[tuple[str, int]]:
        """Each quota that is smaller than machines that it counts, in words, and how many offers
        that are."""
        for rule, quota, of_it in self._beyond_each(table, rows):
            if of_it.any():
                yield f"{rule.words} ({quota.most:g})", int(of_it.sum())

    def _beyond_each(
        self, table: OfferTable, rows: Rows
    ) -> Iterator[tuple[QuotaRule, Quota, NDArray[np.bool_]]]:
        for rule, quota in zip(self.rules, self.quotas, strict=True):
            is_larger = table.accelerator_count[rows] > quota.most
            yield rule, quota, match_quota(table, rows, rule) & is_larger

    def warnings(self, table: OfferTable, rows: Rows) -> Iterator[str]:
        """Warnings on the offers that are left out."""
        for words, count in self.count_beyond(table, rows):
            offers = "1 offer, which is" if count == 1 else f"{count:,} offers, which are"
            yield f"The {words} is smaller than one machine of {offers} left out."
