"""Machines put together from the rates of their parts: accelerator + cores + memory + disk.

A machine whose parts are not all priced on the same terms has no price: a host without its
accelerator, or an accelerator without its host, is never sold.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from pricing.common.amounts import DECIMAL_PLACES, MAX_AMOUNT
from pricing.common.tables import read_rows
from pricing.ingest.provider import SkippedRow
from pricing.market import machine_types
from pricing.market.offers import HOURS_PER_MONTH, Offer, PurchaseOption
from pricing.providers.gcp.client import Availability

SOURCE = "Cloud Billing Catalog API"

TERMS: tuple[tuple[PurchaseOption, int], ...] = (
    (PurchaseOption.ON_DEMAND, 0),
    (PurchaseOption.SPOT, 0),
    (PurchaseOption.COMMITTED_USE, 12),
    (PurchaseOption.COMMITTED_USE, 36),
    (PurchaseOption.DWS_FLEX_START, 0),
    (PurchaseOption.DWS_CALENDAR_MODE, 0),
)
"""(option, months)"""

Part = tuple[str, Decimal | Fraction]
"""(component, quantity of it in one machine)"""

_WORDS = tuple(read_rows(Path(__file__).parents[2] / "data" / "gcp_words.csv"))
"""By kind: which machine is billed by which accelerator, and the words of descriptions. The first
match counts: "A100" also stands in "A100 80GB", "B200" in "GB200"."""
_FRACTION_OF_G4 = "slice:g4"


class Composer:
    """Offers of every machine and TPU slice in every region where its accelerator is priced."""

    def __init__(
        self,
        rate_book: RateBook,
        availability: Availability,
        day: dt.date,
        regions: Sequence[str] = (),
    ) -> None:
        self._rate_book = rate_book
        self._availability = availability
        self._day = day
        self._wanted = frozenset(regions)

    def offers(self) -> Iterator[Offer | SkippedRow]:
        for machine_type in self._availability.machines():
            if isinstance(machine_type, SkippedRow):
                yield machine_type
                continue
            yield from self._compose_machine(machine_type)
        for one in machine_types.tpu_slices():
            component = f"tpu:{one.accelerator.rpartition('-')[2]}:{one.rate}"
            machine = machine_types.MachineType(
                one.name, one.accelerator, Fraction(one.chips), one.vcpus, one.memory_gib
            )
            for option, months in TERMS:
                for region in self._priced_regions([component], option, months):
                    is_sold = self._availability.has_slice(one, region)
                    parts = [(component, Decimal(one.units))]
                    yield self._compose_offer(machine, parts, option, months, region, is_sold)

    def _compose_machine(
        self, machine_type: machine_types.MachineType
    ) -> Iterator[Offer | SkippedRow]:
        if not list_parts(machine_type):
            yield SkippedRow("unknown machine family", machine_type.instance_type)
            return
        for option, months in TERMS:
            components = [_machine_family(machine_type)[1]]
            if _is_fraction_of_g4(machine_type):
                components.append(_FRACTION_OF_G4)
            for region in self._priced_regions(components, option, months):
                parts: Sequence[Part] = list_parts(machine_type)
                if _is_fraction_of_g4(machine_type):
                    whole = self._rate_book.rate(_FRACTION_OF_G4, option, months, region)
                    if isinstance(whole, Rate):
                        parts = [(_FRACTION_OF_G4, machine_type.accelerator_count or Fraction(0))]
                is_sold = option.value not in machine_type.not_sold_as
                is_sold = is_sold and self._availability.is_offered(machine_type, region)
                yield self._compose_offer(machine_type, parts, option, months, region, is_sold)

    def _priced_regions(
        self, components: Sequence[str], option: PurchaseOption, months: int
    ) -> Iterator[str]:
        priced_regions = {
            r for part in components for r in self._rate_book.regions(part, option, months)
        }
        yield from sorted(priced_regions & self._wanted if self._wanted else priced_regions)

    def _compose_offer(
        self,
        machine: machine_types.MachineType,
        parts: Sequence[Part],
        option: PurchaseOption,
        months: int,
        region: str,
        is_sold: bool,
    ) -> Offer | SkippedRow:
        total = Decimal(0)
        skus = []
        for component, quantity in parts:
            rate = self._rate_book.rate(component, option, months, region)
            if isinstance(rate, SkippedRow):
                return SkippedRow(rate.reason, f"{machine.instance_type}: {rate.detail}")
            if isinstance(quantity, Fraction):  # exact where a decimal can be
                total += rate.usd_per_hour * quantity.numerator / quantity.denominator
            else:
                total += rate.usd_per_hour * quantity
            skus.append(rate.sku_id)
        # a disk's monthly price ÷ 730 does not end
        price = round(total, DECIMAL_PLACES)
        return machine_types.make_offer(
            *("gcp", machine, region, option, price, self._day),
            term_months=months,
            payment_option="no_upfront" if months else "",
            sku="+".join(skus),
            source=SOURCE,
            sold_now=is_sold,
        )


def list_parts(machine_type: machine_types.MachineType) -> list[Part]:
    """What one machine is billed by; empty for a family that is not known.

    >>> machine_type = machine_types.find("gcp", "a2-ultragpu-1g")
    >>> [(name, str(quantity)) for name, quantity in list_parts(machine_type)]
    [('gpu:a100-80gb', '1'), ('core:A2', '12'), ('ram:A2', '170'), ('ssd', '375')]
    """
    series, accelerator = _machine_family(machine_type)
    if not accelerator or not machine_type.accelerator_count:
        return []
    parts: list[Part] = [(accelerator, machine_type.accelerator_count)]
    if series:
        parts.append((f"core:{series}", Decimal(f"{machine_type.vcpus or 0:g}")))
        parts.append((f"ram:{series}", machine_type.memory_gib or Decimal(0)))
        if machine_type.local_ssd_gib:
            parts.append(("ssd", Decimal(machine_type.local_ssd_gib)))
    return parts


def _machine_family(machine_type: machine_types.MachineType) -> tuple[str, str]:
    if isinstance(machine_type, machine_types.AttachedMachineType):
        row = _find_words("attached", machine_type.accelerator_type, re.match)
    else:
        row = _find_words("machine", machine_type.instance_type, re.match)
    return (row["series"], row["name"]) if row else ("", "")


def _find_words(
    kind: str, text: str, matches: Callable[[str, str], object] = re.search
) -> Mapping[str, str] | None:
    rows = (row for row in _WORDS if row["kind"] == kind and matches(row["pattern"], text))
    return next(rows, None)


def _is_fraction_of_g4(machine_type: machine_types.MachineType) -> bool:
    return (
        machine_type.instance_type.startswith("g4-") and (machine_type.accelerator_count or 0) < 1
    )


GIB_PER_GB = Decimal("1.073741824")
"""GB in a GiB: 1024³ / 1000³. A price per GB × this is a price per GiB."""

_PER_HOUR: Mapping[str, tuple[frozenset[str], Decimal, int]] = {
    # usageUnit: (kinds of component it may price, factor, divisor) to an hour and a GiB
    "h": (frozenset({"gpu", "slice", "tpu", "core"}), Decimal(1), 1),
    "GiBy.h": (frozenset({"ram", "ssd"}), Decimal(1), 1),
    "GBy.h": (frozenset({"ram", "ssd"}), GIB_PER_GB, 1),
    "GiBy.mo": (frozenset({"ssd"}), Decimal(1), HOURS_PER_MONTH),
    "GBy.mo": (frozenset({"ssd"}), GIB_PER_GB, HOURS_PER_MONTH),
}
_NANOS = Decimal(1_000_000_000)
_NOWHERE = ("", "global")

Sku = Mapping[str, Any]


@dataclass(frozen=True)
class Rate:
    """US dollars for one unit of a component in an hour, in one region, on these terms."""

    component: str
    option: PurchaseOption
    months: int
    region: str
    usd_per_hour: Decimal
    sku_id: str
    rank: int = 0


def read_sku(sku: Sku) -> Iterator[Rate | SkippedRow]:
    """The rates of one SKU, one for each of its regions; nothing for what is none of ours."""
    category = sku.get("category") or {}
    group = str(category.get("resourceGroup") or "")
    text = normalize(str(sku.get("description") or ""))
    part = parse_component(text, group)
    if part is None:
        if group.upper() in ("GPU", "TPU") and not find_exclusion(text):
            yield SkippedRow("unknown accelerator", _format_label(sku))
        return
    terms = parse_terms(text, str(category.get("usageType") or ""))
    reason = find_exclusion(text) or (terms if isinstance(terms, str) else "")
    price = _parse_hourly_price(sku, part.name)
    regions = _drop_global(sku.get("serviceRegions")) or _drop_global(
        (sku.get("geoTaxonomy") or {}).get("regions")
    )
    reason = reason or (price if isinstance(price, str) else "") or ("" if regions else "no region")
    if reason:
        yield SkippedRow(reason, _format_label(sku))
        return
    assert isinstance(terms, Terms)
    assert isinstance(price, Decimal)
    usd_per_unit = price * part.share.denominator / part.share.numerator
    for region in regions:
        yield Rate(
            part.name,
            terms.option,
            terms.months,
            region,
            usd_per_unit,
            str(sku.get("skuId") or ""),
            terms.rank,
        )


class RateBook:
    """Rates by component, terms and region. Two prices for one are none."""

    def __init__(self, rates: Iterable[Rate]) -> None:
        self._rates: dict[tuple[str, PurchaseOption, int], dict[str, list[Rate]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for rate in rates:
            region_rates = self._rates[rate.component, rate.option, rate.months][rate.region]
            if region_rates and rate.rank < region_rates[0].rank:
                region_rates.clear()
            if not region_rates or rate.rank == region_rates[0].rank:
                region_rates.append(rate)

    def regions(self, component: str, option: PurchaseOption, months: int) -> list[str]:
        """Regions in which the component has a rate on these terms."""
        return sorted(self._rates.get((component, option, months), ()))

    def rate(
        self, component: str, option: PurchaseOption, months: int, region: str
    ) -> Rate | SkippedRow:
        """The rate, or why there is none."""
        rates = self._rates.get((component, option, months), {}).get(region, [])
        where = f"{component} {region} {option.value} {months or ''}".strip()
        if not rates:
            return SkippedRow("a part of the machine has no price", where)
        if len({rate.usd_per_hour for rate in rates}) > 1:
            return SkippedRow("two prices for one part of the machine", where)
        return rates[0]


def _parse_hourly_price(sku: Sku, component: str) -> Decimal | str:
    infos = sku.get("pricingInfo") or ()
    if not infos:
        return "no price"
    expression = (
        max(infos, key=lambda info: str(info.get("effectiveTime") or "")).get("pricingExpression")
        or {}
    )
    base = [
        r
        for r in expression.get("tieredRates") or ()
        if _parse_decimal(r.get("startUsageAmount")) == 0
    ]
    if not base:
        return "no price from the first unit on"
    unit_price = base[0].get("unitPrice") or {}
    if str(unit_price.get("currencyCode") or "USD").upper() != "USD":
        return "converted price, not in US dollars"
    kinds, factor, divisor = _PER_HOUR.get(
        str(expression.get("usageUnit") or ""), (frozenset[str](), Decimal(0), 1)
    )
    if component.partition(":")[0] not in kinds:
        return "unit is not understood"
    amount = (
        _parse_decimal(unit_price.get("units")) + _parse_decimal(unit_price.get("nanos")) / _NANOS
    )
    if not amount.is_finite() or amount > MAX_AMOUNT:
        return "price is beyond any that can be kept"
    return amount * factor / divisor if amount > 0 else "price is zero"


def _drop_global(regions: Iterable[object] | None) -> list[str]:
    return [name for name in dict.fromkeys(map(str, regions or ())) if name.lower() not in _NOWHERE]


def _parse_decimal(value: object) -> Decimal:
    return Decimal(str(value)) if value not in (None, "") else Decimal(0)


def _format_label(sku: Sku) -> str:
    return f"{sku.get('skuId') or '?'} {sku.get('description') or ''}".strip()


@dataclass(frozen=True)
class Component:
    """A part that a machine is priced by. `share`: accelerators that one unit stands for."""

    name: str
    share: Fraction = Fraction(1)


@dataclass(frozen=True)
class Terms:
    """How a component is bought. Of two texts for the same terms the lower `rank` counts."""

    option: PurchaseOption
    months: int = 0
    rank: int = 0


_SHARE = re.compile(r"\b(\d+)/(\d+) vgpu\b")
"""Fractional G4: "1/8 vGPU no lssd" stands for an eighth of the accelerator and its host."""
_SLICE = re.compile(r"\((\d+) gpu slice\)")
_SERIES = re.compile(
    r"\b(a2|a3 ?plus|a3 ?mega|a3 ?ultra|a3|a4x|a4|g2|g4|n1)\b(?:[a-z0-9 -]*?)\b(core|cpu|ram)\b"
)
_SERIES_NAMES = {"a3plus": "A3Plus", "a3mega": "A3Plus", "a3ultra": "A3Ultra"}
_N1_COMMITMENT = re.compile(r"^commitment v\d+: (cpu|ram)\b")
"""The oldest commitments name no series: they are for N1."""
_SSD = re.compile(r"\b(?:ssd backed local storage|local ssd)\b")
_SSD_OF_OTHERS = re.compile(r"\b(?:instance|instances|titanium) local ssd\b")
"""Disks of C4, Z3 and the like have a rate of their own."""
_TPU = re.compile(
    r"(?:\btpu[ -]?v?|(?<!commitment )\bv)"
    r"(?P<gen>2|3|4|5 ?e|5 ?p|5 ?lite(?:pod)?|6 ?e|7x?)\b"
)
"""Texts of flex-start and calendar mode leave "Tpu" out: "DWS Defined Duration V6e"."""
_TPU_NAMES = {"trillium": "v6e", "ironwood": "v7"}
_TPU_GENERATIONS = {"5lite": "v5e", "5litepod": "v5e", "7x": "v7"}
_YEARS = re.compile(r"\bfor (\d+) years?\b")
_USAGE_MONTHS = {"commit1yr": 12, "commit3yr": 36}


def normalize(description: str) -> str:
    """The description in lower case with single spaces."""
    return " ".join(description.lower().split())


def parse_component(text: str, group: str) -> Component | None:
    """The part of a machine that a plain description prices; None for what is none of ours.

    >>> parse_component("nvidia tesla a100 80gb gpu running in americas", "GPU").name
    'gpu:a100-80gb'
    >>> parse_component("a3plus instance ram running in tokyo", "RAM").name
    'ram:A3Plus'
    """
    if group.upper() == "TPU" or "tpu" in text:
        return _parse_tpu(text)
    share = _SHARE.search(text)
    if share:
        return Component("slice:g4", Fraction(int(share[1]), int(share[2])))
    series = _SERIES.search(text)
    if series:
        compact = series[1].replace(" ", "")
        name = _SERIES_NAMES.get(compact, compact.upper())
        return Component(f"{'ram' if series[2] == 'ram' else 'core'}:{name}")
    n1 = _N1_COMMITMENT.search(text)
    if n1:
        return Component("ram:N1" if n1[1] == "ram" else "core:N1")
    if _SSD.search(text):
        return None if _SSD_OF_OTHERS.search(text) else Component("ssd")
    gpu = _find_words("accelerator", text)
    if gpu is None:
        return None
    slices = _SLICE.search(text) if gpu["name"].startswith("slice:") else None
    return Component(gpu["name"], Fraction(int(slices[1]) if slices else 1))


def find_exclusion(text: str) -> str:
    """Why a SKU of a known component is no price of a plain machine; empty if it may be one."""
    words = _find_words("excluded", text)
    return words["name"] if words else ""


def parse_terms(text: str, usage_type: str) -> Terms | str:
    """How the SKU is bought, or why that cannot be said.

    >>> parse_terms("spot preemptible a4 nvidia b200 (1 gpu slice)", "OnDemand").option
    <PurchaseOption.SPOT: 'spot'>
    """
    usage = usage_type.lower()
    if text.startswith("commitment"):
        term_match = _YEARS.search(text)
        months = 12 * int(term_match[1]) if term_match else _USAGE_MONTHS.get(usage, 0)
        if not months:
            return "commitment without a known term"
        if _USAGE_MONTHS.get(usage, months) != months:
            return "usage type contradicts the description"
        return Terms(PurchaseOption.COMMITTED_USE, months)
    if usage.startswith("commit"):
        return "usage type contradicts the description"
    if "calendar mode" in text:
        return Terms(PurchaseOption.DWS_CALENDAR_MODE, rank=int(text.startswith("reserved")))
    if text.startswith("reserved"):
        return "placeholder of a reservation"
    if re.search(r"\bdws\b|\bdefined duration\b|\bflex[ -]start\b", text):
        return Terms(PurchaseOption.DWS_FLEX_START)
    if re.search(r"\bpreemptible\b|\bspot\b", text):
        return Terms(PurchaseOption.SPOT)
    if usage in ("ondemand", ""):
        return Terms(PurchaseOption.ON_DEMAND)
    return "usage type contradicts the description"


def _parse_tpu(text: str) -> Component | None:
    tpu_name = next((gen for word, gen in _TPU_NAMES.items() if word in text), "")
    match = _TPU.search(text)
    if not tpu_name and not match:
        return None
    compact = match["gen"].replace(" ", "") if match else ""
    generation = tpu_name or _TPU_GENERATIONS.get(compact, f"v{compact}")
    if generation in ("v2", "v3"):
        return Component(f"tpu:{generation}:{'pod' if 'pod' in text else 'device'}")
    return Component(f"tpu:{generation}:{'pod' if generation == 'v4' else 'chip'}")
