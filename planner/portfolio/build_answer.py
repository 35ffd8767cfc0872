"""The answer of a portfolio, built from its results. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain

from planner.comparison.answer import build_assumptions, build_catalog, build_offer, build_server
from planner.comparison.results import ComparisonResults
from planner.contract.amounts import format_month, fractions_of_whole
from planner.contract.answer.common import Category
from planner.contract.answer.comparison import AssumptionRow
from planner.contract.answer.portfolio import (
    PortfolioAnswer,
    PortfolioLine,
    ProjectShare,
    ProjectWriteOff,
    SharedPool,
)
from planner.contract.copies import cached_property
from planner.contract.labels import NO_RANGE_HERE, comes_first, join_reasons
from planner.contract.request.portfolio import DEFAULT_JOB_HOURS
from planner.costing.advice.verdict import capital_to_approve, contract_terms, obligation_to_sign
from planner.costing.choice import standard_error
from planner.costing.results.scenario_result import cents, is_of_resale
from planner.portfolio.books import Books
from planner.portfolio.machine_use import Usage
from planner.portfolio.plans import PortfolioPlan, StandAlone
from planner.portfolio.preparation import PortfolioPreparation
from planner.portfolio.results import PortfolioResults
from planner.portfolio.risk import build_range
from planner.portfolio.words import (
    NO_PLAN,
    TOO_LITTLE_WORK,
    describe_plan,
    describe_signatures,
    describe_turns,
    describe_waiting,
    explain_share,
)
from pricing.common.words import pluralize

CLOSE = 0.01
"""Gap below which nothing is said of it."""


def build_answer(results: PortfolioResults) -> PortfolioAnswer:
    """The whole answer."""
    return _Builder(results).answer()


@dataclass(frozen=True)
class _Builder:
    results: PortfolioResults

    @cached_property
    def plan(self) -> PortfolioPlan | None:
        return self.results.plan

    @cached_property
    def usage(self) -> Usage | None:
        return None if self.plan is None else Usage(self.plan.books)

    def answer(self) -> PortfolioAnswer:
        answer = self._figures()
        if self.usage is not None:
            answer = answer.model_copy(update=self._machines(self.usage))
        answer = answer.model_copy(update=self._range())
        explained = tuple(
            one.model_copy(update={"explanation": explain_share(answer, one)})
            for one in answer.projects
        )
        return answer.model_copy(
            update={
                "headline": describe_plan(answer)
                + describe_signatures(answer)
                + describe_turns(answer),
                "projects": explained,
            }
        )

    def _figures(self) -> PortfolioAnswer:
        results, plan = self.results, self.plan
        first = results.preparation.projects[0].alone
        cost = None if plan is None else plan.books.net_present_cost
        books, zero = results.books_apart, Decimal("0.00")
        apart = None if books is None else sum((one.net_present_cost for one in books), zero)
        in_all = None if books is None else sum((one.total_cost for one in books), zero)
        saving = None if cost is None or apart is None else apart - cost
        shares = results.shares
        return PortfolioAnswer(
            name=results.request.name,
            start=format_month(first.calendar.start),
            horizon_months=results.request.horizon_months,
            currency=results.request.currency,
            feasible=plan is not None,
            headline="",
            why_not=tuple(self._why_not()),
            net_present_cost=cost,
            total_cost=None if plan is None else plan.books.total_cost,
            gap=None if plan is None else round(plan.gap, 6),
            apart=apart,
            apart_total=in_all,
            saving=saving,
            saving_fraction=None if saving is None or not apart else float(saving / apart),
            shares_method=None if shares is None else shares.method,
            shares_orders=0 if shares is None else shares.orders,
            shares_error=0.0 if shares is None else round(shares.error, 6),
            projects=tuple(self._project(one) for one in results.alone.values()),
            cost_of_waiting=results.cost_of_waiting,
            catalog=build_catalog(ComparisonResults(first)),
            assumptions=tuple(list_assumptions(results.preparation)),
            warnings=tuple(self._warnings()),
        )

    def _machines(self, usage: Usage) -> dict[str, object]:
        books, first = usage.books, self.results.preparation.projects[0].alone
        purchases, in_service = usage.purchases(), usage.in_service()
        available = sum(row.hours_available for row in in_service)
        servers = (row for row in purchases if row.kind == "server")
        rows = [(name, line) for name, part in books.parts_of for line in part.lines]
        lines = tuple(
            PortfolioLine.of_values(**{**line.__dict__, "project": name})
            for name, line in sorted(rows, key=lambda row: row[1].month)
        )
        return {
            "machines": usage.machines(),
            "pools": tuple(_pools(books)),
            "charge_rates": tuple(usage.charge_rates()),
            "rate_card": tuple(usage.rate_card()),
            "orders": usage.orders(first.name_place, self.results.request.currency),
            "purchases": purchases,
            "next_order": min(servers, key=lambda row: (row.month, row.source), default=None),
            "capital_to_approve": capital_to_approve(lines),
            "obligation_to_sign": obligation_to_sign(
                books.whole, *contract_terms(map(usage.source, books.whole.units_started))
            ),
            "resale": -sum((one.amount for one in lines if is_of_resale(one)), Decimal(0)) or None,
            "in_service": in_service,
            "uses": usage.uses(),
            "utilisation": round(sum(row.hours_used for row in in_service) / available, 6)
            if available
            else None,
            "cost_by_category": {
                Category(name): amount
                for name, amount in sorted(books.whole.cost_by_category.items())
            },
            "cash_per_month": books.whole.cash_per_month,
            "write_off": tuple(
                ProjectWriteOff(project=name, source=key, amounts=amounts)
                for name, part in books.parts_of
                for key, amounts in part.write_off.items()
            ),
            "offers": {key: build_offer(source) for key, source in usage.offers().items()},
            "servers": tuple(build_server(s) for s in usage.sources() if s.is_owned),
            "lines": lines,
        }

    def _range(self) -> dict[str, object]:
        results, plan = self.results, self.plan
        if plan is None:
            return {"why_no_range": NO_PLAN}
        simulated = results.simulated
        if simulated is None:
            return {"why_no_range": TOO_LITTLE_WORK}
        costs, risk_allowance = simulated
        seed = int(results.preparation.projects[0].alone.assumptions["seed"])
        holds = not any(NO_RANGE_HERE in words for words in self._of_their_work())
        return {
            "expected": cents(float(costs[1].mean())),
            "standard_error": cents(standard_error(costs[1])),
            "risk_allowance": risk_allowance,
            "range": build_range(costs, plan.books, seed, holds=holds),
        }

    def _project(self, alone: StandAlone) -> ProjectShare:
        results, name, plan = self.results, alone.name, self.plan
        member = alone.member if plan is None else plan.laid.get(name, alone.member)
        demand = member.alone.demand
        waits, shares = name in results.waiting, results.shares
        part = None if shares is None or waits else shares.cents[name]
        share = None if part is None else Decimal(part).scaleb(-2)
        cost = None if alone.books is None else alone.books.net_present_cost
        without = results.without.get(name)
        usage, shared_hours, in_all = self.usage, 0.0, 0.0
        months: set[int] = set()
        for (project, key), hours in usage.used.items() if usage else ():
            if project == name:
                months |= set(hours.nonzero()[0].tolist())
            if usage and usage.books.shared is not None and key in usage.held:
                node_hours = float(hours.sum()) * usage.source(key).accelerators
                in_all += node_hours
                shared_hours += node_hours if project == name else 0.0
        own_parts = [part for owner, part in plan.books.parts_of if owner == name] if plan else []
        asked_for = alone.member.alone.demand.hours_per_month.nonzero()[0].tolist()
        return ProjectShare(
            name=name,
            priority=alone.member.project.priority,
            waits=waits,
            accelerator=demand.accelerator,
            hours=round(float(demand.hours_per_month.sum()), 4),
            alone=cost,
            alone_total=None if alone.books is None else alone.books.total_cost,
            alone_way=alone.way,
            sooner=not waits and member.key != results.plans.members[name].key,
            alone_sooner=alone.is_sooner,
            share=share,
            fraction=None if waits else self.fractions.get(name),
            saving=None if share is None or cost is None else cost - share,
            without=without,
            adds=None if without is None or plan is None else plan.books.net_present_cost - without,
            direct_cost=sum((part.total_cost for part in own_parts), Decimal("0.00")),
            shared_hours=round(shared_hours, 4),
            shared_fraction=round(shared_hours / in_all, 6) if in_all else None,
            busy_months=tuple(sorted(months or asked_for)),
            explanation="",
        )

    @cached_property
    def fractions(self) -> Mapping[str, float]:
        shares, plan = self.results.shares, self.plan
        if shares is None or plan is None or not plan.cents:
            return {}
        return fractions_of_whole(shares.cents, plan.cents)

    def _why_not(self) -> Iterator[str]:
        results = self.results
        for name, one in results.alone.items():
            if one.books is None:
                reasons = join_reasons(one.why_not) or "no plan meets its limits"
                yield f"{name} has no plan of its own: {reasons}."
        if results.waiting and results.plans.has_limits:
            waiting = [name for name in results.waiting if results.alone[name].books is not None]
            currency = results.request.currency
            yield from describe_waiting(waiting, results.cost_of_waiting, currency)

    def _warnings(self) -> Iterator[str]:
        results, plan = self.results, self.plan
        if plan is not None and plan.gap > CLOSE:
            yield (
                f"The search ended early; a plan that is up to {plan.gap:.1%} cheaper is not "
                "ruled out."
            )
        start = format_month(results.preparation.projects[0].alone.calendar.start)
        if plan is not None and start < f"{results.preparation.today:%Y-%m}":
            yield (
                "The plan begins before today: its decisions for past months can no longer be "
                "taken. Give ongoing projects a start from next month."
            )
        if results.lacks_shares:
            yield (
                "The work allowed for one question ran out before all groups of projects were "
                "planned, so shares follow use. As a background job, or with fewer projects or "
                "months, they follow what each project adds."
            )
        for prepared in results.preparation.projects:
            if prepared.project.window is not None and prepared.movable is None:
                yield (
                    f"No hours of {prepared.name} fall into the months within which they may move, "
                    "so none are moved."
                )
        yield from () if plan is None else _on_job_lengths(plan.books)
        yield from self._of_their_work()
        of_offers = (one.member.alone.offers.warnings() for one in results.alone.values())
        yield from dict.fromkeys(chain.from_iterable(of_offers))

    def _of_their_work(self) -> Iterator[str]:
        usage = self.usage
        for name, one in self.results.alone.items():
            keys = [] if usage is None else [key for project, key in usage.used if project == name]
            kinds = {usage.source(key).accelerator for key in keys} if usage else set()
            of_work = one.member.alone.demand.warnings_on(kinds)
            yield from (f"{name}: {words}" for words in of_work if comes_first(words))


def _on_job_lengths(books: Books) -> Iterator[str]:
    in_turn = [books.members[place].in_turn for pool in books.pools for place in pool.places]
    jobs = [one.project for one in in_turn if one and not one.by_hour]
    if unstated := sum("job_hours" not in project.model_fields_set for project in jobs):
        yield (
            f"The length of a job (job_hours) is not stated for {pluralize(unstated, 'project')} "
            f"that take turns: {DEFAULT_JOB_HOURS:g} hours are taken, and one accelerator for a "
            "job where accelerators_per_job is not stated. Longer or larger jobs need a larger "
            "pool."
        )


def _pools(books: Books) -> Iterator[SharedPool]:
    for pool in books.pools:
        members = [books.members[place] for place in pool.places]
        needed, at_once, busiest = pool.accelerators, pool.peaks.sum(axis=0), pool.busiest
        month = int(needed.argmax())
        if busiest is not None:
            yield SharedPool(
                projects=tuple(member.name for member in members),
                by_hour=tuple(one.name for one in members if one.in_turn and one.in_turn.by_hour),
                accelerator=members[0].alone.demand.accelerator,
                accelerators=round(float(needed[month]), 4),
                accelerators_at_once=round(float(at_once[month]), 4),
                mean_wait_hours=round(busiest.waits.mean, 2),
                p90_wait_hours=round(busiest.waits.p90, 2),
            )


def list_assumptions(preparation: PortfolioPreparation) -> Iterator[AssumptionRow]:
    """Those of the first project, then the defaults that only later ones rest on, each once."""
    first, *others = preparation.projects
    rows = {row.field: row for row in build_assumptions(ComparisonResults(first.alone))}
    for project in others:
        for row in build_assumptions(ComparisonResults(project.alone)):
            if not row.given:
                rows.setdefault(row.field, row)
    yield from rows.values()
