"""How much of a use to commit to, now and in each later month. PURE.

Use is cut into levels: level d is the unit that works whenever at least d are in use, and U_d(t)
the share of period t in which it does. A unit on demand costs 1 an hour of use, a committed one α
an hour, used or not, for τ periods. Each level is decided by itself, at the start of each period in
which it is not committed:

- `newsvendor`: sign where the use expected over the term is worth the price, s · Ū_d ≥ α, with Ū_d
  the mean of the last eight weeks (for a term of a year, of as much of another) and s = 0.7 what of
  it a term keeps. Without s this is the quantile 1 − α of the hourly use (Shaved Ice, 2024).
- `break_even`: sign once what the level has cost on demand within the last τ periods, while it was
  not committed, reaches what a contract costs, α · τ (Wang, Li, Liang 2013). It never costs more
  than twice the hindsight plan and one contract a level; a rule that knows no future can promise
  no less where a contract is paid for used or not (ski rental; Karlin et al. 1988).

`hindsight` is the cheapest of all plans for a use that is known: f(t) = min(f(t − 1) + U_d(t),
f(t − τ) + α τ) for each level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from planner.usage.forecast import MIN_HISTORY, forecast
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]
Rule = Literal["newsvendor", "break_even"]

WEEK_HOURS = 168
RECENT_WEEKS = 8
"""Use of the last weeks that a decision looks at: of 4, 8 and 13 the lowest worst case on two
regions of the Shaved Ice data (CC BY 4.0, doi 10.5281/zenodo.15015992); 2026."""
KEEPS = 0.7
"""Share of the recent use that a year of commitment keeps, s: fitted likewise at prices of 0.4 to
0.8 of on demand."""
MOST_USE = 0.98
"""Mean use that is enough whatever the price."""
MOST_LEVELS = 400
"""Levels that use is cut into: single units up to there."""
JUDGED_WEEKS = 26
"""Weeks of use from which its own past chooses between the rules."""
MAX_HOURS = 120 * 730


@dataclass(frozen=True)
class Price:
    share: float
    """α, price of a committed hour over one on demand."""
    periods: int
    """τ, its term."""


@dataclass(frozen=True)
class LadderMonth:
    """What to sign in a month, as the use is expected."""

    month: int
    """Months from now."""
    sign: float
    committed: float
    """Units committed once it is signed."""
    expected_use: float
    """Units in use on average."""


@dataclass(frozen=True)
class Ladder:
    """How much to sign now and in each later month."""

    rule: Rule
    months: tuple[LadderMonth, ...]
    cost: float
    """Of these months, in the currency of the prices."""
    owed_after: float
    """What the contracts signed in these months cost after them, up to their end."""
    on_demand_cost: float
    past_ratio: float | None
    """What the rule would have cost on the use so far over its hindsight plan; None for a use of
    less than half a year or than a term."""

    @property
    def sign_now(self) -> float:
        return self.months[0].sign

    @property
    def sentence(self) -> str:
        """What to do, and what it rests on.

        >>> month = LadderMonth(0, 12.0, 12.0, 15.0)
        >>> Ladder("newsvendor", (month,), 70.0, 0.0, 100.0, 1.06).sentence
        'Commit 12 units now. On the use so far the rule costs 6% more than hindsight.'
        """
        units = pluralize(int(self.sign_now), "unit") if self.sign_now else "nothing"
        now = f"Commit {units} now."
        pairs = zip(self.months, self.months[1:], strict=False)
        before, then = next((pair for pair in pairs if pair[1].sign > 0), (None, None))
        if before and then:
            more = "more" if then.committed > before.committed else "again"
            now += f" Commit {then.sign:g} {more} in month {then.month + 1} if use is as expected."
        if self.past_ratio is not None:
            now += (
                f" On the use so far the rule costs {self.past_ratio - 1:.0%} more than hindsight."
            )
        if self.rule == "break_even":
            now += " It never costs more than twice as much, and one contract a unit."
        return now


def plan_ladder(
    use: Sequence[float],
    on_demand_per_hour: float,
    committed_per_hour: float,
    term_months: int = 12,
    months: int = 12,
    every_hours: float = 1.0,
    held: Sequence[tuple[float, int]] = (),
    rule: Rule | None = None,
) -> Ladder:
    """How much to sign now and in each of the next `months`.

    `use`: units in use on average in each consecutive hour, or `every_hours` = 730 in each month.
    `held`: units committed already, with the months that they run on. `rule`: by default that of
    the two which cost less on the use so far. Raises `InvalidInput`.

    >>> ladder = plan_ladder([10.0] * 24 * 7 * 30, 4.0, 2.4)
    >>> ladder.sign_now, ladder.rule
    (10.0, 'newsvendor')
    """
    _check(use, on_demand_per_hour, committed_per_hour, term_months, months, every_hours)
    hours = np.asarray(use, dtype=np.float64)
    if not all(0.0 <= units < 1e9 and left >= 0 for units, left in held):
        raise InvalidInput("held", "has less than no units, or than no months")
    weeks = _by_period(hours, every_hours)
    period_hours = every_hours * weeks.shape[1]
    price = Price(
        committed_per_hour / on_demand_per_hour,
        max(1, round(term_months * HOURS_PER_MONTH / period_hours)),
    )
    expected = _expect(weeks, hours, every_hours, months)
    shares, step = levels(np.concatenate([weeks, expected]))
    past, future = shares[: len(weeks)], shares[len(weeks) :]
    ratios = {name: past_ratio(past, price, name, period_hours) for name in RULES}
    newsvendor, proven = ratios["newsvendor"], ratios["break_even"]
    follows_use = len(weeks) * period_hours >= RECENT_WEEKS * WEEK_HOURS
    if newsvendor is not None and proven is not None:
        follows_use = newsvendor <= proven
    rule = rule or ("newsvendor" if follows_use else "break_even")
    left = np.zeros(past.shape[1], np.intp)
    ends = [(round(months * HOURS_PER_MONTH / period_hours), units) for units, months in held]
    at = 0
    for periods, units in sorted(ends, reverse=True):
        count = round(units / step)
        left[at : at + count] = periods
        at += count
    signed, on = follow(shares, price, rule, len(past), left)
    month_of = ((np.arange(len(future)) + 0.5) * period_hours / HOURS_PER_MONTH).astype(np.intp)
    paid = np.where(on, price.share, future).sum(axis=1) * step
    rows = []
    for month in range(months):
        here = month_of == month
        rows.append(
            LadderMonth(
                month,
                float(np.rint(signed[here].sum() * step)),
                float(np.rint(on[here].sum(axis=1).mean() * step)),
                round(float(expected[here].mean()), 2),
            )
        )
    worth = period_hours * on_demand_per_hour
    runs_on = np.maximum(np.arange(len(future)) + price.periods - len(future), 0)
    return Ladder(
        rule=rule,
        months=tuple(rows),
        cost=float(paid.sum() * worth),
        owed_after=float((signed.sum(axis=1) @ runs_on) * price.share * step * worth),
        on_demand_cost=float(future.sum() * step * worth),
        past_ratio=ratios[rule],
    )


def levels(periods: Floats) -> tuple[Floats, float]:
    """[periods, levels] share of each period in which each level is in use, and the units of a
    level; `periods`: [periods, hours] units in use.

    >>> levels(np.array([[2.0, 1.0], [0.0, 1.0]]))[0].tolist()
    [[1.0, 0.5], [0.5, 0.0]]
    """
    step = max(1.0, float(periods.max()) / MOST_LEVELS)
    base = np.arange(max(1, int(np.ceil(periods.max() / step)))) * step
    rows = [np.clip((one[:, None] - base) / step, 0.0, 1.0).mean(axis=0) for one in periods]
    return np.stack(rows), step


def follow(
    shares: Floats, price: Price, rule: Rule, first: int, left: NDArray[np.intp]
) -> tuple[Floats, NDArray[np.bool_]]:
    """[periods, levels] levels signed and committed from period `first` on, by a rule that sees the
    periods before each; `left`: [levels] periods that a contract of each runs on."""
    left = left.copy()
    signed, committed = [], []
    decide = RULES[rule]
    uncovered = shares.copy()
    for period in range(first, len(shares)):
        sign = (left == 0) & decide(shares[:period], uncovered[:period], price)
        left = np.where(sign, price.periods, left)
        signed.append(sign.astype(np.float64))
        committed.append(left > 0)
        uncovered[period] = np.where(left > 0, 0.0, shares[period])
        left = np.maximum(left - 1, 0)
    return np.array(signed), np.array(committed)


def cost_of(shares: Floats, price: Price, rule: Rule) -> float:
    """What a rule costs on a use that it sees week by week, in hours of a unit on demand."""
    _, on = follow(shares, price, rule, 0, np.zeros(shares.shape[1], np.intp))
    return float(np.where(on, price.share, shares).sum())


def hindsight(shares: Floats, price: Price) -> float:
    """The least that the use can cost, known beforehand; contracts are paid to its end."""
    count, term = len(shares), price.periods
    least = np.full((count + 1, shares.shape[1]), np.inf)
    least[0] = 0.0
    for period in range(count):
        least[period + 1] = np.minimum(least[period + 1], least[period] + shares[period])
        end = min(period + term, count)
        signed = least[period] + price.share * (end - period)
        least[end] = np.minimum(least[end], signed)
    return float(least[count].sum())


def past_ratio(shares: Floats, price: Price, rule: Rule, period_hours: float) -> float | None:
    """What a rule would have cost over the hindsight plan; None for less than half a year, and than
    a term, of which a part would say nothing."""
    if len(shares) < max(price.periods, JUDGED_WEEKS * WEEK_HOURS / period_hours):
        return None
    least = hindsight(shares, price)
    return cost_of(shares, price, rule) / least if least > 0 else None


Decide = Callable[[Floats, Floats, Price], NDArray[np.bool_]]


def _newsvendor(seen: Floats, _uncovered: Floats, price: Price) -> NDArray[np.bool_]:
    if not len(seen):
        return np.zeros(seen.shape[1], np.bool_)
    recent = max(1, round(RECENT_WEEKS * price.periods / 52))
    needed = min(price.share / KEEPS, MOST_USE)
    return np.asarray(seen[-recent:].mean(axis=0) >= needed)


def _break_even(_seen: Floats, uncovered: Floats, price: Price) -> NDArray[np.bool_]:
    paid = uncovered[-price.periods :].sum(axis=0)
    return np.asarray(paid >= price.share * price.periods)


RULES: dict[Rule, Decide] = {"newsvendor": _newsvendor, "break_even": _break_even}


def _by_period(hours: Floats, every_hours: float) -> Floats:
    per_period = int(WEEK_HOURS // every_hours)
    if per_period <= 1:
        return hours[:, None]
    whole = len(hours) // per_period * per_period
    return hours[len(hours) - whole :].reshape(-1, per_period)


def _expect(weeks: Floats, hours: Floats, every_hours: float, months: int) -> Floats:
    """[periods, hours] the use of the recent periods over and over, grown as it is forecast."""
    per_month = max(1, round(HOURS_PER_MONTH / every_hours))
    whole = len(hours) // per_month
    by_month = hours[len(hours) - whole * per_month :].reshape(whole, per_month).mean(axis=1)
    recent = weeks[-max(1, round(RECENT_WEEKS * WEEK_HOURS / (weeks.shape[1] * every_hours))) :]
    period_hours = weeks.shape[1] * every_hours
    count = round(months * HOURS_PER_MONTH / period_hours)
    expected = recent[np.arange(count) % len(recent)]
    if whole < MIN_HISTORY or not recent.mean():
        return np.asarray(expected)
    ahead = np.array(forecast(by_month.tolist(), months).p50) / recent.mean()
    month_of = ((np.arange(count) + 0.5) * period_hours / HOURS_PER_MONTH).astype(np.intp)
    return np.asarray(expected * ahead[np.minimum(month_of, months - 1)][:, None])


def _check(
    use: Sequence[float],
    on_demand_per_hour: float,
    committed_per_hour: float,
    term_months: int,
    months: int,
    every_hours: float,
) -> None:
    for name, value, least, most in (
        ("every_hours", every_hours, 1, HOURS_PER_MONTH),
        ("on_demand_per_hour", on_demand_per_hour, 1e-9, 1e9),
        ("committed_per_hour", committed_per_hour, 1e-9, 1e9),
        ("term_months", term_months, 1, 60),
        ("months", months, 1, 60),
    ):
        if not least <= value <= most:
            raise InvalidInput(name, f"{value:g} is not between {least:g} and {most:g}")
    if committed_per_hour >= on_demand_per_hour:
        raise InvalidInput("committed_per_hour", "must be below the price on demand")
    if len(use) * every_hours < (WEEK_HOURS if every_hours < WEEK_HOURS else every_hours):
        raise InvalidInput("use", "holds less than a week of hours, or a month")
    if len(use) * every_hours > MAX_HOURS:
        raise InvalidInput("use", "holds more than ten years")
    if not all(0.0 <= one < 1e9 for one in use):
        raise InvalidInput("use", "has a value that is no number of units from 0 on")
