"""What people call the limits of a request, and what would have to be asked instead. PURE."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from planner.contract.answer.relaxation import Relaxation
from planner.contract.answer.verdict import Alternative, BudgetUse
from planner.contract.labels import budget_title
from planner.contract.money import format_money
from planner.contract.purchase_options import COMMITTED
from planner.contract.request.comparison import ComparisonRequest
from planner.costing.inputs.offer_rules import QuotaRule
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import (
    LARGEST_SHARE,
    LEAST_GROUPS,
    ConflictingConstraint,
)
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import resolve

_BUDGETS = {
    "capex_budget": "capital budget",
    "monthly_budget": "monthly budget",
    "total_budget": "total budget",
}
_SPOT, _QUOTA, _MOST_UNITS = "max_spot_share", "quota ", "max_units "
_OF_YEAR = "capex_by_fiscal_year "
_ROOM = f"{_QUOTA}constraints."
_ROOM_NAMES = {
    "power_kw": ("power limit for own servers", "kW"),
    "rack_units": ("rack limit for own servers", "rack units"),
}


@dataclass(frozen=True)
class NamedLimit:
    """A limit as a reader knows it."""

    field: str
    """Field of the request that sets it."""
    name: str
    unit: str
    """Currency code, %, accelerators, servers, providers, kW or rack units."""
    is_least: bool = False
    """Whether it is a least number, which has to be lowered."""

    def amount(self, value: float) -> str:
        """A value of it with its unit.

        >>> NamedLimit("constraints.monthly_budget", "monthly budget", "EUR").amount(42336)
        '42,336 EUR'
        >>> NamedLimit("constraints.max_spot_share", "share of spot", "%").amount(0.4568)
        '45.68 %'
        >>> NamedLimit("constraints.total_budget", "budget", "EUR").amount(900000.5)
        '900,000.50 EUR'
        """
        shown = round(value * 100, 6) if self.unit == "%" else value
        unit = self.unit.removesuffix("s") if shown == 1 else self.unit
        is_in_cents = self.unit.isupper() and round(shown) != shown == round(shown, 2)
        return f"{shown:,.2f} {unit}" if is_in_cents else f"{shown:,.10g} {unit}"

    def now(self, value: float) -> str:
        """`monthly budget (now 100 USD)`."""
        return f"{self.name} (now {self.amount(value)})"

    def instead(self, current: float, required: float) -> str:
        """`a monthly budget of at least 42,336 USD instead of 100 USD`; a least number has no unit,
        as its name says it.

        >>> NamedLimit("f", "minimum number of providers", "providers", is_least=True).instead(3, 2)
        'a minimum of 2 providers instead of 3'
        """
        if self.is_least:
            return f"a minimum of {self.amount(required)} instead of {current:g}"
        return (
            f"a {self.name} of at least {self.amount(required)} instead of {self.amount(current)}"
        )


def name_limit(limit: str, request: ComparisonRequest, inputs: ModelInputs) -> NamedLimit:
    """The limit that the optimiser calls `limit`, in the words of the request."""
    if limit in _BUDGETS:
        return NamedLimit(f"constraints.{limit}", _BUDGETS[limit], request.currency)
    if limit == _SPOT:
        return NamedLimit(f"constraints.{limit}", "share of spot", "%")
    if limit == LARGEST_SHARE:
        return NamedLimit("constraints.max_provider_share", "largest share of one provider", "%")
    if limit == LEAST_GROUPS:
        name = "minimum number of providers"
        return NamedLimit("constraints.min_providers", name, "providers", is_least=True)
    if limit.startswith(_ROOM):
        return _name_room(limit.removeprefix(_QUOTA), request)
    if limit.startswith(_QUOTA):
        return _name_quota(limit.removeprefix(_QUOTA), request, inputs)
    if limit.startswith(_OF_YEAR):
        return _name_year(int(limit.removeprefix(_OF_YEAR)), request)
    return _name_most_units(limit.removeprefix(_MOST_UNITS), request, inputs)


def _name_year(year: int, request: ComparisonRequest) -> NamedLimit:
    years = [budget.fiscal_year for budget in request.constraints.capex_by_fiscal_year]
    field = f"constraints.capex_by_fiscal_year.{years.index(year)}.amount"
    return NamedLimit(field, f"capital budget of fiscal year {year}", request.currency)


def _name_room(field: str, request: ComparisonRequest) -> NamedLimit:
    name, unit = _ROOM_NAMES[field.rpartition(".")[2]]
    numbers = [part for part in field.split(".") if part.isdigit()]
    place = request.constraints.sites[int(numbers[0])].site if numbers else ""
    return NamedLimit(field, f"{name} at {place}" if place else name, unit)


def _name_quota(group: str, request: ComparisonRequest, inputs: ModelInputs) -> NamedLimit:
    index = [quota.group for quota in inputs.quotas].index(group)
    quota = request.constraints.quotas[index]
    rule = QuotaRule(group, quota.provider, quota.region, resolve(quota.accelerator).slug)
    field = f"constraints.quotas.{index}.max_accelerators"
    return NamedLimit(field, rule.words, "accelerators")


def _name_most_units(key: str, request: ComparisonRequest, inputs: ModelInputs) -> NamedLimit:
    source = inputs.by_key[key]
    slug = key.removeprefix("server:")
    names = [
        server.label or server.server if server.server == "custom" else server.server
        for server in request.on_prem.servers or ()
    ]
    at = f"on_prem.servers.{names.index(slug)}" if slug in names else "on_prem.servers"
    return NamedLimit(f"{at}.max_units", f"limit on purchases of {source.label}", "servers")


def list_relaxations(
    conflicts: Sequence[ConflictingConstraint], request: ComparisonRequest, inputs: ModelInputs
) -> tuple[Relaxation, ...]:
    """What would let a plan in, of the limits in conflict that have a value."""
    return tuple(_relax(conflict, request, inputs) for conflict in conflicts)


def _relax(
    conflict: ConflictingConstraint, request: ComparisonRequest, inputs: ModelInputs
) -> Relaxation:
    named = name_limit(conflict.limit, request, inputs)
    current, required = conflict.current_value or 0.0, conflict.least
    if named.is_least:  # 1 asks for nothing: servers that come later work in no month before
        required = max(required, 1.0)
    both = "" if conflict.is_sufficient else ", together with the other limits named"
    return Relaxation(
        field=named.field,
        current_value=current,
        required_value=required,
        is_sufficient=conflict.is_sufficient,
        change=f"a minimum of {named.amount(required)}"
        if named.is_least
        else f"a {named.name} of {named.amount(required)}",
        sentence=f"It takes {named.instead(current, required)}{both}.",
    )


def describe_relaxations(relaxations: Sequence[Relaxation]) -> str:
    """Those of which one alone is enough as alternatives, those that must change together as such;
    empty without any.

    >>> one, other = (
    ...     Relaxation(
    ...         field="a", current_value=1, required_value=2, is_sufficient=True, change=more,
    ...         sentence=f"It takes {more}."
    ...     )
    ...     for more in ("more money", "more spot")
    ... )
    >>> describe_relaxations((one, other))
    'It takes more money, or more spot.'
    """
    if len(relaxations) < 2 or not all(one.is_sufficient for one in relaxations):
        return " ".join(one.sentence for one in relaxations)
    first, *others = (one.sentence.rstrip(".") for one in relaxations)
    return f"{', or '.join([first, *(other.removeprefix('It takes ') for other in others)])}."


def as_typed(value: object) -> str:
    """A value as a request in TOML or JSON has it.

    >>> as_typed(True), as_typed(("commercial", "other-clouds")), as_typed("prorate"), as_typed(12)
    ('true', '["commercial", "other-clouds"]', '"prorate"', '12')
    """
    return json.dumps(value, ensure_ascii=False, default=str)


def describe_longest_term(request: ComparisonRequest, inputs: ModelInputs) -> str:
    """That a plan commits to nothing because of the longest commitment that may be signed; "" where
    nothing limits it, the plan is shorter still, or commitments are not asked for at all."""
    limits, months = request.constraints, inputs.calendar.months
    longest, options = limits.max_term_months, limits.purchase_options
    is_shorter = inputs.term_end == "within" and longest is not None and months < longest
    if longest is None or is_shorter or (options and not COMMITTED & set(options)):
        return ""
    return (
        f"Commitments of more than {pluralize(longest, 'month')} may not be signed, and none of up "
        f"to {pluralize(longest, 'month')} that has a known price would make the plan cheaper."
    )


def describe_alternative(one: Alternative, currency: str) -> str:
    """What lifting a rule would save, or make possible, and how a request lifts it."""
    without = one.value is None or one.value == ()
    changes = [(one.field, one.value), *((other.field, other.value) for other in one.together_with)]
    listed = " and ".join(f"{field} = {as_typed(value)}" for field, value in changes)
    how = f"without {one.field}" if without else f"with {listed}"
    if one.saving is None:
        in_all = f"{format_money(one.total, currency)} in all"
        total = "" if one.plan.endswith(f" {in_all}).") else f" {in_all}."
        return f"Possible {how}: {one.plan}{total} {one.why}"
    saving = format_money(one.saving, currency)
    return f"Cheaper by {saving} of present value {how}: {one.plan} {one.why}"


def describe_budget(use: BudgetUse, currency: str) -> str:
    """What a plan leaves of a budget, or is over it.

    >>> use = BudgetUse(
    ...     kind="capital", fiscal_year=2027, budget=900_000, planned=720_000, headroom=180_000,
    ...     sentence="One server."
    ... )
    >>> describe_budget(use, "USD")
    'Capital budget of fiscal year 2027: 180,000 USD left of 900,000 USD. One server.'
    """
    side = "over" if use.headroom < 0 else "left of"
    amounts = f"{abs(use.headroom):,.0f} {currency} {side} {use.budget:,.0f} {currency}"
    return f"{budget_title(use.kind, use.fiscal_year)}: {amounts}. {use.sentence}".strip()
