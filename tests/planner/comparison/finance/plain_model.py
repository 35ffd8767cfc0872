"""A plan's money counted again, month by month in plain loops: nothing of the planner but what the
plan buys and the hours that it uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from tests.planner.comparison.finance.plain_contracts import Contracts, Flow

HOURS = 730


class PlainModel(Contracts):
    """The flows of one scenario of a request of `random_requests`."""

    def __init__(self, request: dict[str, Any], plan: Any, offers: Mapping[str, Any]) -> None:
        self.request, self.plan, self.offers = request, plan, offers
        self.finance, self.own = request["finance"], request["on_prem"]
        self.months = request["horizon_months"]
        self.tax = self.finance.get("tax_rate", 0.0)
        self.is_full = request["term_end"] == "full"
        self.started: dict[str, dict[int, int]] = defaultdict(dict)
        for row in plan.purchases:
            self.started[row.source][row.month] = int(row.units)
        self.hours: dict[str, dict[int, float]] = defaultdict(dict)
        for row in plan.capacity:
            if row.hours_used:
                self.hours[row.source][row.month] = row.hours_used / 8
        self.flows = list(self._all())

    # What it comes to -------------------------------------------------------------------------

    @property
    def total(self) -> float:
        return sum(flow.amount for flow in self.flows)

    @property
    def present(self) -> float:
        rate = self.finance["discount_rate_per_year"]
        return sum(flow.amount * (1 + rate) ** (-flow.paid / 12) for flow in self.flows)

    def by_category(self) -> dict[str, float]:
        sums: dict[str, float] = defaultdict(float)
        for flow in self.flows:
            sums[flow.category] += flow.amount
        return sums

    def cost_of_years(self) -> dict[int, float]:
        sums: dict[int, float] = defaultdict(float)
        for flow in (one for one in self.flows if one.group != "loan"):
            for month, amount in flow.costs.items():
                sums[self._year(month)] += amount
        return sums

    def cash_of_years(self) -> dict[int, float]:
        sums: dict[int, float] = defaultdict(float)
        for flow in self.flows:
            whole = int(flow.paid)
            is_end = abs(flow.paid - round(flow.paid)) < 1e-9 and flow.paid > flow.month + 1e-9
            month = round(flow.paid) - 1 if is_end else whole
            sums[self._year(max(month, flow.month))] += flow.amount
        return sums

    def _year(self, month: int) -> int:
        first = self.finance["fiscal_year_start_month"]
        absolute = 2027 * 12 + month
        year, calendar_month = divmod(absolute, 12)
        return year + (first > 1 and calendar_month + 1 >= first)

    # Flows ------------------------------------------------------------------------------------

    def _all(self) -> Iterator[Flow]:
        bills = [*self._rent(), *self._commitments(), *self._signed()]
        flows = [*bills, *self._servers(), *self._leased(), *self._others()]
        flows += self._pools(flows)
        yield from flows
        yield from self._taxes(flows)

    def _bill(self, category: str, month: int, amount: float, **more: Any) -> Flow:
        """What is paid when bills are."""
        offset = {"month_start": 0.0, "month_middle": 0.5, "month_end": 1.0}
        timing = self.finance["cash_timing"]
        moment = 12.0 * (month // 12 + 1) if timing == "year_end" else month + offset[timing]
        days = self.finance["payment_terms_days"]
        return Flow(category, month, amount, moment + days / (365 / 12), **more)

    def _trend(self, name: str, month: float) -> float:
        return (1 + self.finance.get(name, 0.0)) ** (month / 12)

    def _rent(self) -> Iterator[Flow]:
        for key, used in self.hours.items():
            offer = self.offers.get(key)
            if offer is None or offer["purchase_option"] != "on_demand":
                continue
            for month, hours in used.items():
                bill = (
                    hours * offer["usd_per_hour"] * self._trend("cloud_price_trend_per_year", month)
                )
                yield from self._with_support("compute", month, bill, offer["provider"])
                yield self._staff(month, hours)

    def _staff(self, month: int, hours: float) -> Flow:
        fte, cost = self.finance["cloud_staff_fte_per_accelerator"], self.own["staff_cost_per_year"]
        wages = self._trend("staff_cost_trend_per_year", month)
        return self._bill("staff", month, hours * 8 * fte * cost / 8760 * wages)

    def _with_support(
        self, category: str, month: int, bill: float, provider: str
    ) -> Iterator[Flow]:
        rate = self.finance["cloud_support_rate"]
        yield self._bill(category, month, bill, provider=provider)
        yield self._bill("support", month, bill * rate, provider=provider)

    def _commitments(self) -> Iterator[Flow]:
        for key, started in self.started.items():
            offer = self.offers.get(key)
            if offer is None:
                continue
            for first, units in started.items():
                last = first + offer["term_months"]
                charged = [m for m in range(first, last) if self.is_full or m < self.months]
                trend = self._trend("cloud_price_trend_per_year", first)
                for month in charged:
                    bill = units * HOURS * offer["usd_per_hour"] * trend
                    yield from self._with_support("commitment", month, bill, offer["provider"])
                upfront = units * offer["upfront_usd"] * trend * len(charged) / offer["term_months"]
                share = {month: upfront / len(charged) for month in charged}
                yield Flow("upfront", first, upfront, first, share, provider=offer["provider"])
                rate = self.finance["cloud_support_rate"]
                yield self._bill("support", first, upfront * rate, provider=offer["provider"])
            for month, hours in self.hours[key].items():
                yield self._staff(month, hours)

    def _signed(self) -> Iterator[Flow]:
        for one in self.request["existing"].get("commitments", ()):
            for month in self._until(one["ends"]):
                yield from self._with_support(
                    "commitment", month, one["price_per_month"], one["provider"]
                )
        for key, used in self.hours.items():
            if ":signed:" in key:
                for month, hours in used.items():
                    yield self._staff(month, hours)

    def _until(self, ends: str) -> range:
        last = (int(ends[:4]) - 2027) * 12 + int(ends[5:])
        return range(last if self.is_full else min(last, self.months))

    def _operating(self, month: int) -> Iterator[Flow]:
        """One server's month in service."""
        server, own = self.own["servers"][0], self.own
        price, kw = server["unit_price"], server["power_kw"]
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
        kwh = (server["power_kw"] - server["idle_power_kw"]) * own["pue"]
        for month, hours in self.hours[key].items():
            tariff = own["electricity_per_kwh"] * self._trend("electricity_trend_per_year", month)
            yield self._bill("power", month, hours * kwh * tariff)

    def _servers(self) -> Iterator[Flow]:
        for key, started in self.started.items():
            if key.startswith("server:"):
                for month, units in started.items():
                    for flow in self._cohort(month):
                        booked = {m: units * amount for m, amount in flow.booked.items()}
                        yield Flow(flow.category, flow.month, units * flow.amount, flow.paid,
                                   booked, flow.group)  # fmt: skip
                yield from self._in_use(key)

    def _cohort(self, bought: int) -> Iterator[Flow]:
        """One server bought in a month."""
        own, contract = self.own, self.own["financing"]
        method = contract["method"]
        lead, life = own["lead_time_months"], own["useful_life_months"]
        life = min(life, contract["months"]) if method == "lease" else life
        trend = self._trend("server_price_trend_per_year", bought)
        price = own["servers"][0]["unit_price"] * trend
        for category, share in (
            ("capex", 0.0 if method == "lease" else 1.0),
            ("network_storage", own["network_storage_rate"]),
            ("install", own["install_cost_rate"]), ("spares", own["spare_rate"]),
        ):  # fmt: skip
            booked = self._write_off(price * share, bought + lead, life)
            yield Flow(category, bought, price * share, bought, booked, "depreciation")
        for month in range(bought + lead, min(bought + lead + life, self.months)):
            yield from self._operating(month)
        if method == "lease":
            yield from self._lease(price, bought + lead)
            return
        if method != "purchase":
            yield from self._loan(price, bought)
        retired = bought + lead + life
        sold = min(retired, self.months)
        value = (
            price * own["residual_rate"] ** ((sold - bought) / 12) * (1 - own["resale_cost_rate"])
        )
        at = sold if retired < self.months else self.months
        booked = {min(at, self.months - 1) if at == self.months else at: -value}
        yield Flow("residual", min(at, self.months - 1) if at == self.months else at, -value, at,
                   booked, "resale")  # fmt: skip

    def _write_off(self, amount: float, first: int, life: int) -> dict[int, float]:
        months = [m for m in range(first, first + life) if m < self.months]
        booked = dict.fromkeys(months, amount / life)
        last = self.months - 1
        booked[last] = booked.get(last, 0.0) + amount * (1 - len(months) / life)
        return booked

    def _leased(self) -> Iterator[Flow]:
        for number, one in enumerate(self.request["existing"].get("leased_servers", ())):
            months = self._until(one["ends"])
            for month in months:
                yield self._bill("lease", month, one["rent_per_month"])
                if month < self.months:
                    yield from self._operating(month)
            yield from self._in_use(f"leased:{number}:Box")

    def _others(self) -> Iterator[Flow]:
        for cost in self.request["other_costs"]:
            if "amount" in cost:
                yield Flow("other", cost["month"], cost["amount"], cost["month"])
            else:
                for month in range(cost["month"], self.months):
                    yield self._bill("other", month, cost["per_month"])

    def _pools(self, flows: list[Flow]) -> list[Flow]:
        billed = ("compute", "commitment", "upfront", "support")
        bills: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for flow in flows:
            if flow.provider and flow.category in billed:
                bills[flow.provider][flow.month] += flow.amount
        settled = []
        for one in sorted(self.request["existing"].get("credits", ()), key=lambda c: c["expires"]):
            left, last = (
                one["amount"],
                (int(one["expires"][:4]) - 2027) * 12 + int(one["expires"][5:]),
            )
            for month in sorted(bills[one["provider"]]):
                used = min(left, bills[one["provider"]][month]) if month < last else 0.0
                left -= used
                bills[one["provider"]][month] -= used
                settled.append(self._bill("credit", month, -used))
        for one in self.request["existing"].get("minimum_spend", ()):
            last = min(int(one["last"][5:]) + 12 * (int(one["last"][:4]) - 2027), self.months) - 1
            all_months = int(one["last"][5:]) + 12 * (int(one["last"][:4]) - 2027)
            due = one["amount"] * (last + 1) / all_months
            counted = sum(a for m, a in bills[one["provider"]].items() if m <= last)
            settled.append(Flow("shortfall", last, max(0.0, due - counted), last + 1))
        return settled

    def _taxes(self, flows: list[Flow]) -> Iterator[Flow]:
        """Expenses when they are due, upfront payments over their term, capital as it is written
        off, resale when it is sold."""
        for flow in flows:
            if flow.group == "loan":
                continue
            if flow.group in ("depreciation", "resale"):
                for month, amount in flow.costs.items():
                    relief = -self.tax * amount
                    at = float(self.months if month == self.months - 1 else month)
                    yield from self._split_closing(flow, month, relief, at)
            elif flow.category == "upfront":
                for month, amount in flow.costs.items():
                    yield Flow("tax", month, -self.tax * amount, month)
            else:
                yield Flow("tax", flow.month, -self.tax * flow.amount, flow.paid)

    def _split_closing(self, flow: Flow, month: int, relief: float, at: float) -> Iterator[Flow]:
        """Tax of the horizon's last month, what closes it apart."""
        if flow.group == "resale":
            yield Flow("tax", month, relief, flow.paid)
            return
        if month != self.months - 1:
            yield Flow("tax", month, relief, at)
            return
        contract, own = self.own["financing"], self.own
        life = own["useful_life_months"]
        life = min(life, contract["months"]) if contract["method"] == "lease" else life
        first = flow.month + own["lead_time_months"]
        part = flow.amount / life if first <= month < first + life else 0.0
        yield Flow("tax", month, -self.tax * part, month)
        yield Flow("tax", month, relief + self.tax * part, at)
