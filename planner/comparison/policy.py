"""The policy of an answer, and its triggers in words. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from planner.comparison.results import ComparisonResults
from planner.contract.amounts import format_money, format_month, parse_month
from planner.contract.answer.common import Category
from planner.contract.answer.policy import Action, PolicyAnswer, Trigger, TriggerPrice, Unit
from planner.contract.answer.verdict import DecisionPart
from planner.contract.copies import cached_property
from planner.costing.advice.decision import list_parts, write_units
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.policy import policy as costing
from planner.costing.policy.moves import SELL, START, Bundle
from planner.costing.price_processes.process import find_family
from planner.costing.results.scenario_result import cents
from pricing.common.words import capitalize_first, pluralize
from pricing.market.offers import HOURS_PER_MONTH

FAN = "p10", "p50", "p90"
VERBS: Mapping[str, Action] = {"buy": "buy", "lease": "lease", "commit": "sign"}


def build_policy(results: ComparisonResults) -> PolicyAnswer | None:
    """What to do every few months; None where there is nothing to decide later."""
    result = results.policy
    return None if result is None else _Words(results, result).build()


@dataclass(frozen=True)
class _Words:
    results: ComparisonResults
    result: costing.PolicyResult

    def build(self) -> PolicyAnswer:
        result = self.result
        triggers = tuple(self._triggers()) if result.is_worth_telling else ()
        sources = map(self.results.inputs.by_key.__getitem__, result.decisions.figures)
        return PolicyAnswer(
            sentence=self._sentence(triggers),
            every_months=result.decisions.every_months,
            expected=cents(result.expected),
            best_fixed=cents(result.fixed),
            worth=cents(result.fixed) - cents(result.expected),
            bound=cents(min(result.bound, result.fixed)),
            triggers=triggers,
            prices={price_of: round(today, 4) for price_of, _, today in map(self._price, sources)},
        )

    def _month(self, month: int) -> str:
        return format_month(self.results.calendar.month(month))

    def _sentence(self, triggers: Sequence[Trigger]) -> str:
        first, every = self.result.first, pluralize(self.result.decisions.every_months, "month")
        if not self.result.is_worth_telling:
            return (
                f"Decide now: being able to decide again every {every} is worth too little to "
                "wait for."
            )
        able = "wait"
        if first.name.startswith(START):
            able = "sell" if {one.action for one in triggers} == {"sell"} else "decide again"
        amount = format_money(_two_digits(self.result.worth), self.results.request.currency)
        # As the plan is judged without what it is worth to sell or to wait.
        other = f"An alternative, better only if you decide again every {every}: "
        now = capitalize_first(f"{'' if self._is_advised else other}{self._name(first.name)} now.")
        return " ".join([now, *self._join(triggers), f"Being able to {able} is worth {amount}."])

    def _join(self, triggers: Sequence[Trigger]) -> Iterator[str]:
        """What to do if a price turns it, or unless one does where those of today call for it."""

        def move(one: Trigger) -> tuple[str, str, bool]:
            return one.action, one.what, one.is_crossed(one.today, one.month)

        for (action, what, is_crossed), rows in groupby(sorted(triggers, key=move), key=move):
            each = list(rows)
            first = parse_month(min(row.month for row in each))
            prices = (
                self._condition(one.price_of, one.is_above != is_crossed, one.at, one.unit)
                for one in each
            )
            when = f"{'unless' if is_crossed else 'if'} {' or '.join(prices)}"
            yield f"{capitalize_first(action)} {what} in {first:%B %Y} {when}."

    @property
    def _is_advised(self) -> bool:
        plan, first = self.results.advised, self.result.first
        started = Bundle.of(plan).units if plan is not None else {}
        if not first.name.startswith(START):
            return not started
        return self.result.decisions.bundles[costing.bundle_of(first.name)].units == started

    def _name(self, move: str) -> str:
        if not move.startswith(START):
            return self._waiting
        parts = self._bundles[costing.bundle_of(move)]
        return " and ".join(f"{VERBS[part.action]} {_what(part)}" for part in parts)

    @cached_property
    def _waiting(self) -> str:
        """What is done until the next date by whoever starts nothing."""
        decisions, by_key = self.result.decisions, self.results.inputs.by_key
        is_rented = any(
            by_key[key].term is None and hours[: decisions.every_months].any()
            for key, hours in decisions.waiting.used_hours.items()
        )
        return "rent" if is_rented else "keep what is there"

    @cached_property
    def _bundles(self) -> tuple[tuple[DecisionPart, ...], ...]:
        results = self.results
        names = results.preparation.name_place, results.request.currency
        return tuple(
            tuple(
                part.model_copy(update={"units": float(bundle.units[part.source])})
                for part in list_parts(bundle.plan, results.inputs, *names)
                if part.source in bundle.units
            )
            for bundle in self.result.decisions.bundles
        )

    def _triggers(self) -> Iterator[Trigger]:
        for one in self.result.triggers:
            parts = self._bundles[one.bundle]
            source = self.results.inputs.by_key[one.key]
            price_of, unit, today = self._price(source)
            months = self.result.decisions.months.tolist()
            prices = [
                None if factor is None else round(self._price_at(source, month) * factor, 4)
                for month, factor in zip(months, one.factors, strict=True)
            ]
            at, month = prices[one.date], self._month(months[one.date])
            assert at is not None
            what = " and ".join(map(_what, parts))
            yield Trigger(
                action="sell" if one.move == SELL else VERBS[parts[0].action],
                what=what,
                source=one.key,
                price_of=price_of,
                is_above=one.is_above,
                unit=unit,
                today=round(today, 4),
                at=at,
                month=month,
                by_date=tuple(
                    TriggerPrice(
                        month=self._month(month),
                        price=price,
                        **dict(
                            zip(FAN, (fan * self._price_at(source, month)).round(4), strict=True)
                        ),
                    )
                    for month, price, fan in zip(months[1:], prices[1:], one.fan[1:], strict=True)
                ),
                chance=round(one.chance, 4),
            )

    def _price(self, source: CapacitySource) -> tuple[str, Unit, float]:
        family = find_family(source.accelerator)
        name = source.accelerator if family is None else family.name.upper()
        if source.is_owned:
            return f"the price of {source.label}", "per server", self._price_at(source, 0)
        if source.term is None:
            return f"{name} rent", "per accelerator-hour", self._price_at(source, 0)
        words = f"{name} for {pluralize(source.term.duration_months, 'month')}"
        return words, "per accelerator-hour", self._price_at(source, 0)

    def _price_at(self, source: CapacitySource, month: int) -> float:
        if source.is_owned:
            server = self.results.inputs.servers.by_key[source.key]
            assumptions = server.assumptions(self.results.inputs.assumptions)
            trend = 1.0 + assumptions["server_price_trend_per_year"]
            return float(server.unit_price * trend ** (month / 12.0))
        if source.term is not None:
            own = (one for one in source.unit_charges if one.category is not Category.SUPPORT)
            signed = sum(float(one.amounts(source.term)[month].sum()) for one in own)
            hours = source.term.duration_months * float(HOURS_PER_MONTH)
            return signed / hours / source.accelerators
        charges = (one for one in source.hour_charges if one.category is not Category.SUPPORT)
        rents = [float(one.per_hour[month]) for one in charges if one.is_rent]
        return sum(rents) / source.accelerators

    def _condition(self, price_of: str, is_above: bool, price: float, unit: Unit) -> str:
        currency = self.results.request.currency
        by_hour = f"{price:,.2f} {currency} an hour"
        amount = by_hour if unit != "per server" else format_money(_two_digits(price), currency)
        return f"{price_of} is {'above' if is_above else 'below'} {amount}"


def _what(part: DecisionPart) -> str:
    assert part.units is not None
    term = f" for {pluralize(part.term_months, 'month')}" if part.term_months else ""
    return f"{write_units(part.units)} × {part.label}{term}"


def _two_digits(amount: float) -> float:
    """An amount to two digits, three where the first is 1.

    >>> _two_digits(71_674.2), _two_digits(129_700.0)
    (72000.0, 130000.0)
    """
    return float(f"{amount:.2g}" if f"{amount:e}"[0] != "1" else f"{amount:.3g}")
