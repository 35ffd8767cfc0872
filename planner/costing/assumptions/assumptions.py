"""Every figure a comparison rests on: given by the request, or a default with its source. PURE.

`Assumptions.from_request` reads the request once; costing looks values up in it, the answer shows
its rows.
Money defaults are US dollars and are converted to the request's currency; given money is in
that currency already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from decimal import Decimal
from math import nan
from types import MappingProxyType

from planner.contract.request.comparison import CURRENT_RULES, ComparisonRequest
from planner.contract.request.risk import Risk
from planner.contract.request.rules import resolve_rules
from planner.costing.assumptions.assumption import Assumption, PreviousAssumptions
from planner.costing.assumptions.defaults import Default, default
from planner.costing.assumptions.editions import (
    EDITIONS,
    LEASE_EDITION,
    RESALE_EDITION,
    editions_of,
)
from planner.costing.assumptions.payback_margin import PAYBACK_MARGIN, margin_in_force

_ON_PREM = (
    "electricity_per_kwh",
    "pue",
    "colocation_per_kw_month",
    "support_rate_per_year",
    "network_storage_rate",
    "install_cost_rate",
    "staff_fte_per_server",
    "staff_cost_per_year",
    "spare_rate",
    "useful_life_months",
    "residual_rate",
    "lead_time_months",
    "workstation_lead_time_months",
    "utilisation_ceiling",
    "insurance_rate_per_year",
    "resale_cost_rate",
)
_FINANCE = (
    "discount_rate_per_year",
    "cloud_price_trend_per_year",
    "electricity_trend_per_year",
    "tax_rate",
    "staff_cost_trend_per_year",
    "colocation_trend_per_year",
    "support_trend_per_year",
    "server_price_trend_per_year",
    "cloud_support_rate",
    "cloud_staff_fte_per_accelerator",
    "upfront_deduction_spread",
)
LEVEL_FIELDS = frozenset(
    {
        "on_prem.workstation_lead_time_months",
        "on_prem.insurance_rate_per_year",
        "on_prem.resale_cost_rate",
        *(f"finance.{field}" for field in _FINANCE[4:]),
    }
)
"""Figures by which renting and owning are held to the same rules, from edition 2 on; before, and
in answers of before they were there, each is 0."""
_LATER_FIELDS = frozenset({"finance.upfront_deduction_spread"})
"""Those of them that came after the others: 0 where an answer without them is computed again."""
_RISK = (
    "demand_growth_sd",
    "price_sd",
    "spot_interruptions_per_month",
    "slip_months_sd",
    "spot_goodput",
    "checkpoint_save_hours",
    "restart_hours",
)
_PRICE_PROCESSES = (
    "demand_half_life_months",
    "spot_waiting_hours_training",
    "spot_waiting_hours_other",
    "spot_patience_hours",
)
"""What samples with fitted prices rest on besides; no request gives them."""
_DATA_PRICES = ("storage_per_gib_month", "egress_per_gib")
OWN_STORAGE = "data.on_prem_storage_per_tib_month"
PLACE_ORDER = "constraints.place_order"
PURCHASE_RISKS = (
    "on_prem.late_delivery_probability",
    "on_prem.late_delivery_months",
    "on_prem.server_price_spread",
)
_LATER_WHERE_USED = (OWN_STORAGE, PLACE_ORDER, LEASE_EDITION, *PURCHASE_RISKS)
"""Counted from edition 2 on; not in answers of before they were there."""

DEPRECIATION = "straight_line"
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
    depreciation: str = DEPRECIATION
    request_fields: frozenset[str] = frozenset()
    """Last parts of the fields that the request gives."""
    rules: int = CURRENT_RULES
    """Edition of the rules, which the defaults follow."""
    is_level: bool = True
    """Whether renting and owning are held to the same rules: not under edition 1, nor where an
    answer of before they were there is computed again."""

    def __getitem__(self, field: str) -> float:
        return self.values[field]

    @classmethod
    def from_request(
        cls,
        request: ComparisonRequest,
        units_per_usd: float,
        previous: PreviousAssumptions = MappingProxyType({}),
        price_processes: bool = False,
    ) -> Assumptions:
        """Values for `request`; `units_per_usd` converts the defaults that are money.

        What is `previous` of an earlier answer stands in for the defaults of today. With
        `price_processes` the range is always there and prices are drawn from fitted processes.
        """
        is_level = _is_level(request, previous)
        rows = list(_rows(request, units_per_usd, previous, price_processes, is_level))
        rows += _rule_rows(request, previous)
        rows += _resale_rows(request, previous, rows)
        values = {row.name: float(row.value) for row in rows}
        values.setdefault("staff_fte_per_server", nan)  # the one nan, which equals itself in a dict
        for field in EDITIONS:
            values.setdefault(field.rpartition(".")[2], 1.0 if previous else 2.0)
        for field in (*LEVEL_FIELDS, *_LATER_WHERE_USED, PAYBACK_MARGIN):
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
        return cls(
            values, tuple(rows), method or DEPRECIATION, request_fields, request.rules, is_level
        )

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


def _is_level(request: ComparisonRequest, previous: PreviousAssumptions) -> bool:
    """Whether the figures of `LEVEL_FIELDS` count: the earlier answer had them, or there is
    none."""
    parts = (("on_prem", request.on_prem), ("finance", request.finance))
    named = {f"{name}.{field}" for name, part in parts for field in part.model_fields_set}
    known = not previous or any(field in previous or field in named for field in LEVEL_FIELDS)
    return request.rules > 1 and known


def _rule_rows(request: ComparisonRequest, previous: PreviousAssumptions) -> Iterator[Assumption]:
    """Figures of the rules that a plan's choices rest on; none where the rules have none."""
    own_margin = request.on_prem.payback_margin
    if own_margin is None and PAYBACK_MARGIN in previous:
        yield previous[PAYBACK_MARGIN]
    elif own_margin is not None or margin_in_force(request, is_computed_again=bool(previous)):
        standard = default("payback_margin", request.rules)
        yield _row(PAYBACK_MARGIN, own_margin, standard, request.currency, 1.0)
    for edition in editions_of(request):
        if edition in previous or not previous:
            today = default(edition.rpartition(".")[2])
            yield previous.get(edition, _row(edition, None, today, request.currency, 1.0))
    stated = request.constraints.undated_price_margin
    margin = resolve_rules(request).undated_price_margin
    if margin or stated is not None:
        usual = "assumption (2026): a price of unknown age may be gone"
        source = usual if stated is None else "request"
        field = "constraints.undated_price_margin"
        yield Assumption(field, margin, "fraction", stated is not None, source)


def _resale_rows(
    request: ComparisonRequest, previous: PreviousAssumptions, rows: Iterable[Assumption]
) -> Iterator[Assumption]:
    """That no server is sold for more than a new one costs then, where prices of servers fall
    faster than what servers are worth."""
    own = [one.price_trend_per_year or 0.0 for one in request.on_prem.servers or ()]
    lowest = min(request.finance.server_price_trend_per_year or 0.0, *own, 0.0)
    residual_rate = next(float(row.value) for row in rows if row.field == "on_prem.residual_rate")
    is_known = not previous or RESALE_EDITION in previous
    if request.rules > 1 and 1.0 + lowest < residual_rate and is_known:
        today = _row(RESALE_EDITION, None, default("resale_edition"), request.currency, 1.0)
        yield previous.get(RESALE_EDITION, today)


def _rows(
    request: ComparisonRequest,
    units_per_usd: float,
    previous: PreviousAssumptions,
    price_processes: bool,
    is_level: bool,
) -> Iterator[Assumption]:
    def row(field: str, request_value: float | None) -> Assumption:
        if request_value is None and field in previous:
            return previous[field]
        standard = default(field.rsplit(".", 1)[-1], request.rules)
        return _row(field, request_value, standard, request.currency, units_per_usd)

    for section, fields in (("on_prem", _ON_PREM), ("finance", _FINANCE), ("risk", _RISK)):
        part = getattr(request, section)
        for field in fields:
            request_value = getattr(part, field, None)
            if request_value is None and field == "staff_fte_per_server":
                field = "staff_accelerators_per_fte"
            if request_value is None and field == "price_sd" and price_processes:
                continue  # drawn from the process of each price
            path = f"{section}.{field}"
            if request_value is None and _came_later(path, previous, is_level):
                continue
            yield row(path, request_value)
    if request.risk is not None or price_processes:
        yield from _risk_choices(request.risk or Risk(), price_processes)
    known = {field for field in _LATER_WHERE_USED if not previous or field in previous}
    later = frozenset(known if is_level else ())
    for path, request_value in _figures_where_used(request, price_processes, later):
        yield row(path, request_value)


def _came_later(path: str, previous: PreviousAssumptions, is_level: bool) -> bool:
    """Whether a figure came after the rules, or the answer, that are computed again."""
    if path in LEVEL_FIELDS and not is_level:
        return True
    return path in _LATER_FIELDS and bool(previous) and path not in previous


def _figures_where_used(
    request: ComparisonRequest, price_processes: bool, later: frozenset[str]
) -> Iterator[tuple[str, float | None]]:
    """Figures that only some requests rest on, with what the request says; of those that came
    after others the ones in `later`."""
    financing = request.on_prem.financing
    own = [server.financing for server in request.on_prem.servers or () if server.financing]
    has_leases = bool(request.existing.leased_servers) and LEASE_EDITION in later
    is_borrowed = any(
        one.method != "purchase" and one.interest_rate_per_year is None for one in own
    )
    if financing.method != "purchase" or is_borrowed or has_leases:
        yield "on_prem.financing.interest_rate_per_year", financing.interest_rate_per_year
    for field in _PRICE_PROCESSES if price_processes else ():
        yield f"risk.{field}", None
    data = request.data
    if data.storage_gib or data.egress_gib_per_month:
        for field in _DATA_PRICES:
            yield f"data.{field}", getattr(data, field)
    stated = data.on_prem_storage_per_tib_month
    if stated is not None or (data.storage_gib and OWN_STORAGE in later):
        yield OWN_STORAGE, stated
    order = request.constraints.place_order
    if order is not None or PLACE_ORDER in later:
        yield PLACE_ORDER, order
    for path in PURCHASE_RISKS if price_processes else ():
        stated = getattr(request.on_prem, path.partition(".")[2])
        if stated is not None or (path in later and request.on_prem.servers != ()):
            yield path, stated


def _risk_choices(risk: Risk, price_processes: bool) -> Iterator[Assumption]:
    """Samples, seed and spread of resale values, given or chosen."""
    for field, value, unit, reason in _RISK_CHOICES:
        request_value = getattr(risk, field)
        if price_processes and request_value is None:
            if field == "residual_sd":
                continue  # drawn from the price process of the hardware
            if field == "samples":
                value, reason = HEADLINE_SAMPLES, "standard error of a probability at most 1.1%"
        source = reason if request_value is None else "request"
        value = value if request_value is None else request_value
        yield Assumption(f"risk.{field}", value, unit, request_value is not None, source)


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
    return Assumption(field, value, unit, False, _source(standard))


def _source(standard: Default) -> str:
    mark = ", assumption" if standard.assumed else ""
    return f"{standard.source} ({standard.year}{mark})"
