"""What of the prices that a comparison asks for its catalog does not hold. PURE."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from planner.contract.labels import cloud_title
from planner.contract.purchase_options import traits
from planner.costing.inputs.eligible_offers import OfferSelection
from pricing.market.accelerators import get as sheet_of
from pricing.market.coverage import CoverageRow, PriceState, compute_coverage
from pricing.market.offers import PurchaseOption

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
    groups: dict[tuple[str, PriceState, bool], list[CoverageRow]] = defaultdict(list)
    for row in missing:
        groups[row.provider, row.state, row.is_sold_elsewhere].append(row)
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
        needs_account = any(row.needs_account for row in rows)
        advice = "refresh with an account" if needs_account else "refresh the prices"
        yield (
            f"{title} sells {_list_options(rows, 'and')}; their prices are not in this catalog "
            f"({advice})."
        )


def _list_options(rows: Iterable[CoverageRow], last: str) -> str:
    """Purchase options with the machines of each: `savings plans for p5 and p5en`; options of the
    same machines together."""
    machines: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        machines[row.purchase_option] |= set(_name_machines(row))
    options: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for option, names in machines.items():
        options[tuple(sorted(names))].append(_SOLD_AS.get(option) or traits(option).label)
    parts = [f"{_join(words, last)} for {_families(names)}" for names, words in options.items()]
    return _join(parts, last, comma=len(parts) > 1)


def _name_machines(row: CoverageRow) -> Iterator[str]:
    """Families of machines; of slices of TPUs, and where the size stands within their names, the
    accelerator."""
    sheet = sheet_of(row.accelerator)
    for name in row.machines:
        if sheet.accelerator_class == "tpu":
            yield sheet.name
        else:
            yield f"{sheet.name} machines" if "#" in name else name


def _families(names: tuple[str, ...]) -> str:
    shown = list(names)
    if len(shown) > _MOST_FAMILIES:
        shown = [*shown[:_MOST_FAMILIES], f"{len(shown) - _MOST_FAMILIES} more families"]
    return _join(shown, "and")


def _join(words: list[str], last: str, comma: bool = False) -> str:
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])}{',' if comma else ''} {last} {words[-1]}"
