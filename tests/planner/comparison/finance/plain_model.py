"""A plan's money counted again, month by month in plain loops: nothing of the planner but what the
plan buys and the hours that it uses."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from tests.planner.comparison.finance.plain_contracts import Flow
from tests.planner.comparison.finance.plain_data import PlainData
from tests.planner.comparison.finance.plain_servers import HOURS, Servers


class PlainModel(Servers):
    """The flows of one scenario of a request of `random_requests`."""

    def __init__(self, request: dict[str, Any], plan: Any, offers: Mapping[str, Any]) -> None:
        self.request, self.plan, self.offers = request, plan, offers
        self.finance, self.own = request["finance"], self.terms_of_the_server(request)
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

    def cost_of_years(self) -> dict[tuple[int, str], float]:
        """By fiscal year and kind of cost; what closes the plan is of its last month."""
        sums: dict[tuple[int, str], float] = defaultdict(float)
        for flow in (one for one in self.flows if one.group != "loan"):
            kind = "tax" if flow.category == "tax" else flow.group
            for month, amount in flow.costs.items():
                if kind in ("depreciation", "resale"):
                    month = min(month, self.months - 1)
                sums[self.year(month), kind] += amount
        return sums

    def lease_books(self) -> dict[tuple[int, str], float]:
        """Depreciation of the right of use and interest of IFRS 16, by fiscal year."""
        sums: dict[tuple[int, str], float] = defaultdict(float)
        for _, units, first in self._cohorts():
            rents = [one for one in self._lease_of(first) if one.category == "lease"]
            for kind, month, amount in self.right_of_use(rents):
                sums[self.year(month), kind] += units * amount
        for rents in self.rents_in_place():
            for kind, month, amount in self.right_of_use(rents):
                sums[self.year(month), kind] += amount
        return sums

    def cash_of_years(self) -> dict[int, float]:
        sums: dict[int, float] = defaultdict(float)
        for flow in self.flows:
            whole = int(flow.paid)
            is_end = abs(flow.paid - round(flow.paid)) < 1e-9 and flow.paid > flow.month + 1e-9
            month = round(flow.paid) - 1 if is_end else whole
            sums[self.year(max(month, flow.month))] += flow.amount
        return sums

    def due_per_month(self) -> dict[int, float]:
        """All that is paid but what servers fetch and the tax on it."""
        taxed = self.tax * (self.finance["depreciation"] != "none")
        sums: dict[int, float] = defaultdict(float)
        for flow in self.flows:
            is_resale = flow.category == "residual"
            sums[flow.month] += flow.amount * (taxed if is_resale else 1.0)
        return sums

    def year(self, month: int) -> int:
        first = self.finance["fiscal_year_start_month"]
        absolute = 2027 * 12 + month
        year, calendar_month = divmod(absolute, 12)
        return year + (first > 1 and calendar_month + 1 >= first)

    # Flows ------------------------------------------------------------------------------------

    def _all(self) -> Iterator[Flow]:
        bills = [*self._rent(), *self._commitments(), *self._signed()]
        flows = [*bills, *self._servers(), *self._owned(), *self._leased(), *self._others()]
        flows += self._data(PlainData(self.request))
        flows += self._pools(flows)
        yield from flows
        yield from self._taxes(flows)

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
                support = self._bill("support", first, upfront * rate, provider=offer["provider"])
                support.booked = {month: rate * amount for month, amount in share.items()}
                yield support
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

    def _others(self) -> Iterator[Flow]:
        for cost in self.request["other_costs"]:
            if self.plan.key.value not in cost.get("scenarios", [self.plan.key.value]):
                continue
            if "amount" in cost:
                yield Flow("other", cost["month"], cost["amount"], cost["month"])
                continue
            hours = self.request["workload"]["hours_per_month"]
            for month in range(cost["month"], self.months):
                by_the_hour = cost.get("per_accelerator_hour", 0) * hours[month]
                yield self._bill("other", month, cost.get("per_month", by_the_hour))

    def _data(self, data: PlainData) -> Iterator[Flow]:
        """At its home, and in the share of the work that is done at each place: of the hours asked
        for, or of the whole machines that would do all of it by the hour."""
        demand = self.request["workload"]["hours_per_month"]
        for month in range(self.months):
            yield self._bill("storage", month, data.at_home)
        for key, used in self.hours.items():
            option = self.offers.get(key, {}).get("purchase_option")
            provider = key.partition(":")[0] if option else "aws" * (":signed:" in key)
            for month, hours in used.items():
                whole = ceil(demand[month] / (8 * HOURS)) * 8 * HOURS
                share = 8 * hours / (whole if option == "on_demand" else demand[month])
                for category, amount in data.costs_at(provider):
                    yield self._bill(category, month, share * amount, provider=provider)

    def _pools(self, flows: list[Flow]) -> list[Flow]:
        billed = ("compute", "commitment", "upfront", "support", "storage", "egress")
        bills: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for flow in flows:
            if flow.provider and flow.category in billed:
                bills[flow.provider][flow.month] += flow.amount
        settled, ahead = [], defaultdict(float)
        for flow in flows:
            ahead[flow.provider, flow.month] += flow.amount * (flow.category == "upfront")
        for one in sorted(self.request["existing"].get("credits", ()), key=lambda c: c["expires"]):
            left, last = (
                one["amount"],
                (int(one["expires"][:4]) - 2027) * 12 + int(one["expires"][5:]),
            )
            for month in sorted(bills[one["provider"]]):
                bill = bills[one["provider"]][month] - ahead[one["provider"], month]
                used = min(left, bill) if month < last else 0.0
                left -= used
                bills[one["provider"]][month] -= used
                settled.append(self._bill("credit", month, -used))
        for one in self.request["existing"].get("minimum_spend", ()):
            last = min(int(one["last"][5:]) + 12 * (int(one["last"][:4]) - 2027), self.months) - 1
            all_months = int(one["last"][5:]) + 12 * (int(one["last"][:4]) - 2027)
            before = int(one["first"][5:]) - 1
            due = one["amount"] * (last + 1 - before) / (all_months - before) - one["spent"]
            counted = sum(a for m, a in bills[one["provider"]].items() if before <= m <= last)
            settled.append(Flow("shortfall", last, max(0.0, due - counted), last + 1))
        return settled

    def _taxes(self, flows: list[Flow]) -> Iterator[Flow]:
        """Expenses when they are due, upfront payments over their term by the share that is spread,
        capital as it is written off, resale when it is sold."""
        spread = self.finance["upfront_deduction_spread"]
        for flow in flows:
            if flow.group == "loan":
                continue
            if flow.group in ("depreciation", "resale"):
                taxed = self.tax * (self.finance["depreciation"] != "none")
                for month, amount in flow.costs.items():
                    yield Flow("tax", min(month, self.months - 1), -taxed * amount, month)
            elif flow.category == "upfront":
                yield Flow("tax", flow.month, -self.tax * (1 - spread) * flow.amount, flow.month)
                for month, amount in flow.costs.items():
                    yield Flow("tax", month, -self.tax * spread * amount, month)
            else:
                yield Flow("tax", flow.month, -self.tax * flow.amount, flow.paid)
