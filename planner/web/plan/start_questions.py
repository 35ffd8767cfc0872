"""The kinds of work that the start page asks about, and what its boxes begin with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils import timezone

from planner.contract.models.known_models import model_names
from planner.contract.months import add_months, format_month, next_month
from planner.models import Team
from planner.web.common.choices import list_choices
from planner.web.market.lowest_prices import lowest_prices
from planner.web.plan.presets import list_presets

MONTHS_ASKED = 12
"""Months from the first to the last that the questions of the start page begin with."""
USUAL_CURRENCY = "USD"
USUAL_ACCELERATOR = "nvidia-h100-80gb-sxm"
"""The accelerator that hours and serving begin with."""


@dataclass(frozen=True)
class Work:
    """A kind of work as the start page asks about it."""

    key: str
    title: str
    is_sized: bool = False
    """Whether its hours are estimated from a model, so that the code matters."""
    view: str = "plan"
    """Name of the page that takes the answers."""

    @property
    def template(self) -> str:
        return f"web/start/{self.key}.html"


KINDS = (
    Work("train", "Train a model", is_sized=True),
    Work("fine_tune", "Fine-tune", is_sized=True),
    Work("serve", "Serve a model", view="plan-serving"),
    Work("hours", "I know the hours"),
)
SERVE = KINDS[2]


def find_work(key: str) -> Work:
    """The kind of that name, else training."""
    return next((kind for kind in KINDS if kind.key == key), KINDS[0])


def start_context(
    work: Work, typed: QueryDict, team: Team | None, refusal: str = ""
) -> dict[str, Any]:
    """What the start page shows: the questions of `work`, examples, lowest prices."""
    own = team.currency if team else USUAL_CURRENCY
    today = timezone.now().date()
    first = next_month(today)
    return {
        "kinds": KINDS,
        "work": work,
        "typed": typed,
        "refusal": refusal,
        "usual": typed.get("accelerator") or USUAL_ACCELERATOR,
        "presets": list_presets(today),
        "lowest": lowest_prices(),
        "first": format_month(first),
        "last": format_month(add_months(first, MONTHS_ASKED - 1)),
        "models": model_names(),
        "places": list_choices("geographies"),
        "software": list_choices("software"),
        "servers": [row for row in list_choices("servers") if row[0] != "custom"],
        "accelerators": list_choices("accelerators"),
        "tunings": list_choices("tunings"),
        "currency": own,
        "currencies": [code for code, _ in list_choices("currencies") if code != own],
    }
