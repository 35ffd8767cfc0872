"""What the bodies of requests hold that are not the contract's own; what values mean is judged by
the services."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints, WithJsonSchema

from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.constraints import CustomOffer, PriceAdjustment
from planner.contract.request.on_prem import Server
from planner.contract.request.portfolio import PortfolioRequest
from planner.contract.validation import Currency, Number, RequestModel, shown
from planner.models import BudgetPeriod, Scope
from planner.models.project import REASON_LENGTH
from planner.services.projects.comparisons import MAX_REQUESTS


class Body(RequestModel):
    """A body; of a change every field may be left out."""

    def values_set(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.model_fields_set}


@dataclass(frozen=True)
class JudgedAs:
    """Marks an object that a service reads as this model, whose component the document names."""

    model: type[BaseModel]

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"judged_as": self.model.__name__}


def _text(read: Callable[[str], object], what: str) -> BeforeValidator:
    """Text read by `read`, refused where it is not `what`."""

    def convert(value: object) -> object:
        try:
            return read(value) if isinstance(value, str) else value
        except ValueError:
            raise ValueError(f"{shown(value)} is not {what}") from None

    return BeforeValidator(convert)


Object = dict[str, Any]
Comparison = Annotated[Object, JudgedAs(ComparisonRequest)]
Id = Annotated[uuid.UUID, _text(uuid.UUID, "an id like 8ede26a9-4a3d-40fd-b51c-9d915440dcec")]
Day = Annotated[
    dt.date,
    _text(dt.date.fromisoformat, "a day like 2026-11-20"),
    WithJsonSchema({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}),
]
Slug = Annotated[str, Field(max_length=60, pattern=r"^[-a-zA-Z0-9_]+$")]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]
Line = Annotated[str, StringConstraints(strip_whitespace=True, max_length=120)]
Note = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000)]
Fraction = Annotated[Number, Field(ge=0, le=10)]


TokenScope = Annotated[
    Scope, Field(strict=False), WithJsonSchema({"type": "string", "enum": Scope.values})
]
Period = Annotated[
    BudgetPeriod,
    Field(strict=False),
    WithJsonSchema({"type": "string", "enum": BudgetPeriod.values}),
]
Event = Literal[
    "saved_comparison.approved", "project.price_moved", "project.budget_overrun", "prices.held"
]


# Teams ------------------------------------------------------------------------------------


class TeamChanges(Body):
    """Settings of the team; every comparison of the team inherits prices and defaults, every
    reading of its bills the rules."""

    name: Name = ""
    currency: Currency = ""
    price_adjustments: list[Annotated[Object, JudgedAs(PriceAdjustment)]] = []
    custom_offers: list[Annotated[Object, JudgedAs(CustomOffer)]] = []
    defaults: Object = {}
    project_rules: list[Annotated[str, Field(max_length=500)]] = []


class ServerQuoteChanges(Body):
    label: Name = ""
    server: Annotated[Object, JudgedAs(Server)] = {}
    supplier: Line = ""
    quoted_on: Day | None = None
    valid_until: Day | None = None


class NewServerQuote(ServerQuoteChanges):
    slug: Slug
    label: Name
    server: Annotated[Object, JudgedAs(Server)]


class NewWebhook(Body):
    url: Annotated[str, Field(min_length=1, max_length=500)]
    description: Line = ""
    events: Annotated[list[Event], Field(min_length=1, max_length=10)]


class Refresh(Body):
    providers: Annotated[list[Annotated[str, Field(max_length=60)]], Field(max_length=20)] = []


# Projects ---------------------------------------------------------------------------------


class ProjectChanges(Body):
    name: Name = ""
    description: Note = ""
    cost_centre: Line = ""
    workload: Object = {}
    assumptions: Object = {}
    budget: Annotated[str, Field(max_length=40)] = ""
    budget_period: Period = BudgetPeriod.TOTAL
    watched: bool = False
    watch_threshold: Fraction = 0.05
    archived: bool = False


class NewProject(ProjectChanges):
    team: Slug = ""
    """May be left out by a caller with one team."""
    name: Name


class SavedComparisonChanges(Body):
    name: Name = ""
    note: Note = ""


class NewSavedComparison(SavedComparisonChanges):
    """Without a request, the project's is answered."""

    project: Id
    name: Name
    request: Comparison = {}


class SendBack(Body):
    reason: Annotated[str, Field(max_length=REASON_LENGTH)] = ""
    """What whoever submitted it should know."""


class Approve(Body):
    confirm: bool = False
    """Whether it is approved although it is over the budget of its project."""


class NewSavedPortfolio(Body):
    team: Slug
    name: Name
    note: Note = ""
    request: Annotated[Object, JudgedAs(PortfolioRequest)] = {}
    """A portfolio request; absent: that of the team's projects."""
    projects: Annotated[list[Id], Field(min_length=1, max_length=100)] = []
    """Of the team's projects those that are planned; absent: all. Not with `request`."""
    shown_to_all: bool = False


# Many at once -----------------------------------------------------------------------------


class NewSweep(Body):
    """Either `requests`, or `request` with `variations`."""

    team: Slug = ""
    requests: Annotated[list[Comparison], Field(min_length=1, max_length=MAX_REQUESTS)] = []
    request: Comparison = {}
    variations: dict[str, Annotated[list[Any], Field(min_length=1, max_length=MAX_REQUESTS)]] = {}


BODIES: tuple[type[Body], ...] = (
    *(TeamChanges, NewServerQuote),
    *(ServerQuoteChanges, NewWebhook, Refresh, NewProject, ProjectChanges),
    *(NewSavedComparison, SavedComparisonChanges),
    *(SendBack, NewSavedPortfolio, NewSweep),
)
