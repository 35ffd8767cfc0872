"""A small AWS whose every price is known: the truth that the adapter has to find.

`Market.offers()` is that truth, written down as offers. `tests.pricing.servers.aws_rows` turns
the same market into what AWS sends, with all that AWS sends beside it.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from pricing.market.offers import COMPUTE_PLAN_SKU, HOURS_PER_MONTH, Offer, PurchaseOption

PUBLISHED = dt.datetime(2026, 9, 10, 19, 55, 14, tzinfo=dt.UTC)
NOW = dt.datetime(2026, 9, 12, 8, 0, 0, tzinfo=dt.UTC)

PAYMENTS = ("no_upfront", "partial_upfront", "all_upfront")
TERMS = (12, 36)
CLASSES = {"standard": PurchaseOption.RESERVED, "convertible": PurchaseOption.RESERVED_CONVERTIBLE}


@dataclass(frozen=True)
class Box:
    """A machine as this AWS sells it."""

    name: str
    slug: str
    """What it has to become; empty for one that must not become an offer."""
    count: Fraction
    vcpus: int
    memory_gib: float
    network_gbps: float | None
    usd: str
    """On demand in us-east-1."""
    maker: str = "NVIDIA"
    device: str = ""
    device_mib: int = 0
    """Memory of one logical device."""
    kind: str = "gpu"
    """gpu, neuron, inferentia (listed as both), fpga or none."""
    family: str = "GPU instance"
    reserved: bool = False
    plans: bool = True
    spot: bool = True
    blocks: bool = False
    retired: bool = False
    product_family: str = "Compute Instance"


ASIC = "Machine Learning ASIC Instances"
EIGHT, ONE = Fraction(8), Fraction(1)
BOXES = (
    Box("p5.48xlarge", "nvidia-h100-80gb-sxm", EIGHT, 192, 2048, 3200, "55.04", device="H100",
        device_mib=81920, blocks=True),
    Box("p5.4xlarge", "nvidia-h100-80gb-sxm", ONE, 16, 256, 100, "6.88", device="H100",
        device_mib=81920),
    Box("p4d.24xlarge", "nvidia-a100-40gb-sxm", EIGHT, 96, 1152, 400, "21.957642", device="A100",
        device_mib=40960, reserved=True, blocks=True),
    Box("p4de.24xlarge", "nvidia-a100-80gb-sxm", EIGHT, 96, 1152, 400, "27.44705", device="A100",
        device_mib=81920, reserved=True),
    Box("p5en.48xlarge", "nvidia-h200-141gb-sxm", EIGHT, 192, 2048, 3200, "63.296", device="H200",
        device_mib=144384),
    Box("p6-b200.48xlarge", "nvidia-b200", EIGHT, 192, 2048, 3200, "113.9328", device="B200",
        device_mib=183359),
    Box("p3dn.24xlarge", "nvidia-v100-32gb-sxm", EIGHT, 96, 768, 100, "31.212", device="V100",
        device_mib=32768, reserved=True),
    Box("p3.2xlarge", "nvidia-v100-16gb-sxm", ONE, 8, 61, 2.5, "3.06", device="V100",
        device_mib=16384, retired=True, spot=False, plans=False),
    Box("p2.xlarge", "nvidia-k80", ONE, 4, 61, None, "0.9", device="K80", device_mib=12288,
        retired=True, spot=False, plans=False),
    Box("g4dn.xlarge", "nvidia-t4", ONE, 4, 16, 5, "0.526", device="T4", device_mib=16384,
        reserved=True),
    Box("g4dn.metal", "nvidia-t4", EIGHT, 96, 384, 100, "7.824", device="T4", device_mib=16384,
        product_family="Compute Instance (bare metal)"),
    Box("g4ad.xlarge", "amd-radeon-pro-v520", ONE, 4, 16, 2, "0.37853", maker="AMD",
        device="Radeon Pro V520", device_mib=8192),
    Box("g5.xlarge", "nvidia-a10g", ONE, 4, 16, 2.5, "1.006", device="A10G", device_mib=22888),
    Box("g6.xlarge", "nvidia-l4", ONE, 4, 16, 2.5, "0.8048", device="L4", device_mib=22888),
    Box("g6f.large", "nvidia-l4", Fraction(1, 8), 2, 8, 1.5, "0.201", device="L4",
        device_mib=2861),
    Box("g6f.4xlarge", "nvidia-l4", Fraction(1, 2), 16, 64, 10, "0.812", device="L4",
        device_mib=11444),
    Box("g6e.xlarge", "nvidia-l40s", ONE, 4, 32, 2.5, "1.861", device="L40S", device_mib=45776),
    Box("g7e.2xlarge", "nvidia-rtx-pro-6000-blackwell-server", ONE, 8, 64, 50, "3.36312",
        device="RTX PRO Server 6000", device_mib=98304),
    Box("dl1.24xlarge", "intel-gaudi", EIGHT, 96, 768, 400, "13.10904", maker="Habana",
        device="Gaudi HL-205", device_mib=32768),
    Box("inf1.xlarge", "aws-inferentia", ONE, 4, 8, 5, "0.228", maker="AWS", device="Inferentia",
        device_mib=8192, kind="inferentia", family=ASIC),
    Box("inf2.xlarge", "aws-inferentia2", ONE, 4, 16, 2.083, "0.7582", maker="AWS",
        device="Inferentia2", device_mib=32768, kind="inferentia", family=ASIC),
    Box("trn1.32xlarge", "aws-trainium", Fraction(16), 128, 512, 800, "21.5", maker="AWS",
        device="Trainium", device_mib=32768, kind="neuron", family=ASIC, reserved=True,
        blocks=True),
    Box("trn2.48xlarge", "aws-trainium2", Fraction(16), 192, 2048, 3200, "37.0", maker="AWS",
        device="Trainium2", device_mib=524288, kind="neuron", family=ASIC),
)  # fmt: skip
STRANGERS = (
    Box("z9.48xlarge", "", EIGHT, 192, 2048, 3200, "99.5", device="Z900", device_mib=524288),
    Box("f2.6xlarge", "", ONE, 24, 256, 12.5, "1.98", maker="Xilinx", device="VU47P", kind="fpga",
        family="FPGA Instances"),
)  # fmt: skip
"""Machines with accelerators that nobody here knows, or that train nothing."""

REGIONS = {"us-east-1": "1", "us-west-2": "1", "eu-west-1": "1.125", "ap-northeast-1": "1.25"}
"""Price level by region."""
LOCAL_ZONE = ("us-west-2-lax-1", "1.2", ("g4dn.xlarge",))
NAMES = {
    "us-east-1": ("US East (N. Virginia)", "", "use1"),
    "us-west-2": ("US West (Oregon)", "USW2-", "usw2"),
    "eu-west-1": ("EU (Ireland)", "EU-", "euw1"),
    "ap-northeast-1": ("Asia Pacific (Tokyo)", "APN1-", "apne1"),
    "us-west-2-lax-1": ("US West (Los Angeles)", "LAX1-", "usw2-lax1"),
    "cn-north-1": ("China (Beijing)", "CNN1-", "cnn1"),
}
"""Location, how a usage type begins there, how a zone id does."""


@dataclass
class Market:
    """What this AWS sells, where, at which prices."""

    boxes: tuple[Box, ...] = BOXES
    regions: dict[str, str] = field(default_factory=lambda: dict(REGIONS))
    currency: str = "USD"
    scale: Decimal = Decimal(1)
    """All prices times this: the fault "prices × 100"."""
    local_zone: bool = True

    def sold(self, box: Box, region: str) -> bool:
        """Where a machine is offered; every retired one is priced and offered nowhere."""
        if region == LOCAL_ZONE[0]:
            return box.name in LOCAL_ZONE[2]
        return not box.retired

    def places(self) -> Iterator[tuple[str, Box]]:
        """Every (region, machine) with a price."""
        for region in self.regions:
            for box in self.boxes:
                if region != LOCAL_ZONE[0]:
                    yield region, box
        if self.local_zone:
            yield from ((LOCAL_ZONE[0], box) for box in self.boxes if box.name in LOCAL_ZONE[2])

    def level(self, region: str) -> Decimal:
        level = LOCAL_ZONE[1] if region == LOCAL_ZONE[0] else self.regions[region]
        return Decimal(level) * self.scale

    def on_demand(self, box: Box, region: str) -> Decimal:
        return Decimal(box.usd) * self.level(region)

    def reserved(
        self, box: Box, region: str, months: int, offering: str, payment: str
    ) -> tuple[Decimal, Decimal]:
        """(price per hour, upfront): upfront fees are whole amounts, as AWS's are."""
        discount = Decimal({12: "0.63", 36: "0.43"}[months])
        dearer = Decimal("1.1") if offering == "convertible" else Decimal(1)
        rate = cents4(self.on_demand(box, region) * discount * dearer)
        whole = Decimal(int(rate * HOURS_PER_MONTH * months * Decimal("0.97")))
        if payment == "no_upfront":
            return rate, Decimal(0)
        if payment == "all_upfront":
            return Decimal(0), whole
        return cents4(rate / 2), Decimal(int(whole / 2))

    def plan_rate(
        self, box: Box, region: str, months: int, payment: str, kind: str = "EC2Instance"
    ) -> Decimal:
        discount = Decimal({12: "0.72", 36: "0.5"}[months])
        less = Decimal(
            {"no_upfront": "1", "partial_upfront": "0.96", "all_upfront": "0.94"}[payment]
        )
        dearer = Decimal("1.08") if kind == "Compute" else Decimal(1)
        return cents4(self.on_demand(box, region) * discount * less * dearer)

    def zones(self, region: str) -> tuple[tuple[str, str], ...]:
        """(name, id)."""
        code = NAMES[region][2]
        return tuple((f"{region}{letter}", f"{code}-az{n}") for n, letter in enumerate("ab", 1))

    def spot(self, box: Box, region: str, zone_id: str) -> Decimal:
        return cents4(self.on_demand(box, region) * Decimal("0.3") * (1 + int(zone_id[-1])) / 2)

    def block_fee(self, box: Box, region: str) -> Decimal:
        """Of one machine for 24 hours."""
        return (self.on_demand(box, region) * 24 * Decimal("0.7")).quantize(Decimal("0.01"))

    def offers(self, *, account: bool = True) -> list[Offer]:
        """The truth: what an account, or the public files alone, let one know."""
        found = [o for region, box in self.places() for o in self._listed(region, box, account)]
        if account:
            found += [o for region, box in self.places() for o in self._by_ec2(region, box)]
        return found

    def _offer(self, box: Box, region: str, account: bool, **more: object) -> Offer:
        values: dict[str, object] = {
            "provider": "aws",
            "region": region,
            "instance_type": box.name,
            "accelerator": box.slug,
            "accelerator_count": box.count,
            "vcpus": box.vcpus,
            "memory_gib": box.memory_gib,
            "network_gbps": box.network_gbps,
            "currency": self.currency,
            "as_of": (NOW if account else PUBLISHED).date(),
            "sold_now": self.sold(box, region),
        }
        return Offer(**(values | more))  # type: ignore[arg-type]

    def _listed(self, region: str, box: Box, account: bool) -> Iterator[Offer]:
        on_demand = self.on_demand(box, region)
        yield self._offer(
            box, region, account, purchase_option=PurchaseOption.ON_DEMAND, price_per_hour=on_demand
        )
        for months in TERMS:
            for payment in PAYMENTS:
                yield from self._committed(region, box, account, months, payment)

    def _committed(
        self, region: str, box: Box, account: bool, months: int, payment: str
    ) -> Iterator[Offer]:
        terms = {"term_months": months, "payment_option": payment}
        for offering, option in CLASSES.items() if box.reserved else ():
            price, upfront = self.reserved(box, region, months, offering, payment)
            yield self._offer(
                box, region, account, purchase_option=option, price_per_hour=price,
                upfront=upfront, **terms,
            )  # fmt: skip
        for kind, sku in {"EC2Instance": "", "Compute": COMPUTE_PLAN_SKU}.items():
            if not box.plans:
                continue
            rate = self.plan_rate(box, region, months, payment, kind)
            part = {"no_upfront": Decimal(0), "partial_upfront": Decimal("0.5")}.get(
                payment, Decimal(1)
            )
            yield self._offer(
                box, region, account, purchase_option=PurchaseOption.SAVINGS_PLAN,
                price_per_hour=rate * (1 - part), upfront=rate * part * 730 * months, sku=sku,
                **terms,
            )  # fmt: skip

    def _by_ec2(self, region: str, box: Box) -> Iterator[Offer]:
        if region == LOCAL_ZONE[0]:
            return
        for _, zone in self.zones(region) if box.spot else ():
            yield self._offer(
                box, region, True, purchase_option=PurchaseOption.SPOT, zone=zone,
                price_per_hour=self.spot(box, region, zone),
            )  # fmt: skip
        if box.blocks:
            price = (self.block_fee(box, region) / 24).quantize(Decimal("1e-10"))
            yield self._offer(
                box, region, True, purchase_option=PurchaseOption.CAPACITY_BLOCK,
                price_per_hour=price,
            )  # fmt: skip


def small() -> Market:
    """Enough to have several pages of everything."""
    names = (
        "p5.48xlarge",
        "p4d.24xlarge",
        "g4dn.xlarge",
        "g6f.large",
        "trn1.32xlarge",
        "p2.xlarge",
    )
    boxes = tuple(box for box in BOXES if box.name in names)
    return Market(boxes, {"us-west-2": "1", "eu-west-1": "1.125"})


def cents4(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.0001"))


def china() -> Market:
    """One region of the Chinese partition, priced in yuan."""
    boxes = tuple(replace(box, plans=False) for box in BOXES if box.name in ("g4dn.xlarge",))
    return Market(boxes, {"cn-north-1": "7"}, currency="CNY", local_zone=False)
