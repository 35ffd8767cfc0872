"""Accelerators and servers that the hardware page shows: what the address asks for, so many at a
time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from planner.costing.assumptions.reference_servers import Server, all_servers
from planner.web.common.choices import provider_title
from planner.web.common.query_codec import number
from planner.web.market.effective_tflops import effective_tflops
from planner.web.market.lowest_prices import POPULAR, find_lowest_price, name_place
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator, all_accelerators
from pricing.market.offers import Offer, PurchaseOption
from pricing.market.snapshot import Catalog

ROWS = 20
"""Accelerators on the page until more are asked for."""
USES: Mapping[str, str] = {
    "data_center": "Data centre",
    "tpu": "Google TPU",
    "workstation": "Workstations",
    "consumer": "Consumer cards",
}
"""Classes of accelerators in the order of the page, and what they are called."""
PRICES: Mapping[str, str] = {"": "any", "known": "known here"}
"""Values of `prices` on the page."""
_LONGEST_NAME = 80


@dataclass(frozen=True)
class HardwareRow:
    """An accelerator with who rents it and its lowest price on demand."""

    accelerator: Accelerator
    providers: tuple[str, ...]
    offer: Offer | None
    usd_per_hour: float | None
    place: str = ""
    """Where that price is asked, as people call it."""

    @property
    def use(self) -> str:
        """What it is made for, as the page's groups are called."""
        return USES[self.accelerator.accelerator_class]

    @property
    def usd_per_tflop_hour(self) -> float | None:
        """Lowest price over what it sustains in training, USD per effective TFLOP-hour."""
        rate = effective_tflops(self.accelerator)
        return None if self.usd_per_hour is None or not rate else self.usd_per_hour / rate

    @property
    def effective_tflops(self) -> float | None:
        return effective_tflops(self.accelerator)


@dataclass(frozen=True)
class HardwareQuery:
    """What the address asks of the page; where it asks nothing, a few accelerators are shown."""

    name: str = ""
    least_memory_gib: float = 0.0
    use: str = ""
    prices: str = ""
    rows: int | None = None

    @classmethod
    def read(cls, query: QueryDict) -> HardwareQuery:
        """Raises `InvalidInput` naming the box for a value that it does not take."""
        return cls(
            name=query.get("name", "").strip()[:_LONGEST_NAME],
            least_memory_gib=_memory(query.get("min_memory_gib", "")),
            use=_choice(query, "use", USES),
            prices=_choice(query, "prices", PRICES),
            rows=_count(query.get("rows", "")),
        )

    @property
    def is_first_look(self) -> bool:
        """Whether nothing is asked for."""
        return self == HardwareQuery()

    def takes(self, row: HardwareRow) -> bool:
        """Whether an accelerator is asked for."""
        one = row.accelerator
        if self.is_first_look:
            return one.slug in POPULAR
        return (
            self.name.lower() in one.name.lower()
            and one.memory_gib >= self.least_memory_gib
            and self.use in ("", one.accelerator_class)
            and (not self.prices or bool(row.providers))
        )


def _memory(text: str) -> float:
    value = number(text) if text.strip() else 0
    if isinstance(value, str) or value < 0:
        raise InvalidInput("min_memory_gib", f"{text[:20]!r} is not an amount of memory in GiB")
    return float(value)


def _choice(query: QueryDict, name: str, allowed: Iterable[str]) -> str:
    value = query.get(name, "")
    if value and value not in allowed:
        raise InvalidInput(name, f"{value[:60]!r} is not one of {', '.join(filter(None, allowed))}")
    return value


def _count(text: str) -> int | None:
    value = number(text) if text.strip() else None
    if value is not None and (not isinstance(value, int) or value < 1):
        raise InvalidInput("rows", f"{text[:20]!r} is not a number of rows")
    return value


@dataclass(frozen=True)
class HardwareList:
    """What the page shows, and how much more is asked for."""

    groups: list[tuple[str, list[HardwareRow]]]
    """The rows of each use, newest first."""
    servers: list[Server]
    """Servers with these accelerators; those on sale alone at the first look."""
    shown: int
    total: int
    next_slug: str = ""
    """The first accelerator that is left out."""

    @property
    def rows_with_more(self) -> int:
        """How many rows there are once more are shown."""
        return self.shown + ROWS


def list_hardware(
    rows: Sequence[HardwareRow], query: HardwareQuery, ticked: Sequence[str]
) -> HardwareList:
    """The accelerators that are asked for, by use, as many as the page takes, with what is ticked
    wherever it stands."""
    ordered = [row for use in USES for row in rows if row.accelerator.accelerator_class == use]
    matching = [row for row in ordered if query.takes(row)]
    shown, rest = matching[: query.rows or ROWS], matching[query.rows or ROWS :]
    slugs = {row.accelerator.slug for row in shown}
    listed = [row for row in ordered if row.accelerator.slug in slugs | {*ticked}]
    return HardwareList(
        groups=_by_use(listed),
        servers=_servers_with(slugs, query),
        shown=len(shown),
        total=len(matching),
        next_slug=rest[0].accelerator.slug if rest else "",
    )


def _by_use(rows: Sequence[HardwareRow]) -> list[tuple[str, list[HardwareRow]]]:
    groups = [
        (title, [row for row in rows if row.accelerator.accelerator_class == name])
        for name, title in USES.items()
    ]
    return [(title, members) for title, members in groups if members]


def _servers_with(slugs: set[str], query: HardwareQuery) -> list[Server]:
    """Servers with one of these accelerators or of the name asked for, those on sale first."""
    name = query.name.lower()
    servers = [
        one
        for one in all_servers()
        if one.accelerator in slugs or (name and name in one.name.lower())
    ]
    if query.is_first_look:
        return [one for one in servers if one.on_sale]
    return sorted(servers, key=lambda one: not one.on_sale)


def hardware_rows(market: Catalog) -> list[HardwareRow]:
    """Every accelerator, newest first and retired ones last."""
    return [_build_row(one, market) for one in sorted(all_accelerators(), key=_newest_first)]


def _build_row(accelerator: Accelerator, market: Catalog) -> HardwareRow:
    offers = market.offers
    sold = offers.select(accelerators=[accelerator.slug])
    names = sorted({offers.provider.names[code] for code in offers.provider.codes[sold]})
    offer, usd = find_lowest_price(offers, accelerator.slug, PurchaseOption.ON_DEMAND)
    titles = tuple(provider_title(name) for name in names)
    return HardwareRow(accelerator, titles, offer, usd, name_place(offer, market))


def _newest_first(one: Accelerator) -> tuple[bool, int, str]:
    return one.retired, -one.year, one.name
