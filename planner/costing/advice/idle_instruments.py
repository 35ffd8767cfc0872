"""What a request states of its contracts and prices that no plan of the answer uses. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import ceil

from planner.contract.amounts import format_money
from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.verdict import Alternative, DecisionPart
from planner.contract.labels import CLOUD_TITLES, OTHER_CLOUD_TITLES, cloud_title
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.finance import DataPrice
from planner.contract.request.on_prem import Credit, MinimumSpend
from planner.contract.request.rules import LARGEST_NODE
from planner.costing.cost_model.spend_pools import BILLED
from planner.costing.cost_model.storage_egress import MOVED
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.job_nodes import usable_accelerators
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_of
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import get

_AT_DISCOUNT = frozenset({Category.COMPUTE, Category.COMMITMENT, Category.UPFRONT})
"""Bills that a contract's discount lowers."""
_BY_MONTH = (Category.COMPUTE, Category.COMMITMENT)
"""Those of them at the discount of their month, whenever what they are for began."""
WORTH_SAYING = Decimal("0.01")
"""Share of a credit from which what is lost of it is said, and of a plan from which discounts are;
a choice of this project, 2026."""


def warn_of_idle_instruments(
    request: ComparisonRequest,
    inputs: ModelInputs,
    scenarios: Mapping[ScenarioKey, Scenario],
    advised: Scenario | None,
) -> Iterator[str]:
    """One sentence for each credit, minimum spend, contract and price of data that applies to
    nothing in any plan, and for what the `advised` one loses of a credit or owes of a minimum."""
    plans = [plan for plan in scenarios.values() if plan.feasible]
    lines = [line for plan in plans for line in plan.lines]
    credited = {line.label for line in lines if line.category is Category.CREDIT}
    billed = {line.provider for line in lines if line.category in BILLED}
    signed, calendar = request.existing, inputs.calendar
    for credit in signed.credits if plans else ():
        if credit.label not in credited:
            yield _describe_credit(credit, billed, calendar)
    for minimum in signed.minimum_spend if plans else ():
        yield from _describe_minimum(minimum, billed, calendar, request.currency)
    used = [one for one in signed.credits if one.label in credited]
    spent = [one for one in signed.minimum_spend if one.provider in billed]
    yield from _warn_of_lost_money(used, spent, advised, calendar, request.currency)
    if advised:
        yield from _describe_ended_discounts(spent, advised, inputs, request.currency)
    names = [(f"The commitment {one.label!r}", one.ends) for one in signed.commitments]
    names += [(f"The lease of {one.server}", one.ends) for one in signed.leased_servers]
    known = {offer.provider for offer in inputs.rentals} | {*CLOUD_TITLES, *OTHER_CLOUD_TITLES}
    for one in signed.commitments:
        if one.provider not in known:
            yield (
                f"The commitment {one.label!r} is with {one.provider}, a name that nothing else "
                "here uses: credits, minimum spends and data under other names do not apply to it."
            )
    for name, ends in names:
        if calendar.index(ends) < 0:
            yield f"{name} ended in {ends:%Y-%m}, before the plan: it does not count here."
    for price in request.data.prices:
        yield from _describe_price(price, request, inputs)


def _describe_credit(credit: Credit, billed: Collection[str], calendar: Calendar) -> str:
    name = f"The credit {credit.label!r} pays for nothing here"
    if calendar.index(credit.expires) < 0:
        return f"{name}: it expired in {credit.expires:%Y-%m}, before the plan."
    provider = cloud_title(credit.provider)
    if credit.provider not in billed:
        return f"{name}: no plan has a bill from {provider}."
    return (
        f"{name}: no plan has a bill from {provider} before it expires in {credit.expires:%Y-%m}."
    )


def _warn_of_lost_money(
    credits: Iterable[Credit],
    minimums: Sequence[MinimumSpend],
    plan: Scenario | None,
    calendar: Calendar,
    currency: str,
) -> Iterator[str]:
    if plan is None:
        return
    for credit in credits:
        yield from _describe_lost(credit, plan, calendar, currency)
    for minimum in minimums:
        yield from _describe_owed(minimum, plan, currency)


def _describe_lost(
    credit: Credit, plan: Scenario, calendar: Calendar, currency: str
) -> Iterator[str]:
    amount, paid = Decimal(str(credit.amount)), -_sum_of(plan, Category.CREDIT, credit.label)
    lost = amount - paid
    if calendar.index(credit.expires) < calendar.months and lost > amount * WORTH_SAYING:
        part = format_money(paid, currency) if paid else "nothing"
        yield (
            f"The credit {credit.label!r} pays {part} of its {format_money(amount, currency)} in "
            f"the advised plan: {format_money(lost, currency)} is lost when it expires in "
            f"{credit.expires:%Y-%m}."
        )


def _describe_owed(minimum: MinimumSpend, plan: Scenario, currency: str) -> Iterator[str]:
    owed = _sum_of(plan, Category.SHORTFALL, minimum.label)
    if owed > 0:
        yield (
            f"The minimum spend {minimum.label!r} is not reached in the advised plan: "
            f"its total includes a shortfall of {format_money(owed, currency)}."
        )


def _describe_ended_discounts(
    minimums: Sequence[MinimumSpend], plan: Scenario, inputs: ModelInputs, currency: str
) -> Iterator[str]:
    discounted = {key for key, one in inputs.by_key.items() if one.price_by_month is not None}
    for provider, rate, last in _list_discounts(minimums):
        after = inputs.calendar.index(last)
        paid = _paid_after(plan, provider, after, _BY_MONTH, discounted)
        lost = sum(paid.values(), Decimal(0)) * rate
        if lost > plan.total_cost * WORTH_SAYING:
            words = {
                Category.COMPUTE: "what is rented there by the hour",
                Category.COMMITMENT: "the monthly bills of commitments there",
            }
            what = " and ".join(words[category] for category in _BY_MONTH if paid[category])
            several = paid[Category.COMMITMENT] > 0
            yield (
                f"The discount of {rate:.0%} that the contract with {cloud_title(provider)} gives "
                f"ends with it: {what} after {last:%Y-%m} {'cost' if several else 'costs'} "
                f"{format_money(lost, currency)} more for that. If you expect to renew the "
                "contract, add the one that follows as a minimum spend of its own."
            )


def _list_discounts(
    minimums: Sequence[MinimumSpend],
) -> Iterator[tuple[str, Decimal, dt.date]]:
    for provider in sorted({one.provider for one in minimums if one.discount_rate}):
        of_provider = [one for one in minimums if one.provider == provider]
        rate = max(Decimal(str(one.discount_rate)) for one in of_provider)
        yield provider, rate, max(one.last for one in of_provider)


def _paid_after(
    plan: Scenario,
    provider: str,
    last: int,
    categories: Iterable[Category],
    sources: Collection[str] | None = None,
) -> dict[Category, Decimal]:
    paid = dict.fromkeys(categories, Decimal(0))
    for line in plan.lines:
        is_one = line.provider == provider and line.category in paid and line.month > last
        if is_one and (sources is None or line.source in sources):
            paid[line.category] += line.amount
    return paid


def _sum_of(plan: Scenario, category: Category, label: str) -> Decimal:
    lines = (x.amount for x in plan.lines if x.category is category and x.label == label)
    return sum(lines, Decimal(0))


def _describe_minimum(
    minimum: MinimumSpend, billed: Collection[str], calendar: Calendar, currency: str
) -> Iterator[str]:
    name = f"The minimum spend {minimum.label!r}"
    if calendar.index(minimum.last) < 0 or calendar.index(minimum.first) >= calendar.months:
        months = f"{minimum.first:%Y-%m} to {minimum.last:%Y-%m}"
        yield f"{name} does not count here: its months, {months}, are outside the plan."
    elif minimum.provider not in billed and minimum.spent < minimum.amount:
        provider = cloud_title(minimum.provider)
        rest = format_money(minimum.amount - minimum.spent, currency)
        yield (
            f"{name}: no plan has a bill from {provider}, so what is left of it ({rest}) is owed "
            "once its months are over within the plan."
        )


def _describe_price(
    price: DataPrice, request: ComparisonRequest, inputs: ModelInputs
) -> Iterator[str]:
    if price.provider is None:
        return
    places = {(source.provider, source.region) for source in inputs.sources}
    if request.data.home is not None:
        places.add(request.data.home.place)
    is_used = any(
        provider == price.provider and price.region in (None, region) for provider, region in places
    )
    if not is_used:
        where = " ".join(filter(None, (cloud_title(price.provider), price.region)))
        yield f"The price of data ({price.item}) at {where} is not used: no offer is there."


JOB_FIELD = "workload.accelerators_per_job"
"""Field of the request that states the size of a job."""
MOST_BUSY = 0.5
"""Share of a server's accelerators at work at once up to which a smaller one is worth a quote; a
choice of this project, 2026."""
_ROUNDING = 1e-6
"""Accelerators above a whole number that are its rounding, 2026."""
_NEARLY_ALL = 1 - 1e-6
"""Share of a machine's accelerators from which all of them count as busy; rounding, 2026."""


def filling_size(job: int) -> int:
    """Smallest size of a job from `job` on that leaves nothing of machines of `LARGEST_NODE` idle.

    >>> [filling_size(job) for job in (1, 3, 4, 5, 8, 12)]
    [1, 4, 4, 8, 8, 16]
    """
    if job >= LARGEST_NODE:
        return -(-job // LARGEST_NODE) * LARGEST_NODE
    return next(size for size in range(job, LARGEST_NODE + 1) if LARGEST_NODE % size == 0)


def warn_of_unfilled_machines(
    request: ComparisonRequest,
    inputs: ModelInputs,
    decision: Iterable[DecisionPart],
    alternatives: Iterable[Alternative],
) -> Iterator[str]:
    """What share of each machine of the plan jobs of a stated size leave idle, what is paid for
    it, and what the plan would cost with jobs that fill it; and where the work needs more than the
    jobs were stated to take."""
    stated = request.workload.accelerators_per_job
    if not stated:
        return
    parts = tuple(decision)
    kinds = dict.fromkeys(inputs.by_key[part.source].accelerator for part in parts)
    yield from (
        f"Jobs of {pluralize(stated, 'accelerator')} (accelerators_per_job) are too small for this "
        f"work on {get(kind).name}: each is counted as a job of {_job(kind, inputs)}."
        for kind in kinds
        if _job(kind, inputs) > stated
    )
    if stated < 2:
        return
    for part in parts:
        source = inputs.by_key[part.source]
        job = max(stated, _job(source.accelerator, inputs))
        count, size = source.accelerators, inputs.packed_sizes.get(source.accelerator, 1)
        usable = float(usable_accelerators(count, size))
        if (
            count < 1
            or usable >= count
            or not (
                float(inputs.runs.on({source.accelerator}).max())
                / inputs.throughput[source.accelerator]
                >= usable * _NEARLY_ALL
            )
        ):
            continue
        idle = 1.0 - usable / count
        paid = format_money(part.amount * Decimal(str(idle)), request.currency)
        whole = next((one for one in alternatives if one.field == JOB_FIELD), None)
        instead = (
            f" Jobs of {whole.value} would fill it: "
            f"{format_money(whole.total, request.currency)} in all."
            if whole
            else f" Jobs of {filling_size(job)} would fill machines of {LARGEST_NODE}."
        )
        yield (
            f"{part.label}: {_filled(job, count)}, so at least {idle:.0%} of what it costs "
            f"({paid}) is wasted.{instead}"
        )


def hint_at_smaller_server(plan: Scenario, inputs: ModelInputs, most: Decimal | None = None) -> str:
    """Beside a single server bought or leased of which the work never keeps more than half busy:
    that a smaller one may cost less; else empty, and where even the same share of what the plan
    costs as of the server would come to `most`."""
    started = {k: int(n.sum()) for k, n in plan.units_started.items() if inputs.by_key[k].is_owned}
    if list(started.values()) != [1]:
        return ""
    source = inputs.by_key[next(iter(started))]
    own = peak_of(plan, inputs)
    peak = float((inputs.peak if own is None else own).max())
    busy = ceil(peak / inputs.throughput[source.accelerator] - _ROUNDING)
    if busy > source.accelerators * MOST_BUSY:
        return ""
    share = Decimal(busy) / Decimal(str(source.accelerators))
    if most is not None and plan.total_cost * share >= most:
        return ""
    works = "works" if busy == 1 else "work"
    return (
        f" At most {busy:,} of the server's {source.accelerators:g} accelerators {works} at once: "
        f"ask for a quote of a server with {busy:,}, and enter it as a custom server."
    )


def _job(kind: str, inputs: ModelInputs) -> int:
    return inputs.job_sizes.get(kind, 1)


def _filled(job: int, count: float) -> str:
    """
    >>> _filled(3, 8), _filled(5, 8), _filled(12, 8)
    ('2 jobs of 3 leave 2 of its 8 accelerators idle', '1 job of 5 leaves 3 of its 8 accelerators \
idle', 'jobs of 12 leave 4 of the 16 accelerators of 2 machines idle')
    """
    jobs = int(count // job)
    if jobs:
        leaves = "leaves" if jobs == 1 else "leave"
        idle = count - jobs * job
        of = f"{idle:g} of its {count:g} accelerators"
        return f"{pluralize(jobs, 'job')} of {job} {leaves} {of} idle"
    machines = -(-job // int(count))
    held = machines * int(count)
    return (
        f"jobs of {job} leave {held - job} of the {held} accelerators of {machines} machines idle"
    )


DATA_WORTH_SAYING = Decimal("0.05")
"""Share of what a plan pays from which a price of data that nobody stated is said; a choice of this
project, 2026."""
_STORAGE = "storage_per_gib_month"


def warn_of_data_prices(
    request: ComparisonRequest, inputs: ModelInputs, advised: Scenario | None
) -> Iterator[str]:
    """That the whole data set is moved anew each month, and that some places keep it at the price
    of disks and others at that of object storage."""
    if advised is None or not request.data.storage_gib:
        return
    paid = [line.amount for line in advised.lines if line.amount > 0]
    least = sum(paid, Decimal(0)) * DATA_WORTH_SAYING
    yield from _warn_of_moving(request, advised, least)
    yield from _warn_of_disks(request, inputs, least)


def _warn_of_moving(request: ComparisonRequest, advised: Scenario, least: Decimal) -> Iterator[str]:
    data = request.data
    lines = [x for x in advised.lines if x.category is Category.EGRESS and x.label == MOVED]
    months, amount = len({x.month for x in lines}), sum((x.amount for x in lines), Decimal(0))
    if data.transfer_gib_per_month is not None or months < 2 or amount < least:
        return
    yield (
        f"All {data.storage_gib:,.0f} GiB of the data are taken to the work anew in each of "
        f"{months} months, which costs {format_money(amount, request.currency)}: right for bursts. "
        "Standing work copies them once and then takes what is new: give that as "
        "data.transfer_gib_per_month."
    )


def _warn_of_disks(
    request: ComparisonRequest, inputs: ModelInputs, least: Decimal
) -> Iterator[str]:
    data, price = request.data, inputs.assumptions[_STORAGE]
    is_stated = any(one.item == "storage" for one in data.prices)
    if is_stated or inputs.assumptions.is_from_request(_STORAGE):
        return
    places = {(one.provider, one.region) for one in inputs.rentals if one.provider}
    if data.home is not None and data.home.region is not None:
        places.add(data.home.place)
    listed = {place for place in places if inputs.data.lists_storage(*place)}
    assumed = sorted({cloud_title(provider) for provider, _ in places - listed})
    gib, months = data.storage_gib or 0.0, inputs.calendar.months
    lowest = min((inputs.data.price_of_storage(*place) for place in listed), default=price)
    if not assumed or (price - lowest) * gib * months < float(least):
        return
    known = sorted({cloud_title(provider) for provider, _ in listed})
    yield (
        f"A GiB of data is kept for {price:.3g} {request.currency} a month at "
        f"{' and '.join(assumed)}, by an assumption for disks as the catalog has no price of "
        f"storage there, and for {lowest:.3g} at {' and '.join(known)}, the list price of object "
        f"storage: {format_money(price * gib, request.currency)} a month or "
        f"{format_money(lowest * gib, request.currency)}. Where all of it is object storage, give "
        "its prices under data.prices: another place may then cost less."
    )
