"""Loans and leases counted payment by payment, for the plain model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Flow:
    """One cost of one month."""

    category: str
    month: int
    amount: float
    paid: float
    """Months from the start to its payment."""
    booked: dict[int, float] = field(default_factory=dict)
    """Month → cost; empty: of the month in which it is due."""
    group: str = "operating"
    provider: str = ""

    @property
    def costs(self) -> Mapping[int, float]:
        return self.booked or {self.month: self.amount}


class Contracts:
    """What a server costs under its contract; `own` is the request's `on_prem`."""

    own: dict[str, Any]
    months: int
    is_full: bool

    def _instalments(self, price: float) -> tuple[float, float]:
        """Instalment and monthly rate, found by halving: the balance must end at the balloon."""
        contract = self.own["financing"]
        rate, n = contract["interest_rate_per_year"] / 12, contract["months"]
        low, high = 0.0, 2 * price
        for _ in range(200):
            middle = (low + high) / 2
            balance = price * (1 - contract["deposit_rate"])
            for _ in range(n):
                if contract["payments"] == "in_advance":
                    balance = (balance - middle) * (1 + rate)
                else:
                    balance = balance * (1 + rate) - middle
            low, high = (
                (middle, high) if balance > price * contract["balloon_rate"] else (low, middle)
            )
        return middle, rate

    def right_of_use(self, rents: list[Flow]) -> Iterator[tuple[str, int, float]]:
        """IFRS 16 of one lease: depreciation and interest of each month, the liability worth its
        payments at first and the asset as much."""
        if not rents:
            return
        rate = self.own["financing"].get("interest_rate_per_year", 0.11) / 12
        months = sorted({month for one in rents for month in one.costs})
        first = months[0]
        asset = sum(one.amount / (1 + rate) ** (one.paid - first) for one in rents)
        balance, interest = asset, {}
        for month in months:
            balance -= sum(one.amount for one in rents if one.paid == one.month == month)
            interest[month] = balance * rate
            late = sum(one.amount for one in rents if one.month == month < one.paid)
            balance += interest[month] - late
        assert abs(balance) < 0.01
        for month in months:
            yield "depreciation", month, asset / len(months)
            yield "interest", month, interest[month]

    def _lease(self, price: float, first: int) -> Iterator[Flow]:
        contract = self.own["financing"]
        rent, _ = self._instalments(price)
        n, late = contract["months"], contract["payments"] == "in_arrears"
        months = [m for m in range(first, first + n) if self.is_full or m < self.months]
        deposit = price * contract["deposit_rate"] * len(months) / n
        share = {month: deposit / len(months) for month in months}
        yield Flow("lease", first, deposit, first, share, "lease")
        for month in months:
            yield Flow("lease", month, rent, month + late, group="lease")

    def _loan(self, price: float, first: int) -> Iterator[Flow]:
        contract = self.own["financing"]
        payment, rate = self._instalments(price)
        n, late = contract["months"], contract["payments"] == "in_arrears"
        balance = price * (1 - contract["deposit_rate"])
        yield Flow("loan", first, -balance, first, group="loan")
        owed = 0.0
        for month in range(first, first + n):
            if not self.is_full and month >= self.months:
                yield Flow("loan", month - 1, balance, month, group="loan")
                if owed:
                    yield Flow("interest", month - 1, owed, month, {self.months: 0.0}, "interest")
                return
            accrued = balance * rate if late else 0.0
            interest = accrued if late else owed
            balance -= payment - interest
            accrued = accrued if late else balance * rate
            owed = 0.0 if late else accrued
            yield Flow("interest", month, interest, month + late, {month: accrued}, "interest")
            yield Flow("loan", month, payment - interest, month + late, group="loan")
        yield Flow("loan", first + n - 1, balance, first + n, group="loan")
        yield Flow("interest", first + n - 1, owed, first + n, {self.months: 0.0}, "interest")
