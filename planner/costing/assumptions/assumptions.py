"""Every figure a comparison rests on: given by the request, or a default with its source. PURE.

`Assumptions.of` reads the request once; costing asks it for values, the answer shows its rows.
Money defaults are US dollars and are converted to the request's currency; given money is in
that currency already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from planner.contract.request.comparison import ComparisonRequest
from planner.costing.assumptions.defaults import Default, default

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
    "utilisation_ceiling",
)
_FINANCE = (
    "discount_rate_per_year",
    "cloud_price_trend_per_year",
    "electricity_trend_per_year",
    "tax_rate",
)
_RISK = (
    "demand_growth_sd",
    "price_sd",
    "spot_interruptions_per_month",
    "slip_months_sd",
    "spot_goodput",
    "checkpoint_save_hours",
    "restart_hours",
)
_DATA_PRICES = ("storage_per_gib_month", "egress_per_gib")

DEPRECIATION = "straight_line"
"""Default depreciation: what published accounts of cloud companies use for servers (10-K 2025)."""
RISK_SAMPLES = 10_000
RISK_SEED = 1
RESIDUAL_SD = 0.25
_RISK_CHOICES = (
    ("samples", RISK_SAMPLES, "futures", "standard error of a probability at most 0.5 %"),
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
class Assumption:
    """One row of the answer's `assumptions`."""

    field: str
    """Dotted path in the request."""
    value: float | str | Decimal
    unit: str
    given: bool
    source: str


PreviousAssumptions = Mapping[str, Assumption]
"""By field, the assumptions of an earlier answer that nobody gave."""


def read_previous_assumptions(rows: Iterable[Mapping[str, Any]]) -> PreviousAssumptions:
    """The assumptions of an answer as they are told, by field.

    >>> row = {"field": "on_prem.pue", "value": 1.5, "unit": "ratio", "given": False, "source": "x"}
    >>> read_previous_assumptions([row])["on_prem.pue"].value
    1.5
    """
    return {
        row["field"]: Assumption(
            row["field"],
            Decimal(row["value"]) if isinstance(row["value"], str) else row["value"],
            row["unit"],
            False,
            row["source"],
        )
        for row in rows
        if not row["given"] and _is_amount(row["value"])
    }


def _is_amount(value: object) -> bool:
    """Whether it is a number, as number or as the text that money is told in."""
    return isinstance(value, int | float) or str(value).replace(".", "", 1).isdigit()


@dataclass(frozen=True)
class Assumptions:
    """Values by the last part of their field, and the rows that show where each is from."""

    values: Mapping[str, float]
    rows: tuple[Assumption, ...]
    depreciation: str = DEPRECIATION
    given: frozenset[str] = frozenset()
    """Last parts of the fields that the request gives."""

    def __getitem__(self, field: str) -> float:
        return self.values[field]

    @classmethod
    def of(
        cls,
        request: ComparisonRequest,
        units_per_usd: float,
        kept: PreviousAssumptions = MappingProxyType({}),
    ) -> Assumptions:
        """Values for `request`; `units_per_usd` converts the defaults that are money.

        What is `kept` of an earlier answer stands in for the defaults of today.
        """
        rows = list(_rows(request, units_per_usd, kept))
        values = {row.field.rsplit(".", 1)[-1]: float(row.value) for row in rows}
        values.setdefault("staff_fte_per_server", float("nan"))
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
        given = frozenset(row.field.rsplit(".", 1)[-1] for row in rows if row.given)
        return cls(values, tuple(rows), method or DEPRECIATION, given)

    def is_given(self, field: str) -> bool:
        """Whether the request gives a figure itself."""
        return field in self.given

    def staff_fte(self, accelerators: float) -> float:
        """Full-time equivalents that one server of `accelerators` takes."""
        given = self.values["staff_fte_per_server"]
        if given == given:
            return given
        return accelerators / self.values["staff_accelerators_per_fte"]


def _rows(
    request: ComparisonRequest, units_per_usd: float, kept: PreviousAssumptions
) -> Iterator[Assumption]:
    currency = request.currency

    def row(field: str, given: float | None) -> Assumption:
        if given is None and field in kept:
            return kept[field]
        return _row(field, given, currency, units_per_usd)

    for section, fields in (("on_prem", _ON_PREM), ("finance", _FINANCE), ("risk", _RISK)):
        part = getattr(request, section)
        for field in fields:
            given = getattr(part, field, None)
            if given is None and field == "staff_fte_per_server":
                field = "staff_accelerators_per_fte"
            yield row(f"{section}.{field}", given)
    if request.risk is not None:
        for field, value, unit, reason in _RISK_CHOICES:
            given = getattr(request.risk, field)
            source = reason if given is None else "request"
            chosen = value if given is None else given
            yield Assumption(f"risk.{field}", chosen, unit, given is not None, source)
    if request.data.storage_gib or request.data.egress_gib_per_month:
        for field in _DATA_PRICES:
            yield row(f"data.{field}", None)


def _row(field: str, given: float | None, currency: str, units_per_usd: float) -> Assumption:
    known = default(field.rsplit(".", 1)[-1])
    is_money = known.unit.startswith("USD")
    unit = known.unit.replace("USD", currency, 1) if is_money else known.unit
    if given is not None:
        value: float | Decimal = Decimal(str(given)) if is_money else given
        return Assumption(field, value, unit, True, "request")
    value = known.value
    if is_money:
        value = Decimal(str(round(known.value * units_per_usd, 6)))
    return Assumption(field, value, unit, False, _source(known))


def _source(known: Default) -> str:
    mark = ", assumption" if known.assumed else ""
    return f"{known.source} ({known.year}{mark})"
