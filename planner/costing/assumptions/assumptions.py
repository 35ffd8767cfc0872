"""Every figure a comparison rests on: given by the request, or a default with its source. PURE.

`Assumptions.from_request` reads the request once; costing looks values up in it, the answer shows
its rows.
Money defaults are US dollars and are converted to the request's currency; given money is in
that currency already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

from planner.contract.answer.comparison import AssumptionRow
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


def read_previous_assumptions(rows: Iterable[AssumptionRow]) -> PreviousAssumptions:
    """The assumptions of an earlier answer that nobody gave, by field.

    >>> row = AssumptionRow(field="on_prem.pue", value=1.5, unit="ratio", given=False, source="x")
    >>> read_previous_assumptions([row])["on_prem.pue"].value
    1.5
    """
    return {
        row.field: Assumption(
            row.field,
            Decimal(row.value) if isinstance(row.value, str) else row.value,
            row.unit,
            False,
            row.source,
        )
        for row in rows
        if not row.given and row.value is not None and _is_amount(row.value)
    }


def _is_amount(value: object) -> bool:
    """Whether it is a number, as number or as the text that stands for money."""
    return isinstance(value, int | float) or str(value).replace(".", "", 1).isdigit()


@dataclass(frozen=True)
class Assumptions:
    """Values by the last part of their field, and the rows that show where each is from."""

    values: Mapping[str, float]
    rows: tuple[Assumption, ...]
    depreciation: str = DEPRECIATION
    request_fields: frozenset[str] = frozenset()
    """Last parts of the fields that the request gives."""

    def __getitem__(self, field: str) -> float:
        return self.values[field]

    @classmethod
    def from_request(
        cls,
        request: ComparisonRequest,
        units_per_usd: float,
        previous: PreviousAssumptions = MappingProxyType({}),
    ) -> Assumptions:
        """Values for `request`; `units_per_usd` converts the defaults that are money.

        What is `previous` of an earlier answer stands in for the defaults of today.
        """
        rows = list(_rows(request, units_per_usd, previous))
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
        request_fields = frozenset(row.field.rsplit(".", 1)[-1] for row in rows if row.given)
        return cls(values, tuple(rows), method or DEPRECIATION, request_fields)

    def is_from_request(self, field: str) -> bool:
        """Whether the request gives a figure itself."""
        return field in self.request_fields

    def staff_fte(self, accelerators: float) -> float:
        """Full-time equivalents that one server of `accelerators` takes."""
        fte = self.values["staff_fte_per_server"]
        if fte == fte:
            return fte
        return accelerators / self.values["staff_accelerators_per_fte"]


def _rows(
    request: ComparisonRequest, units_per_usd: float, previous: PreviousAssumptions
) -> Iterator[Assumption]:
    currency = request.currency

    def row(field: str, request_value: float | None) -> Assumption:
        if request_value is None and field in previous:
            return previous[field]
        return _row(field, request_value, currency, units_per_usd)

    for section, fields in (("on_prem", _ON_PREM), ("finance", _FINANCE), ("risk", _RISK)):
        part = getattr(request, section)
        for field in fields:
            request_value = getattr(part, field, None)
            if request_value is None and field == "staff_fte_per_server":
                field = "staff_accelerators_per_fte"
            yield row(f"{section}.{field}", request_value)
    if request.risk is not None:
        for field, value, unit, reason in _RISK_CHOICES:
            request_value = getattr(request.risk, field)
            source = reason if request_value is None else "request"
            value = value if request_value is None else request_value
            yield Assumption(f"risk.{field}", value, unit, request_value is not None, source)
    if request.data.storage_gib or request.data.egress_gib_per_month:
        for field in _DATA_PRICES:
            yield row(f"data.{field}", None)


def _row(
    field: str, request_value: float | None, currency: str, units_per_usd: float
) -> Assumption:
    standard = default(field.rsplit(".", 1)[-1])
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
