"""Every figure a comparison rests on: given by the request, or a default with its source. PURE.

`Assumptions.from_request` reads the request once; costing looks values up in it, the answer shows
its rows.
Money defaults are US dollars and are converted to the request's currency; given money is in
that currency already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from decimal import Decimal
from functools import cache
from math import nan
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.finance import Risk
from planner.contract.request.rules import MANY_ACCELERATORS, PlanRules
from pricing.common.tables import read_table

_DATA_PRICES = ("storage_per_gib_month", "egress_per_gib")
OWN_STORAGE = "data.on_prem_storage_per_tib_month"
LATE_DELIVERY = ("on_prem.late_delivery_probability", "on_prem.late_delivery_months")
"""In force where the request gives either; else lead times are drawn as they are quoted."""
PRICE_SPREAD = "on_prem.server_price_spread"

Depreciation = Literal["straight_line", "macrs_5", "none"]
DEPRECIATION: Depreciation = "straight_line"
"""Default depreciation: what published accounts of cloud companies use for servers (10-K 2025)."""
RISK_SAMPLES = 10_000
HEADLINE_SAMPLES = 2_000
"""Where the range is always there."""
RISK_SEED = 1
RESIDUAL_SD = 0.25
_RISK_CHOICES = (
    ("samples", RISK_SAMPLES, "futures", "standard error of a probability at most 0.5%"),
    ("seed", RISK_SEED, "seed", "any number; the same seed gives the same answer"),
    (
        "residual_sd",
        RESIDUAL_SD,
        "standard deviation of the residual value, fraction",
        "assumption (2026): about half the published spread of resale prices after two years, "
        "0.30 to 0.45 of the price",
    ),
)
"""Field, default, unit and reason of the figures that only the risk needs."""


@dataclass(frozen=True)
class Assumptions:
    """Values by the last part of their field, and the rows that show where each is from."""

    values: Mapping[str, float]
    rows: tuple[Assumption, ...] = dataclass_field(compare=False)
    """What is shown of them; two with the same values compute the same."""
    depreciation: Depreciation = DEPRECIATION
    request_fields: frozenset[str] = frozenset()
    """Last parts of the fields that the request gives."""

    def __getitem__(self, field: str) -> float:
        return self.values[field]

    @classmethod
    def from_request(cls, request: ComparisonRequest, units_per_usd: float) -> Assumptions:
        """Values for `request`; `units_per_usd` converts the defaults that are money."""
        rows = list(_rows(request, units_per_usd))
        values = {row.name: float(row.value) for row in rows}
        values.setdefault("staff_fte_per_server", nan)  # the one nan, which equals itself in a dict
        for field in (OWN_STORAGE, *LATE_DELIVERY, PRICE_SPREAD):
            values.setdefault(field.rsplit(".", 1)[-1], 0.0)
        method = request.finance.depreciation
        rows.append(
            Assumption(
                "finance.depreciation",
                method or DEPRECIATION,
                "method",
                method is not None,
                "request" if method else "usual for servers: published accounts, 10-K 2025",
            )
        )
        request_fields = frozenset(row.name for row in rows if row.given)
        return cls(values, tuple(rows), method or DEPRECIATION, request_fields)

    def is_from_request(self, field: str) -> bool:
        """Whether the request gives a figure itself."""
        return field in self.request_fields

    def with_support_rate(self, rate: float, source: str) -> Assumptions:
        """The same with what a support plan of the clouds takes of the bill."""
        field = "finance.cloud_support_rate"
        stated = Assumption(field, rate, "fraction of the bill for machines", True, source)
        return replace(
            self,
            values={**self.values, "cloud_support_rate": rate},
            rows=(*(row for row in self.rows if row.field != field), stated),
        )

    def staff_fte(self, accelerators: float) -> float:
        """Full-time equivalents that one server of `accelerators` takes."""
        fte = self.values["staff_fte_per_server"]
        if fte == fte:
            return fte
        return accelerators / self.values["staff_accelerators_per_fte"]


def _rows(request: ComparisonRequest, units_per_usd: float) -> Iterator[Assumption]:
    def row(field: str, request_value: float | None) -> Assumption:
        standard = default(field.rsplit(".", 1)[-1])
        return _row(field, request_value, standard, request.currency, units_per_usd)

    for section in ("on_prem", "finance", "risk", "choice"):
        part = getattr(request, section)
        for field in _fields_of(section):
            request_value = getattr(part, field, None)
            if request_value is None and field == "staff_fte_per_server":
                field = "staff_accelerators_per_fte"
            if request_value is None and field == "price_sd":
                continue  # drawn from the process of each price
            yield row(f"{section}.{field}", request_value)
    yield from _risk_choices(request.risk or Risk())
    for path, request_value in _figures_where_used(request):
        yield row(path, request_value)


def _figures_where_used(request: ComparisonRequest) -> Iterator[tuple[str, float | None]]:
    financing = request.on_prem.financing
    own = [server.financing for server in request.on_prem.servers or () if server.financing]
    is_borrowed = any(
        one.method != "purchase" and one.interest_rate_per_year is None for one in own
    )
    if financing.method != "purchase" or is_borrowed or request.existing.leased_servers:
        yield "on_prem.financing.interest_rate_per_year", financing.interest_rate_per_year
    for field in _fields_of("price processes"):
        yield f"risk.{field}", None
    data = request.data
    if data.storage_gib or data.egress_gib_per_month:
        for field in _DATA_PRICES:
            yield f"data.{field}", getattr(data, field)
    stated = data.on_prem_storage_per_tib_month
    if stated is not None or data.storage_gib:
        yield OWN_STORAGE, stated
    late = [getattr(request.on_prem, path.partition(".")[2]) for path in LATE_DELIVERY]
    if any(stated is not None for stated in late):
        yield from zip(LATE_DELIVERY, late, strict=True)
    spread = request.on_prem.server_price_spread
    if spread is not None or request.on_prem.servers != ():
        yield PRICE_SPREAD, spread


_STATED_RISKS = {
    "end_probability": "probability",
    "end_after_months": "months",
    "on_demand_unavailable_probability": "probability",
}
"""Fields of `risk` that have no default, with their units."""


def _risk_choices(risk: Risk) -> Iterator[Assumption]:
    for field, value, unit, reason in _RISK_CHOICES:
        request_value = getattr(risk, field)
        if request_value is None:
            if field == "residual_sd":
                continue  # drawn from the price process of the hardware
            if field == "samples":
                value, reason = HEADLINE_SAMPLES, "standard error of a probability at most 1.1%"
        source = reason if request_value is None else "request"
        value = value if request_value is None else request_value
        yield Assumption(f"risk.{field}", value, unit, request_value is not None, source)
    for field, unit in _STATED_RISKS.items():
        stated = getattr(risk, field)
        if stated is not None:
            yield Assumption(f"risk.{field}", stated, unit, True, "request")


def _row(
    field: str, request_value: float | None, standard: Default, currency: str, units_per_usd: float
) -> Assumption:
    is_money = standard.unit.startswith("USD")
    unit = standard.unit.replace("USD", currency, 1) if is_money else standard.unit
    if request_value is not None:
        value: float | Decimal = Decimal(str(request_value)) if is_money else request_value
        return Assumption(field, value, unit, True, "request")
    value = standard.value
    if is_money:
        value = Decimal(str(round(standard.value * units_per_usd, 6)))
    mark = ", assumption" if standard.assumed else ""
    return Assumption(field, value, unit, False, f"{standard.source} ({standard.year}{mark})")


@dataclass(frozen=True)
class Assumption:
    """One row of the answer's `assumptions`."""

    field: str
    """Dotted path in the request."""
    value: float | str | Decimal
    unit: str
    given: bool
    source: str

    @property
    def name(self) -> str:
        """Last part of its field: its name among the values.

        >>> Assumption("on_prem.pue", 1.5, "ratio", False, "x").name
        'pue'
        """
        return self.field.rpartition(".")[2]


_TABLE = Path(__file__).with_name("defaults.csv")


@dataclass(frozen=True)
class Default:
    """One default: `low` and `high` bound what has been published, for sensitivity."""

    field: str
    section: str
    """Part of the request that gives it; `price processes`: none, as samples with fitted prices
    rest on it; "": of figures that have a place of their own, or none."""
    value: float
    low: float
    high: float
    unit: str
    year: int
    """Year the figure belongs to."""
    assumed: bool
    """True where no published figure was found and `source` says what was assumed."""
    source: str


def default(field: str) -> Default:
    """The default of a field; `KeyError` if it has none.

    >>> default("pue").value
    1.56
    """
    return all_defaults()[field]


@cache
def all_defaults() -> MappingProxyType[str, Default]:
    """Every default by field."""
    return MappingProxyType({one.field: one for one in read_table(_TABLE, Default)})


def _fields_of(section: str) -> list[str]:
    return [name for name, row in all_defaults().items() if row.section == section]


_OF_SERVERS, _OF_WORKSTATIONS = "lead_time_months", "workstation_lead_time_months"
LEAD_TIMES = (_OF_SERVERS, _OF_WORKSTATIONS)


def lead_months(assumptions: Assumptions, *, comes_from_stock: bool) -> int:
    """Months from order to service: workstations have their own, unless a request gives that of
    servers alone."""
    if not comes_from_stock:
        return int(assumptions[_OF_SERVERS])
    is_stated = assumptions.is_from_request
    follows = is_stated(_OF_SERVERS) and not is_stated(_OF_WORKSTATIONS)
    return int(assumptions[_OF_SERVERS if follows else _OF_WORKSTATIONS])


_REASONS = {
    "constraints.partitions": "accounts of other partitions need contracts of their own",
    "workload.software": "CUDA, unless accelerators that run something else are named",
    "workload.interruptible": "consent to spot is for the team to give",
    "term_end": "a commitment is paid to its end; a plan for less than a year takes none beyond it",
    "constraints.allow_partial_nodes": "providers rent machines whole",
    "constraints.allow_any_node": "jobs over several machines need a network between them",
    "workload.accelerators_per_job": "what the sizing needs; 1 for given hours, from "
    f"{MANY_ACCELERATORS} at once on whole linked nodes",
}
"""Field of each rule → why its default is what it is."""


def rule_assumptions(request: ComparisonRequest, rules: PlanRules) -> Iterator[Assumption]:
    """One row for each rule of a request, its default or what the request says instead."""
    share = request.constraints.min_provider_share
    if (request.constraints.min_providers or 1) > 1:
        reason = "assumption (2026): with less than half of an equal share it is one in name only"
        yield Assumption(
            "constraints.min_provider_share",
            request.constraints.least_provider_share,
            "fraction",
            share is not None,
            reason if share is None else "request",
        )
    limits, workload = request.constraints, request.workload
    in_force: tuple[tuple[str, float | str, str, object], ...] = (
        ("constraints.partitions", ", ".join(rules.partitions), "partitions", limits.partitions),
        ("workload.software", rules.software, "software", workload.software),
        ("workload.interruptible", _flag(rules.interruptible), "", workload.interruptible),
        ("term_end", rules.term_end, "", request.term_end),
        (
            "constraints.allow_partial_nodes",
            _flag(not rules.whole_nodes),
            "",
            limits.allow_partial_nodes,
        ),
        ("constraints.allow_any_node", _flag(rules.any_node), "", limits.allow_any_node),
        (
            "workload.accelerators_per_job",
            rules.accelerators_per_job,
            "accelerators",
            workload.accelerators_per_job,
        ),
    )
    for field, value, unit, requested in in_force:
        source = f"rules of a plan: {_REASONS[field]}" if requested is None else "request"
        yield Assumption(field, value, unit, requested is not None, source)


def _flag(is_set: bool) -> str:
    return "true" if is_set else "false"
