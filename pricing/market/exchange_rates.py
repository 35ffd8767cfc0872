"""Dated exchange rates: what one US dollar was worth in another currency. PURE.

A price keeps its own currency; a converted price is never taken for the provider's local
price. The rate used, its date and its source go with every conversion.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from pricing.common.invalid_input import InvalidInput


@dataclass(frozen=True)
class ExchangeRate:
    """`units_per_usd` units of `currency` bought one US dollar on `date`."""

    currency: str
    date: dt.date
    units_per_usd: Decimal
    source: str = ""


@dataclass(frozen=True)
class ExchangeRates:
    """Rates by currency, each list in order of date.

    >>> rates = ExchangeRates.of([
    ...     ExchangeRate("EUR", dt.date(2026, 1, 1), Decimal("0.85")),
    ...     ExchangeRate("EUR", dt.date(2026, 6, 1), Decimal("0.90"))])
    >>> rates.find("EUR").units_per_usd, rates.find("EUR", dt.date(2026, 3, 1)).units_per_usd
    (Decimal('0.90'), Decimal('0.85'))
    >>> rates.find("USD").units_per_usd
    Decimal('1')
    """

    by_currency: Mapping[str, tuple[ExchangeRate, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, rates: Iterable[ExchangeRate]) -> ExchangeRates:
        """Group `rates` by currency in order of date; of two on one day the last given counts."""
        grouped: dict[str, dict[dt.date, ExchangeRate]] = defaultdict(dict)
        for rate in rates:
            grouped[rate.currency][rate.date] = rate
        return cls({c: tuple(days[d] for d in sorted(days)) for c, days in grouped.items()})

    def known_by(self, day: dt.date) -> ExchangeRates:
        """The rates known on a day; of a currency first known later, its first rate."""
        return ExchangeRates(
            {
                currency: tuple(r for r in rates if r.date <= day) or rates[:1]
                for currency, rates in self.by_currency.items()
            }
        )

    @property
    def latest(self) -> tuple[ExchangeRate, ...]:
        """The last rate of each currency: the one that converts where no day is asked for."""
        return tuple(self.by_currency[currency][-1] for currency in sorted(self.by_currency))

    @property
    def currencies(self) -> tuple[str, ...]:
        return tuple(sorted({"USD", *self.by_currency}))

    def find(
        self, currency: str, on: dt.date | None = None, *, field: str = "currency"
    ) -> ExchangeRate:
        """The last rate known on the day `on`; the last of all without a day.

        Raises `InvalidInput(field, …)` for a currency without a rate on or before that day.
        """
        if currency == "USD":
            return ExchangeRate("USD", on or dt.date.min, Decimal(1), "definition")
        rates = self.by_currency.get(currency, ())
        if not rates:
            allowed = ", ".join(self.currencies)
            raise InvalidInput(field, f"no exchange rate for {currency!r}; known are {allowed}")
        if on is None:
            return rates[-1]
        index = bisect_right([rate.date for rate in rates], on)
        if index == 0:
            first = rates[0].date.isoformat()
            raise InvalidInput(
                field, f"no exchange rate for {currency} on {on}; the first known is of {first}"
            )
        return rates[index - 1]

    def to_usd(self, amount: Decimal, currency: str) -> Decimal:
        """amount / units_per_usd, in US dollars.

        >>> rates = ExchangeRates.of([ExchangeRate("CNY", dt.date(2026, 1, 1), Decimal(8))])
        >>> rates.to_usd(Decimal(64), "CNY")
        Decimal('8')
        """
        return amount / self.find(currency).units_per_usd
