"""Why no offer fits: which limit excludes how many. PURE."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from planner.contract.labels import FLEXIBLE, LIMIT_TITLES, SPOT, cloud_title, traits
from planner.contract.request.rules import describe_conflict
from planner.costing.inputs.eligible_offers import OfferSelection
from planner.costing.inputs.offer_rules import NONE_FITS, WHOLE_NODE, Filters, Rows
from pricing.common.tables import group
from pricing.common.words import pluralize
from pricing.market.accelerators import get
from pricing.market.coverage import CoverageRow, PriceState, compute_coverage
from pricing.market.offer_table import OfferTable
from pricing.market.offers import PurchaseOption

_FEW = 2
"""Purchase options or accelerators named one by one in a reason."""
_CONVERTIBLE = {PurchaseOption.RESERVED_CONVERTIBLE.value: "convertible reserved"}
"""A label that has a comma cannot stand in a list."""
_ONLY_INTERRUPTIBLE = (
    f"{LIMIT_TITLES['purchase_options']} leaves only machines that can be taken back at any time, "
    "and the work may not be interrupted (workload.interruptible)"
)
_BEFORE_PLACES = ("accelerators", "providers")
"""Limits that a reason names before those on places."""


def explain_exclusions(
    selection: OfferSelection, options: Sequence[PurchaseOption]
) -> tuple[str, ...]:
    """Why no offer of these purchase options fits: which limit excludes how many."""
    allowed_options = selection.filters.purchase_options
    names = [o.value for o in options if not allowed_options or o.value in allowed_options]
    if not names:
        if not selection.rules.interruptible and set(allowed_options or ()) <= SPOT | FLEXIBLE:
            return (_ONLY_INTERRUPTIBLE,)
        left_out = [_CONVERTIBLE.get(o.value, traits(o.value).label) for o in options]
        return (f"{LIMIT_TITLES['purchase_options']} leaves out {_join(left_out, 'and')}",)
    shown = _join([_before_offers(name) for name in names], "and")
    names_text = shown if len(names) <= _FEW else "rental"
    filters = Filters(**{**vars(selection.filters), "purchase_options": tuple(names)})
    total, excluded = _count_each(selection, filters)
    conflict = describe_conflict(selection.guard_rails.places)
    if conflict:
        return (conflict,)
    if not total:
        return (f"the catalog has no {names_text} offer on sale",)
    share = f"of {pluralize(total, f'{names_text} offer')}"
    reasons = tuple(f"{words} excludes {count:,} {share}" for words, count in excluded if count)
    whole = f"all {total:,} {names_text} offers" if total > 1 else f"the only {names_text} offer"
    each_enough = tuple(f"{words} excludes {whole}" for words, count in excluded if count == total)
    if each_enough:
        return (*each_enough, *_without_price(selection))
    table, nodes, quotas = selection.catalog_offers, selection.job_nodes, selection.stated_quotas
    every = _in_places(selection, filters.rows(table))
    for name, admitted in selection.guard_rails.admitted(table, every).items():
        if len(admitted) < len(every):
            reasons += (f"{name} excludes {len(every) - len(admitted):,} more",)
    rows = selection.guard_rails.rows(table, every)
    large = nodes.large_enough(table, rows)
    joined = nodes.joined(table, large)
    if len(large) < len(rows):
        least = max(nodes.min_accelerators.values())
        reasons += (
            f"{len(rows) - len(large):,} with fewer accelerators in a node than one job takes "
            f"({least:g})",
        )
    if len(joined) < len(large):
        reasons += (
            f"{len(large) - len(joined):,} with only part of a job and no network known to join "
            "several of them",
        )
    reasons += tuple(
        f"the {words} excludes {count:,}, whose machines are larger"
        for words, count in quotas.count_beyond(table, joined)
    )
    fit = int((~quotas.are_beyond(table, joined)).sum())
    left = f"{fit:,} of {total:,} meet" if fit else f"none of {total:,} meets"
    return (*reasons, f"{left} every limit")


def _without_price(selection: OfferSelection) -> tuple[str, ...]:
    filters = selection.filters.restrict_to(("accelerators",))
    wanted = filters.accelerators
    if not wanted or wanted == NONE_FITS or len(wanted) > _FEW:
        return ()
    if len(filters.rows(selection.catalog_offers)):
        return ()
    names = " or ".join(get(slug).name for slug in wanted)
    return (f"no price of {names} is in the catalog: give one of your own in custom_offers",)


def _before_offers(option: str) -> str:
    """A way to pay as it stands before "offers".

    >>> _before_offers("on_demand"), _before_offers("reserved_convertible")
    ('on-demand', 'convertible reserved')
    """
    return _CONVERTIBLE.get(option) or traits(option).label.replace(" ", "-")


def _limit_name(filters: Filters, name: str) -> str:
    value = getattr(filters, name)
    if name == "min_accelerators_per_node" and value == WHOLE_NODE:
        return "the need for a whole accelerator"
    if name == "accelerators":
        few = len(value) <= _FEW and value != NONE_FITS
        wanted = ", ".join(get(slug).name for slug in value) if few else "an accelerator that can"
        return f"the need for {wanted}{'' if few else ' do the work'}"
    return f"{LIMIT_TITLES[name]} ({_show(name, value)})"


def _show(name: str, value: tuple[str, ...] | float | str) -> str:
    if isinstance(value, float | int):
        if name == "max_term_months":
            return pluralize(int(value), "month")
        return f"{value:g} GiB" if name.endswith("_gib") else f"{value:g}"
    if isinstance(value, str):
        return value
    says = {"providers": cloud_title, "purchase_options": lambda option: traits(option).label}
    return ", ".join(map(says.get(name, str), value))


def count_exclusions(table: OfferTable, filters: Filters) -> tuple[int, list[tuple[str, int]]]:
    """How many offers of the wanted purchase options are on sale, and how many each limit alone
    excludes of them."""
    total = len(filters.restrict_to(()).rows(table))
    excluded = [
        (name, total - len(filters.restrict_to((name,)).rows(table))) for name in filters.active()
    ]
    return total, excluded


def _count_each(selection: OfferSelection, filters: Filters) -> tuple[int, list[tuple[str, int]]]:
    table, guard_rails = selection.catalog_offers, selection.guard_rails
    total, excluded = count_exclusions(table, filters)
    every = filters.restrict_to(()).rows(table)
    of_places = [
        (limit.words, total - len(guard_rails.rows_in(table, every, limit)))
        for limit in guard_rails.places.limits
    ]
    first = sum(name in _BEFORE_PLACES for name, _ in excluded)
    words = [(_limit_name(filters, name), count) for name, count in excluded]
    return total, [*words[:first], *of_places, *words[first:]]


def _in_places(selection: OfferSelection, rows: Rows) -> Rows:
    for limit in selection.guard_rails.places.limits:
        rows = selection.guard_rails.rows_in(selection.catalog_offers, rows, limit)
    return rows


_SELLERS = ("accelerators", "providers")
_MOST_FAMILIES = 4
"""Families of machines that a sentence names."""
_SOLD_AS: Mapping[str, str] = {
    PurchaseOption.ON_DEMAND: "machines on demand",
    PurchaseOption.SPOT: "spot",
    PurchaseOption.LOW_PRIORITY: "low priority",
    PurchaseOption.RESERVED: "reservations",
    PurchaseOption.RESERVED_CONVERTIBLE: "convertible reservations",
    PurchaseOption.SAVINGS_PLAN: "savings plans",
    PurchaseOption.COMMITTED_USE: "committed use",
    PurchaseOption.CAPACITY_BLOCK: "Capacity Blocks",
    PurchaseOption.DWS_FLEX_START: "flex start",
    PurchaseOption.DWS_CALENDAR_MODE: "calendar mode",
}


def cover_request(selection: OfferSelection) -> tuple[CoverageRow, ...]:
    """What is known of the prices of every accelerator that can do the work, at every provider
    that may be used, under every purchase option asked for, in the places that may be used; none
    where the catalog is left aside or limits on places leave none."""
    table, limits = selection.catalog_offers, selection.request.constraints
    if not len(table) or selection.guard_rails.places.conflict:
        return ()
    filters = selection.filters.restrict_to(_SELLERS)
    rows = selection.guard_rails.rows_in_places(table, filters.rows(table))
    software = selection.guard_rails
    return compute_coverage(
        table,
        rows,
        accelerators=[name for name in filters.accelerators if software.runs_on(name)],
        providers=limits.providers or (),
        purchase_options=filters.purchase_options,
    )


def find_missing(
    coverage: Iterable[CoverageRow],
    purchase_options: Collection[str],
    accelerators: Collection[str] = (),
) -> tuple[CoverageRow, ...]:
    """What is sold, or may be, and has no known price; no accelerators stand for all."""
    return tuple(
        row
        for row in coverage
        if not row.state.is_settled
        and row.purchase_option in purchase_options
        and (not accelerators or row.accelerator in accelerators)
    )


def describe_missing(missing: Iterable[CoverageRow]) -> Iterator[str]:
    """A sentence for each provider on what it sells at an unknown price, one on what it sells in
    other places alone, and one on what is not known of it.

    >>> row = CoverageRow("nvidia-h100-80gb-sxm", "aws", "savings_plan",
    ...                   PriceState.SOLD_PRICE_UNKNOWN, machines=("p5",))
    >>> list(describe_missing([row]))
    ['AWS sells savings plans for p5; their prices are not in this catalog (refresh the prices).']
    """
    groups = group([((one.provider, one.state, one.is_sold_elsewhere), one) for one in missing])
    for (provider, state, is_elsewhere), rows in sorted(groups.items()):
        title = cloud_title(provider)
        if is_elsewhere:
            yield (
                f"{title} sells {_list_options(rows, 'and')} elsewhere; the catalog has none in "
                "the places allowed."
            )
            continue
        if state is PriceState.UNKNOWN:
            yield f"It is not known whether {title} sells {_list_options(rows, 'or')}."
            continue
        private = dict.fromkeys(_name(row.purchase_option) for row in rows if row.needs_account)
        advice = "refresh with an account" if private else "refresh the prices"
        if private and not all(row.needs_account for row in rows):
            advice = f"refresh the prices, those of {_join([*private], 'and')} with an account"
        yield (
            f"{title} sells {_list_options(rows, 'and')}; their prices are not in this catalog "
            f"({advice})."
        )


def _list_options(rows: Iterable[CoverageRow], last: str) -> str:
    machines: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        card = get(row.accelerator)
        machines[row.purchase_option] |= {
            card.name
            if card.accelerator_class == "tpu"
            else f"{card.name} machines"
            if "#" in machine
            else machine
            for machine in row.machines
        }
    parts = []
    alike = group([((*sorted(families),), option) for option, families in machines.items()])
    for families, options in alike.items():
        sold = [_name(option) for option in options]
        more = len(families) - _MOST_FAMILIES
        shown = [*families[:_MOST_FAMILIES], *([f"{more} more families"] if more > 0 else [])]
        parts.append(f"{_join(sold, last)} for {_join(shown, 'and')}")
    return f", {last} ".join(parts)


def _name(option: str) -> str:
    return _SOLD_AS.get(option) or traits(option).label


def _join(words: Sequence[str], last: str) -> str:
    """
    >>> _join(["reserved", "spot", "committed-use"], "and"), _join(["spot"], "and")
    ('reserved, spot and committed-use', 'spot')
    """
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))
