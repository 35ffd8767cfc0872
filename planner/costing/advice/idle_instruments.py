"""What a request states of its contracts and prices that no plan of the answer uses. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.labels import CLOUD_TITLES, OTHER_CLOUD_TITLES, cloud_title
from planner.contract.money import format_money
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.data import DataPrice
from planner.contract.request.existing import Credit, MinimumSpend
from planner.contract.request.rules import DISCOUNT_MONTHS_RULES
from planner.costing.cost_model.spend_pools import BILLED
from planner.costing.cost_model.terms import Calendar
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario

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
    ended = request.rules >= DISCOUNT_MONTHS_RULES
    describe = _describe_ended_discounts if ended else _describe_discounts
    yield from describe(spent, advised, inputs, request.currency) if advised else ()
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
    """What the advised plan loses of credits and owes of minimum spends that count in some plan."""
    if plan is None:
        return
    for credit in credits:
        yield from _describe_lost(credit, plan, calendar, currency)
    for minimum in minimums:
        yield from _describe_owed(minimum, plan, currency)


def _describe_lost(
    credit: Credit, plan: Scenario, calendar: Calendar, currency: str
) -> Iterator[str]:
    """What a plan leaves of a credit that expires within it."""
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
    """What a plan owes of a minimum spend that it does not reach."""
    owed = _sum_of(plan, Category.SHORTFALL, minimum.label)
    if owed > 0:
        yield (
            f"The minimum spend {minimum.label!r} is not reached in the advised plan: "
            f"its total includes a shortfall of {format_money(owed, currency)}."
        )


def _describe_discounts(
    minimums: Sequence[MinimumSpend], plan: Scenario, inputs: ModelInputs, currency: str
) -> Iterator[str]:
    """What the discounts of contracts take off prices after the last of their months, where the
    plan counts them throughout."""
    for provider, rate, last in _list_discounts(minimums):
        after = _paid_after(plan, provider, inputs.calendar.index(last), _AT_DISCOUNT)
        paid = sum(after.values(), Decimal(0))
        saved = paid * rate / (1 - rate) if rate < 1 else Decimal(0)
        if saved > plan.total_cost * WORTH_SAYING:
            yield (
                f"The discount of {rate:.0%} that the contract with {cloud_title(provider)} gives "
                f"is counted after its last month too: prices after {last:%Y-%m} would come to "
                f"{format_money(saved, currency)} more without it. Add the contract that follows "
                "as a minimum spend of its own, or end the plan with this one."
            )


def _describe_ended_discounts(
    minimums: Sequence[MinimumSpend], plan: Scenario, inputs: ModelInputs, currency: str
) -> Iterator[str]:
    """What machines by the hour and the months of commitments cost more once the discounts of
    contracts have ended."""
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
    """Providers whose contracts give a discount, the highest of it, and their last month."""
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
    """What a plan pays a provider after a month, by category; for some `sources` if given."""
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
