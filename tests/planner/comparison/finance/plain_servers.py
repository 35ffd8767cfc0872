"""Servers bought, owned and leased, counted month by month for the plain model."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.planner.comparison.finance.plain_contracts import Contracts, Flow

HOURS = 730
MACRS = (0.20, 0.32, 0.192, 0.1152, 0.1152, 0.0576)
"""IRS Publication 946, table A-1."""


class Servers(Contracts):
    """What the servers of a plan cost: `started` units by key and month, `hours` in use."""

    request: dict[str, Any]
    finance: dict[str, Any]
    started: Mapping[str, Mapping[int, int]]
    hours: Mapping[str, Mapping[int, float]]

    @staticmethod
    def terms_of_the_server(request: dict[str, Any]) -> dict[str, Any]:
        """`on_prem` with what the server has of its own."""
        own = request["on_prem"]
        names = ("lead_time_months", "useful_life_months", "financing")
        return own | {name: own["servers"][0][name] for name in names if name in own["servers"][0]}

    def _price(self, bought: int) -> float:
        """Of one server bought in a month."""
        server = self.own["servers"][0]
        every = self.finance["server_price_trend_per_year"]
        trend = server.get("price_trend_per_year", every)
        return float(server["unit_price"] * (1 + trend) ** (bought / 12))

    def _bill(self, category: str, month: int, amount: float, **more: Any) -> Flow:
        """What is paid when bills are."""
        offset = {"month_start": 0.0, "month_middle": 0.5, "month_end": 1.0}
        timing = self.finance["cash_timing"]
        moment = 12.0 * (month // 12 + 1) if timing == "year_end" else month + offset[timing]
        days = self.finance["payment_terms_days"]
        return Flow(category, month, amount, moment + days / (365 / 12), **more)

    def _trend(self, name: str, month: float) -> float:
        return (1 + self.finance.get(name, 0.0)) ** (month / 12)

    def _until(self, ends: str) -> range:
        last = (int(ends[:4]) - 2027) * 12 + int(ends[5:])
        return range(last if self.is_full else min(last, self.months))

    def _operating(self, month: int, bought: int = 0) -> Iterator[Flow]:
        """One server's month in service; support and insurance are of the price that was paid."""
        server, own = self.own["servers"][0], self.own
        price, kw = self._price(bought), server["power_kw"]
        for category, amount, trend in (
            ("colocation", kw * own["colocation_per_kw_month"], "colocation_trend_per_year"),
            ("support", price * own["support_rate_per_year"] / 12, "support_trend_per_year"),
            ("insurance", price * own["insurance_rate_per_year"] / 12, ""),
            ("staff", own["staff_fte_per_server"] * own["staff_cost_per_year"] / 12,
             "staff_cost_trend_per_year"),
            ("power", server["idle_power_kw"] * own["pue"] * HOURS * own["electricity_per_kwh"],
             "electricity_trend_per_year"),
        ):  # fmt: skip
            yield self._bill(category, month, amount * (self._trend(trend, month) if trend else 1))

    def _in_use(self, key: str) -> Iterator[Flow]:
        server, own = self.own["servers"][0], self.own
        draw = server.get("typical_power_kw", server["power_kw"])
        kwh = (draw - server["idle_power_kw"]) * own["pue"]
        for month, hours in self.hours[key].items():
            tariff = own["electricity_per_kwh"] * self._trend("electricity_trend_per_year", month)
            yield self._bill("power", month, hours * kwh * tariff)

    def _cohorts(self) -> Iterator[tuple[str, int, int]]:
        """Key, units and month of each purchase."""
        for key, started in self.started.items():
            if key.startswith("server:"):
                yield from ((key, units, month) for month, units in started.items())

    def _servers(self) -> Iterator[Flow]:
        for _, units, month in self._cohorts():
            for flow in self._cohort(month):
                booked = {m: units * amount for m, amount in flow.booked.items()}
                yield Flow(flow.category, flow.month, units * flow.amount, flow.paid,
                           booked, flow.group)  # fmt: skip
        for key in {key for key, _, _ in self._cohorts()}:
            yield from self._in_use(key)

    def _owned(self) -> Iterator[Flow]:
        """Servers in place: operated to the end of their life, or of the plan. They are there
        whatever is decided, so what they fetch is no income of the plan."""
        own = self.own
        for one in own.get("already_owned", ()):
            age = (2027 - int(one["bought"][:4])) * 12 + 1 - int(one["bought"][5:])
            left = own["useful_life_months"] - age
            if left <= 0:
                continue
            for _ in range(one["units"]):
                for month in range(min(left, self.months)):
                    yield from self._operating(month)
            yield from self._in_use("owned:Box")

    def _sale(self, price: float, bought: int, retired: int) -> Flow:
        """When it retires, or at the end of the plan if that comes first."""
        own, sold = self.own, min(retired, self.months)
        value = price * own["residual_rate"] ** ((sold - bought) / 12)
        value *= 1 - own["resale_cost_rate"]
        month = min(sold, self.months - 1)
        return Flow("residual", month, -value, sold, {sold: -value}, "resale")

    def _lease_of(self, bought: int) -> list[Flow]:
        """The lease of one server signed in a month."""
        if self.own["financing"]["method"] != "lease":
            return []
        price = self._price(bought)
        return list(self._lease(price, bought + self.own["lead_time_months"]))

    def _cohort(self, bought: int) -> Iterator[Flow]:
        """One server bought in a month."""
        own, contract = self.own, self.own["financing"]
        method = contract["method"]
        lead, life = own["lead_time_months"], own["useful_life_months"]
        life = min(life, contract["months"]) if method == "lease" else life
        price = self._price(bought)
        for category, share in (
            ("capex", 0.0 if method == "lease" else 1.0),
            ("network_storage", own["network_storage_rate"]),
            ("install", own["install_cost_rate"]), ("spares", own["spare_rate"]),
        ):  # fmt: skip
            booked = self._write_off(price * share, bought, lead, life)
            yield Flow(category, bought, price * share, bought, booked, "depreciation")
        for month in range(bought + lead, min(bought + lead + life, self.months)):
            yield from self._operating(month, bought)
        if method == "lease":
            yield from self._lease_of(bought)
            return
        if method != "purchase":
            yield from self._loan(price, bought)
        yield self._sale(price, bought, bought + lead + life)

    def _write_off(self, amount: float, bought: int, lead: int, life: int) -> dict[int, float]:
        """By month; what is left when it is sold, or when the plan ends, is written off then."""
        method = self.finance["depreciation"]
        if method == "none":
            return {bought: amount}
        shares = [1 / life] * life
        if method == "macrs_5":
            shares = [rate / 12 for rate in MACRS for _ in range(12)]
        booked = {
            bought + lead + n: amount * share
            for n, share in enumerate(shares[:life])
            if bought + lead + n < self.months
        }
        sold = min(bought + lead + life, self.months)
        return booked | {sold: amount - sum(booked.values())}

    def rents_in_place(self) -> Iterator[list[Flow]]:
        """Rents of each lease that runs already, at the start of their months."""
        for one in self.request["existing"].get("leased_servers", ()):
            rents = [(month, one["rent_per_month"]) for month in self._until(one["ends"])]
            yield [Flow("lease", month, rent, month) for month, rent in rents]

    def _leased(self) -> Iterator[Flow]:
        for number, one in enumerate(self.request["existing"].get("leased_servers", ())):
            months = self._until(one["ends"])
            for month in months:
                rent = self._bill("lease", month, one["rent_per_month"])
                rent.group = "lease"
                yield rent
                if month < self.months:
                    yield from self._operating(month)
            yield from self._in_use(f"leased:{number}:Box")
