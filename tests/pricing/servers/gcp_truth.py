"""What the fake Google Cloud sells: rates of parts, machines made of them, and their prices.

`RATES` states US dollars per hour for one unit of each part (a GiB-month for local disk), by
terms and region; `MACHINES` and `SLICES` what each machine is made of. `truth` adds them up the
plain way. `tests.pricing.servers.gcp` tells the rates as SKUs of the billing catalog.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from pricing.market import accelerators
from pricing.market.offers import Offer, PurchaseOption

DAY = dt.date(2026, 9, 10)
NOW = dt.datetime(2026, 9, 10, 12, tzinfo=dt.UTC)

OD = (PurchaseOption.ON_DEMAND, 0)
SPOT = (PurchaseOption.SPOT, 0)
ONE = (PurchaseOption.COMMITTED_USE, 12)
THREE = (PurchaseOption.COMMITTED_USE, 36)
FLEX = (PurchaseOption.DWS_FLEX_START, 0)
CALENDAR = (PurchaseOption.DWS_CALENDAR_MODE, 0)

Terms = tuple[PurchaseOption, int]

US, EU, ASIA = "us-central1", "europe-west4", "asia-east2"
"""No machine is in asia-east2, although its parts have prices there."""

RATES: dict[str, dict[Terms, dict[str, str]]] = {
    "a100-40": {
        OD: {US: "2.933908", EU: "2.933908", ASIA: "3.1"},
        SPOT: {US: "1.5399", EU: "1.2"},
        ONE: {US: "1.84836204"},
        THREE: {US: "1.026868"},
        FLEX: {US: "1.61365"},
    },
    "a100-80": {OD: {US: "3.92808"}, SPOT: {US: "1.964"}},
    "A2 core": {
        OD: {US: "0.031611", EU: "0.0347721", ASIA: "0.0366"},
        SPOT: {US: "0.01659", EU: "0.011"},
        ONE: {US: "0.01991496"},
        THREE: {US: "0.01106387"},
        FLEX: {US: "0.01739"},
    },
    "A2 ram": {
        OD: {US: "0.004237", EU: "0.0046607", ASIA: "0.0049"},
        SPOT: {US: "0.00222", EU: "0.0015"},
        ONE: {US: "0.0026693"},
        THREE: {US: "0.00148294"},
        FLEX: {US: "0.00233"},
    },
    "h100": {OD: {US: "9.79652"}, SPOT: {US: "5.6"}, FLEX: {US: "4.200761"}},
    "A3 core": {OD: {US: "0.0293227"}, SPOT: {US: "0.0168"}, FLEX: {US: "0.010934"}},
    "A3 ram": {OD: {US: "0.0025534"}, SPOT: {US: "0.0015"}, FLEX: {US: "0.000952"}},
    "h100-mega": {OD: {US: "10.344275712"}, SPOT: {US: "5.9"}},
    "A3Plus core": {OD: {US: "0.0293227"}},
    "A3Plus ram": {OD: {US: "0.0025534"}},
    "h200": {OD: {US: "9.31174"}},
    "A3Ultra core": {OD: {US: "0.0293"}},
    "A3Ultra ram": {OD: {US: "0.0025"}},
    "b200": {
        OD: {US: "16.11"},
        SPOT: {US: "4.9542"},
        ONE: {US: "11.1159"},
        THREE: {US: "7.0884"},
        FLEX: {US: "8.055"},
        CALENDAR: {US: "11.277"},
    },
    "l4": {OD: {US: "0.560004", EU: "0.616"}, SPOT: {US: "0.3192"}},
    "G2 core": {OD: {US: "0.024988", EU: "0.0275"}, SPOT: {US: "0.01134"}},
    "G2 ram": {OD: {US: "0.002927", EU: "0.0032"}, SPOT: {US: "0.001361"}},
    "rtx": {OD: {US: "1.09565"}, FLEX: {US: "0.54783"}},
    "G4 core": {OD: {US: "0.04891"}, FLEX: {US: "0.024455"}},
    "G4 ram": {OD: {US: "0.00587"}, FLEX: {US: "0.002935"}},
    "g4 eighth": {OD: {US: "0.64688"}},
    "t4": {OD: {US: "0.35"}, SPOT: {US: "0.2"}, ONE: {US: "0.22"}, THREE: {US: "0.16"}},
    "N1 core": {
        OD: {US: "0.031611"}, SPOT: {US: "0.00698"}, ONE: {US: "0.019915"},
        THREE: {US: "0.014225"},
    },
    "N1 ram": {
        OD: {US: "0.004237"}, SPOT: {US: "0.00094"}, ONE: {US: "0.002669"},
        THREE: {US: "0.001907"},
    },
    "disk": {OD: {US: "0.08", EU: "0.088"}, SPOT: {US: "0.048"}, FLEX: {US: "0.08"}},
    "v2": {OD: {US: "4.5"}, SPOT: {US: "1.35"}},
    "v2 pod": {OD: {US: "6.0"}},
    "v3": {OD: {EU: "8.8"}, SPOT: {EU: "2.244"}},
    "v3 pod": {OD: {EU: "8.0"}},
    "v4 pod": {OD: {"us-central2": "12.88"}},
    "v5e": {OD: {US: "1.2"}, SPOT: {US: "0.24493"}, ONE: {US: "0.84"}, THREE: {US: "0.54"}},
    "v5p": {OD: {US: "4.2"}},
    "v6e": {OD: {"us-east5": "2.7"}, SPOT: {"us-east5": "1.215"}, FLEX: {"us-east5": "1.89"},
            CALENDAR: {"us-east5": "2.025"}},
    "v7": {OD: {US: "12.0"}},
}  # fmt: skip


@dataclass(frozen=True)
class Made:
    """A machine and its parts: accelerators, vCPUs × core, GiB × ram, GiB of disk."""

    name: str
    accelerator: str
    count: Fraction
    vcpus: int
    memory_gib: Decimal
    part: str
    series: str = ""
    disk_gib: int = 0
    on_demand_sold: bool = True


def _many(
    pattern: str, accelerator: str, part: str, series: str, sizes: str, **changes: object
) -> Iterator[Made]:
    """Sizes "1g:1:12:85" are name, accelerators, vCPUs, GiB and, if any, GiB of disk."""
    for size in sizes.split():
        name, count, vcpus, memory, *disk = size.split(":")
        yield Made(
            pattern.format(name), accelerator, Fraction(count), int(vcpus), Decimal(memory), part,
            series, int(disk[0]) if disk else 0, **changes,  # type: ignore[arg-type]
        )  # fmt: skip


H100, H200 = "nvidia-h100-80gb-sxm", "nvidia-h200-141gb-sxm"
RTX = "nvidia-rtx-pro-6000-blackwell-server"
MACHINES: tuple[Made, ...] = (
    *_many("a2-{}", "nvidia-a100-40gb-sxm", "a100-40", "A2",
           "highgpu-1g:1:12:85 highgpu-2g:2:24:170 highgpu-4g:4:48:340 highgpu-8g:8:96:680 "
           "megagpu-16g:16:96:1360"),
    *_many("a2-ultragpu-{}", "nvidia-a100-80gb-sxm", "a100-80", "A2",
           "1g:1:12:170:375 2g:2:24:340:750 4g:4:48:680:1500 8g:8:96:1360:3000"),
    *_many("a3-highgpu-{}", H100, "h100", "A3", "8g:8:208:1872:6000"),
    *_many("a3-highgpu-{}", H100, "h100", "A3",
           "1g:1:26:234:750 2g:2:52:468:1500 4g:4:104:936:3000", on_demand_sold=False),
    *_many("a3-edgegpu-{}", H100, "h100", "A3", "8g:8:208:1872:6000 8g-nolssd:8:208:1872"),
    *_many("a3-megagpu-{}", H100, "h100-mega", "A3Plus", "8g:8:208:1872:6000"),
    *_many("a3-ultragpu-{}", H200, "h200", "A3Ultra",
           "8g:8:224:2952:12000 8g-nolssd:8:224:2952", on_demand_sold=False),
    *_many("a4-highgpu-{}", "nvidia-b200", "b200", "", "8g:8:224:3968", on_demand_sold=False),
    *_many("g2-standard-{}", "nvidia-l4", "l4", "G2",
           "4:1:4:16 8:1:8:32 12:1:12:48 16:1:16:64 24:2:24:96 32:1:32:128 48:4:48:192 "
           "96:8:96:384"),
    *_many("g4-standard-{}", RTX, "rtx", "G4",
           "6:1/8:6:22 12:1/4:12:45 24:1/2:24:90 48:1:48:180 96:2:96:360 192:4:192:720 "
           "384:8:384:1440"),
    *_many("n1-{}+1xnvidia-tesla-t4", "nvidia-t4", "t4", "N1",
           "standard-4:1:4:15 standard-8:1:8:30 standard-16:1:16:60 standard-32:1:32:120 "
           "highmem-4:1:4:26 highmem-8:1:8:52 highmem-16:1:16:104 highmem-32:1:32:208 "
           "highcpu-4:1:4:3.6 highcpu-8:1:8:7.2 highcpu-16:1:16:14.4 highcpu-32:1:32:28.8"),
    *_many("n1-{}+2xnvidia-tesla-t4", "nvidia-t4", "t4", "N1",
           "standard-8:2:8:30 standard-16:2:16:60 standard-32:2:32:120 highmem-8:2:8:52 "
           "highmem-16:2:16:104 highmem-32:2:32:208 highcpu-8:2:8:7.2 highcpu-16:2:16:14.4 "
           "highcpu-32:2:32:28.8"),
    *_many("n1-{}+4xnvidia-tesla-t4", "nvidia-t4", "t4", "N1",
           "standard-16:4:16:60 standard-32:4:32:120 standard-64:4:64:240 standard-96:4:96:360 "
           "highmem-16:4:16:104 highmem-32:4:32:208 highmem-64:4:64:416 highmem-96:4:96:624 "
           "highcpu-16:4:16:14.4 highcpu-32:4:32:28.8 highcpu-64:4:64:57.6 "
           "highcpu-96:4:96:86.4"),
)  # fmt: skip

_POWERS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
SLICES: tuple[tuple[str, str, int, str, int], ...] = (
    # name, accelerator, chips, rate, units of the rate: eight cores (v2 to v4) or one chip
    ("v2-8", "google-tpu-v2", 4, "v2", 1),
    *((f"v2-{n}", "google-tpu-v2", n // 2, "v2 pod", n // 8) for n in (32, 128, 256, 512)),
    ("v3-8", "google-tpu-v3", 4, "v3", 1),
    *((f"v3-{n}", "google-tpu-v3", n // 2, "v3 pod", n // 8) for n in _POWERS[2:9]),
    *((f"v4-{n}", "google-tpu-v4", n // 2, "v4 pod", n // 8) for n in _POWERS),
    *((f"v5litepod-{n}", "google-tpu-v5e", n, "v5e", n) for n in (1, 4, *_POWERS[:6])),
    *((f"v5p-{n}", "google-tpu-v5p", n // 2, "v5p", n // 2) for n in _POWERS),
    *((f"v6e-{n}", "google-tpu-v6e", n, "v6e", n) for n in (1, 4, *_POWERS[:6])),
    *((f"tpu7x-{n}", "google-tpu-v7", n // 2, "v7", n // 2) for n in (2, *_POWERS[:7])),
)

OFFERED: dict[str, tuple[str, ...]] = {
    "a2-highgpu-1g": (US, EU),
    "a2-highgpu-2g": (US, EU),
    "a2-highgpu-8g": (US,),
    "a2-ultragpu-1g": (US,),
    "a3-highgpu-1g": (US,),
    "a3-highgpu-8g": (US,),
    "a3-megagpu-8g": (US,),
    "a3-ultragpu-8g": (US,),
    "a4-highgpu-8g": (US,),
    "g2-standard-4": (US, EU),
    "g4-standard-6": (US,),
    "g4-standard-48": (US,),
    "nvidia-tesla-t4": (US, EU),
    "ct3-hightpu-4t": (EU,),
    "ct5lp-hightpu-4t": (US,),
    "ct5p-hightpu-4t": ("us-east5",),
    "ct6e-standard-4t": ("us-east5",),
    "tpu7x-standard-4t": (US,),
}
"""Regions of the machine types and attachable accelerators that Compute Engine lists."""

_HOSTS_OF = {"v3": "ct3-hightpu-4t", "v5litepod": "ct5lp-hightpu-4t", "v5p": "ct5p-hightpu-4t",
             "v6e": "ct6e-standard-4t", "tpu7x": "tpu7x-standard-4t"}  # fmt: skip
_PODS_OF_V3 = frozenset(name for name, *_ in SLICES if name.startswith("v3-")) - {"v3-8"}


def truth() -> dict[str, Offer]:
    """Every offer by its id, as the adapter must give it with Compute Engine at hand."""
    made = (offer for machine in MACHINES for offer in _machine_offers(machine))
    cut = (offer for one in SLICES for offer in _slice_offers(*one))
    return {offer.id: offer for offer in (*made, *cut)}


def _machine_offers(machine: Made) -> Iterator[Offer]:
    for terms in (OD, SPOT, ONE, THREE, FLEX, CALENDAR):
        for region in (US, EU, ASIA):
            price = _price(machine, terms, region)
            if price is None:
                continue
            name = machine.name.rpartition("x")[2] if "+" in machine.name else machine.name
            sold = region in OFFERED.get(name, ()) and (terms != OD or machine.on_demand_sold)
            yield _offer(
                machine.name, machine.accelerator, machine.count, region, terms, price, sold,
                float(machine.vcpus), float(machine.memory_gib),
            )  # fmt: skip


def _price(machine: Made, terms: Terms, region: str) -> Decimal | None:
    """The sum over the parts; None if one of them is not priced on these terms there."""
    eighth = _rate("g4 eighth", terms, region)
    if machine.series == "G4" and machine.count < 1 and eighth is not None:
        return eighth * int(machine.count * 8)
    part = _rate(machine.part, terms, region)
    if part is None:
        return None
    total = part * machine.count.numerator / machine.count.denominator
    if machine.series:
        core = _rate(f"{machine.series} core", terms, region)
        ram = _rate(f"{machine.series} ram", terms, region)
        if core is None or ram is None:
            return None
        total += core * machine.vcpus + ram * machine.memory_gib
    if machine.disk_gib:
        disk = _rate("disk", terms, region)
        if disk is None:
            return None
        total += disk * machine.disk_gib / 730
    return round(total, 10)


def _slice_offers(
    name: str, accelerator: str, chips: int, rate: str, units: int
) -> Iterator[Offer]:
    for terms, regions in RATES[rate].items():
        for region, price in regions.items():
            host = _HOSTS_OF.get(name.rpartition("-")[0])
            sold = host is None or region in OFFERED[host] or name in _PODS_OF_V3
            sold = sold and not accelerators.get(accelerator).retired
            yield _offer(
                name, accelerator, Fraction(chips), region, terms, Decimal(price) * units, sold
            )


def _rate(part: str, terms: Terms, region: str) -> Decimal | None:
    price = RATES[part].get(terms, {}).get(region)
    return Decimal(price) if price is not None else None


def _offer(
    name: str,
    accelerator: str,
    count: Fraction,
    region: str,
    terms: Terms,
    price: Decimal,
    sold_now: bool,
    vcpus: float | None = None,
    memory_gib: float | None = None,
) -> Offer:
    option, months = terms
    return Offer(
        provider="gcp", region=region, instance_type=name, accelerator=accelerator,
        accelerator_count=count, purchase_option=option, price_per_hour=price,
        term_months=months, payment_option="no_upfront" if months else "", vcpus=vcpus,
        memory_gib=memory_gib, as_of=DAY, sold_now=sold_now,
    )  # fmt: skip
