"""A comparison as the answer page shows it: words, cards, charts and tables of one document.

Works on the answer's dict alone, so that a fresh answer and a saved one look the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.http import QueryDict

from planner.web import charts
from planner.web.fields import ALL, KINDS

Scenario = Mapping[str, Any]

LINE_SOURCES = ("compute", "commitment", "upfront", "capex")


@dataclass(frozen=True)
class Card:
    """One scenario in a line each: total, present value, rate, risk."""

    key: str
    title: str
    scenario: Scenario
    is_best: bool
    saving: Decimal | None
    """Against renting on demand; None where that is not feasible."""
    risk: Mapping[str, Any] | None
    probability_cheapest: float | None

    @property
    def extra(self) -> Decimal | None:
        """What it costs more than renting on demand."""
        return None if self.saving is None else -self.saving


@dataclass(frozen=True)
class Purchase:
    """Something begun in a month: bought, committed or paid upfront."""

    month: str
    label: str
    what: str
    quantity: Any
    amount: Decimal


@dataclass(frozen=True)
class UsedOffer:
    """An offer or server of the shown scenario, with what it costs altogether."""

    line: Mapping[str, Any]
    quantity: float
    amount: Decimal
    offer: Mapping[str, Any] | None


class AnswerPage:
    """What the answer's templates draw. `shown` is the scenario whose plan is laid out."""

    def __init__(
        self, answer: Mapping[str, Any], shown: str = "", query: QueryDict | None = None
    ) -> None:
        self.answer = answer
        self.query = query
        self.currency = answer["currency"]
        self.recommendation = answer["recommendation"]
        self.scenarios = {scenario["key"]: scenario for scenario in answer["scenarios"]}
        wanted = self.scenarios.get(shown or self.recommendation.get("scenario") or "")
        self.shown = wanted if wanted and wanted["feasible"] else None
        self.recommended = self.scenarios.get(self.recommendation.get("scenario") or "")
        likely = (answer.get("risk") or {}).get("probability_cheapest") or {}
        self.certainty = likely.get(self.recommendation.get("scenario"))

    @property
    def headline(self) -> str:
        """What to do, in a sentence."""
        because = self.recommendation["because"]
        return str(because[0]) if because else "Nothing fits."

    @property
    def reasons(self) -> list[str]:
        """Everything else that is said for it."""
        return list(self.recommendation["because"][1:])

    @cached_property
    def cards(self) -> list[Card]:
        return [self._card(scenario) for scenario in self.answer["scenarios"]]

    def _card(self, scenario: Scenario) -> Card:
        key = scenario["key"]
        rent = self.scenarios.get("on_demand")
        comparable = rent is not None and rent["feasible"] and scenario["feasible"]
        saving = (
            Decimal(rent["total_cost"]) - Decimal(scenario["total_cost"])
            if comparable and rent is not None
            else None
        )
        risk = self.answer.get("risk") or {}
        likely = (risk.get("probability_cheapest") or {}).get(key)
        spread = risk.get(key)
        return Card(
            key=key,
            title=charts.TITLES[key],
            scenario=scenario,
            is_best=key == self.recommendation.get("scenario"),
            saving=saving if key != "on_demand" else None,
            risk=spread if isinstance(spread, Mapping) else None,
            probability_cheapest=None if likely is None else float(likely),
        )

    @cached_property
    def charts(self) -> list[charts.Chart]:
        if not self.shown:
            return []
        drawn = [
            charts.cumulative(self.answer),
            charts.capacity(self.answer, self.shown),
            charts.categories(self.answer),
            charts.hours_curve(self.answer),
            charts.fan(self.answer),
            charts.tornado(self.answer, Decimal(self.shown["total_cost"])),
        ]
        return [chart for chart in drawn if chart is not None]

    @cached_property
    def purchases(self) -> list[Purchase]:
        """What the shown plan begins, when and for how much."""
        if not self.shown:
            return []
        labels = [*charts.months_of(self.answer), "end"]
        return [
            Purchase(
                month=labels[int(line["month"])],
                label=line["label"],
                what=line["category"],
                quantity=line["quantity"],
                amount=Decimal(line["amount"]),
            )
            for line in self.shown["lines"]
            if line["category"] in ("capex", "upfront")
        ] + self._commitments(labels)

    def _commitments(self, labels: list[str]) -> list[Purchase]:
        if not self.shown:
            return []
        return [
            Purchase(
                month=labels[int(begun["month"])],
                label=begun["label"],
                what="commitment",
                quantity=begun["units"],
                amount=Decimal(begun["amount"]),
            )
            for begun in self.shown.get("begun", [])
            if begun["kind"] == "commitment"
        ]

    @cached_property
    def used(self) -> list[UsedOffer]:
        """Offers and servers behind the shown plan, the dearest first."""
        if not self.shown:
            return []
        offers = self.answer["offers"]
        sums: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for line in self.shown["lines"]:
            if line["category"] in LINE_SOURCES:
                sums[line["offer_id"] or line["label"]].append(line)
        rows = [
            UsedOffer(
                line=lines[0],
                quantity=sum(float(line["quantity"]) for line in lines),
                amount=sum((Decimal(line["amount"]) for line in lines), Decimal(0)),
                offer=offers.get(key),
            )
            for key, lines in sums.items()
        ]
        return sorted(rows, key=lambda row: -row.amount)

    @property
    def break_even(self) -> list[dict[str, Any]]:
        """Rows with the words of the offer that each server is held against."""
        offers = self.answer["offers"]
        return [
            {**row, "label": offers.get(row["against"], {}).get("label") or row["against"]}
            for row in self.answer.get("break_even") or []
        ]

    @cached_property
    def assumptions(self) -> list[dict[str, Any]]:
        """Rows of the assumptions with the words of the form and whether a page can change them."""
        return [
            {**row, "label": _label(row["field"]), "editable": row["field"] in KINDS}
            for row in self.answer["assumptions"]
        ]

    @property
    def kept_address(self) -> list[tuple[str, str]]:
        """Names and values of the address that the assumption rows do not hold themselves."""
        held = {row["field"] for row in self.assumptions if row["editable"]}
        return [
            (name, value)
            for name, values in (self.query or QueryDict()).lists()
            for value in values
            if name.partition("~")[0] not in held
        ]

    @cached_property
    def warnings(self) -> list[str]:
        """Those of the answer, then those of the shown plan, each once."""
        own = self.shown["warnings"] if self.shown else []
        return list(dict.fromkeys([*self.answer["warnings"], *own]))


_LABELS = {field.path: field.label for field in ALL}


def _label(path: str) -> str:
    """The form's word for a field; its own name in plain words where the form has none."""
    return _LABELS.get(path) or path.rpartition(".")[2].replace("_", " ").capitalize()
