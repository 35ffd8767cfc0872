"""What all parts of an answer share: the frozen base, figures with their units, keys. PURE.

Money is `Decimal` in the answer's currency and a decimal string in JSON; shares are fractions.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from planner.contract.amounts import add_months, month_labels, parse_month


class MonthsOfPlan:
    """Months that count from `start`."""

    if TYPE_CHECKING:
        start: str
        horizon_months: int

    @cached_property
    def first_month(self) -> dt.date:
        """First day of month 0."""
        return parse_month(self.start)

    def month(self, index: int) -> dt.date:
        """First day of month `index` of the plan."""
        return add_months(self.first_month, index)

    @property
    def months(self) -> list[str]:
        """The months of the horizon, written YYYY-MM."""
        return month_labels(self.first_month, self.horizon_months)


class AnswerModel(BaseModel):
    """Base of every part of an answer: frozen; fields that it does not know are left out."""

    model_config = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="constants")
    tables: ClassVar[tuple[str, ...]] = ()
    """Fields that the API gives where `include` names them."""

    @classmethod
    def of_values(cls, **values: Any) -> Self:
        """A part of the core's own values, every field of it, each of its type already: a plan has
        thousands of lines, and checking them takes longer than working them out. All parts of a
        kind share one set of the fields that are given."""
        part = cls.__new__(cls)
        _set(part, "__dict__", values)
        _set(part, "__pydantic_fields_set__", _all_fields(cls))
        _set(part, "__pydantic_extra__", None)
        _set(part, "__pydantic_private__", None)
        return part

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        return self.model_dump(mode="json")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy; what was worked out from fields (`cached_property`) is worked out anew."""
        copy = super().model_copy(update=update, deep=deep)
        for name in copy.__dict__.keys() - type(self).model_fields.keys():
            del copy.__dict__[name]
        return copy


_set = object.__setattr__
"""What frozen parts are made with."""


@cache
def _all_fields(model: type[BaseModel]) -> set[str]:
    return set(model.model_fields)


class ScenarioKey(StrEnum):
    """The ways of getting the work done that are compared."""

    ON_DEMAND = "on_demand"
    CLOUD = "cloud"
    ON_PREM = "on_prem"
    HYBRID = "hybrid"


class Category(StrEnum):
    """What a cost line is for."""

    COMPUTE = "compute"
    COMMITMENT = "commitment"
    UPFRONT = "upfront"
    STORAGE = "storage"
    EGRESS = "egress"
    CAPEX = "capex"
    INSTALL = "install"
    NETWORK_STORAGE = "network_storage"
    POWER = "power"
    COLOCATION = "colocation"
    SUPPORT = "support"
    STAFF = "staff"
    SPARES = "spares"
    INSURANCE = "insurance"
    LOAN = "loan"
    INTEREST = "interest"
    LEASE = "lease"
    CREDIT = "credit"
    SHORTFALL = "shortfall"
    OTHER = "other"
    RESIDUAL = "residual"
    TAX = "tax"


def write_decimal(amount: Decimal) -> str:
    """A decimal number without exponent.

    >>> write_decimal(Decimal("1E-7")), write_decimal(Decimal("12.50"))
    ('0.0000001', '12.50')
    """
    text = str(amount)
    return f"{amount:f}" if "E" in text else text


def unit(name: str) -> object:
    """The unit of a figure, shown in the schema of every field of that kind."""
    return Field(json_schema_extra={"unit": name})


Money = Annotated[
    Decimal,
    PlainSerializer(write_decimal, return_type=str, when_used="json-unless-none"),
    unit("currency of the answer"),
]
"""An amount in the answer's currency."""
HourlyPrice = Annotated[
    Decimal,
    PlainSerializer(write_decimal, return_type=str, when_used="json-unless-none"),
    unit("currency of the answer per hour"),
]
UnitPrice = Annotated[
    Decimal,
    PlainSerializer(write_decimal, return_type=str, when_used="json-unless-none"),
    unit("currency of the answer per unit"),
]
Share = Annotated[float, unit("fraction")]
Factor = Annotated[float, unit("factor")]
Hours = Annotated[float, unit("h")]
Months = Annotated[float, unit("months")]
MonthIndex = Annotated[int, unit("months from the start")]
"""Month of the plan; 0 is `start`."""
AcceleratorHours = Annotated[float, unit("h of one reference accelerator")]
Accelerators = Annotated[float, unit("accelerators")]
Count = Annotated[int, unit("number")]
Gib = Annotated[float, unit("GiB")]
Kw = Annotated[float, unit("kW")]
Kwh = Annotated[float, unit("kWh")]
KgCo2e = Annotated[float, unit("kg CO2e")]
Days = Annotated[int, unit("days")]
Flops = Annotated[float, unit("FLOP")]
