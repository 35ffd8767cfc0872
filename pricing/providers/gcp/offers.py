"""Machines put together from the rates of their parts: accelerator + cores + memory + disk.

A machine whose parts are not all priced on the same terms has no price: a host without its
accelerator, or an accelerator without its host, is never sold.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from pricing.ingest.provider import SkippedRow
from pricing.market import accelerators, machine_types
from pricing.market.offers import Offer, PurchaseOption
from pricing.providers.gcp.availability import Availability
from pricing.providers.gcp.rates import Rate, RateBook, multiply_exactly

SOURCE = "Cloud Billing Catalog API"
DECIMAL_PLACES = 10
"""Of a price per hour; a disk's monthly price ÷ 730 does not end."""

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

_FAMILIES: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern), series, accelerator)
    for pattern, series, accelerator in (
        # machine, series of its cores and memory ("": in the slice's price), accelerator
        (r"a2-ultragpu-", "A2", "gpu:a100-80gb"),
        (r"a2-(?:high|mega)gpu-", "A2", "gpu:a100-40gb"),
        (r"a3-megagpu-", "A3Plus", "gpu:h100-mega"),
        (r"a3-ultragpu-", "A3Ultra", "gpu:h200"),
        (r"a3-(?:high|edge)gpu-", "A3", "gpu:h100"),
        (r"a4x-high", "", "slice:gb200"),
        (r"a4x-max", "", "slice:gb300"),
        (r"a4-highgpu-", "", "slice:b200"),
        (r"g2-", "G2", "gpu:l4"),
        (r"g4-", "G4", "gpu:rtx-pro-6000"),
    )
)
_ATTACHED = {
    "nvidia-tesla-t4": "gpu:t4",
    "nvidia-tesla-p4": "gpu:p4",
    "nvidia-tesla-p100": "gpu:p100",
    "nvidia-tesla-v100": "gpu:v100",
    "nvidia-tesla-k80": "gpu:k80",
}
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
            yield from self._compose_slice(one)

    def _compose_machine(
        self, machine_type: machine_types.MachineType
    ) -> Iterator[Offer | SkippedRow]:
        if not list_parts(machine_type):
            yield SkippedRow("unknown machine family", machine_type.instance_type)
            return
        for option, months in TERMS:
            for region in self._priced_regions(
                _accelerator_components(machine_type), option, months
            ):
                parts = self._select_parts(machine_type, option, months, region)
                yield self._compose_offer(
                    parts,
                    option,
                    months,
                    region,
                    instance_type=machine_type.instance_type,
                    accelerator=machine_type.accelerator,
                    accelerator_count=machine_type.accelerator_count,
                    vcpus=machine_type.vcpus,
                    memory_gib=float(machine_type.memory_gib or 0) or None,
                    network_gbps=machine_type.network_gbps,
                    sold_now=option.value not in machine_type.not_sold_as
                    and not machine_type.retired(self._day)
                    and self._availability.is_offered(machine_type, region),
                )

    def _compose_slice(self, one: machine_types.TpuSlice) -> Iterator[Offer | SkippedRow]:
        component = f"tpu:{one.accelerator.rpartition('-')[2]}:{one.rate}"
        for option, months in TERMS:
            for region in self._priced_regions([component], option, months):
                yield self._compose_offer(
                    [(component, Decimal(one.units))],
                    option,
                    months,
                    region,
                    instance_type=one.name,
                    accelerator=one.accelerator,
                    accelerator_count=Fraction(one.chips),
                    vcpus=one.vcpus,
                    memory_gib=float(one.memory_gib or 0) or None,
                    network_gbps=None,
                    sold_now=self._availability.has_slice(one, region),
                )

    def _priced_regions(
        self, components: Sequence[str], option: PurchaseOption, months: int
    ) -> Iterator[str]:
        """Regions in which one of the components is priced, as far as they are wanted."""
        priced_regions = {
            r for part in components for r in self._rate_book.regions(part, option, months)
        }
        yield from sorted(priced_regions & self._wanted if self._wanted else priced_regions)

    def _select_parts(
        self,
        machine_type: machine_types.MachineType,
        option: PurchaseOption,
        months: int,
        region: str,
    ) -> Sequence[Part]:
        """A fraction of a G4 has a price of its own, host included, where the list has one."""
        if _is_fraction_of_g4(machine_type):
            slice_rate = self._rate_book.rate(_FRACTION_OF_G4, option, months, region)
            if isinstance(slice_rate, Rate):
                return [(_FRACTION_OF_G4, machine_type.accelerator_count or Fraction(0))]
        return list_parts(machine_type)

    def _compose_offer(
        self,
        parts: Sequence[Part],
        option: PurchaseOption,
        months: int,
        region: str,
        **machine: object,
    ) -> Offer | SkippedRow:
        total = Decimal(0)
        skus = []
        for component, quantity in parts:
            rate = self._rate_book.rate(component, option, months, region)
            if isinstance(rate, SkippedRow):
                return SkippedRow(rate.reason, f"{machine['instance_type']}: {rate.detail}")
            total += multiply_exactly(rate.usd_per_hour, quantity)
            skus.append(rate.sku_id)
        retired = accelerators.get(str(machine["accelerator"])).retired
        machine["sold_now"] = bool(machine["sold_now"]) and not retired
        return Offer(
            provider="gcp",
            region=region,
            purchase_option=option,
            price_per_hour=round(total, DECIMAL_PLACES),
            term_months=months,
            payment_option="no_upfront" if months else "",
            sku="+".join(skus),
            source=SOURCE,
            as_of=self._day,
            **machine,  # type: ignore[arg-type]
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


def _accelerator_components(machine_type: machine_types.MachineType) -> list[str]:
    components = [_machine_family(machine_type)[1]]
    return [*components, _FRACTION_OF_G4] if _is_fraction_of_g4(machine_type) else components


def _machine_family(machine_type: machine_types.MachineType) -> tuple[str, str]:
    """(series of cores and memory, component of the accelerator)."""
    if isinstance(machine_type, machine_types.AttachedMachineType):
        return "N1", _ATTACHED.get(machine_type.accelerator_type, "")
    for pattern, series, accelerator in _FAMILIES:
        if pattern.match(machine_type.instance_type):
            return series, accelerator
    return "", ""


def _is_fraction_of_g4(machine_type: machine_types.MachineType) -> bool:
    return (
        machine_type.instance_type.startswith("g4-") and (machine_type.accelerator_count or 0) < 1
    )
