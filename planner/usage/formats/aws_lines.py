"""Lines of AWS bills: their columns, and what each is by `LineItemType` and `UsageType`. PURE."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from planner.usage.ledger import Reason
from planner.usage.machines import find_machine
from planner.usage.sums import ChargeSums, UseSums
from planner.usage.tables import Columns
from pricing.common.invalid_input import InvalidInput

REGIONS_BY_PREFIX = {
    "": "us-east-1",
    "USE1": "us-east-1",
    "USE2": "us-east-2",
    "USW1": "us-west-1",
    "USW2": "us-west-2",
    "CAN1": "ca-central-1",
    "EU": "eu-west-1",
    "EUW1": "eu-west-1",
    "EUW2": "eu-west-2",
    "EUW3": "eu-west-3",
    "EUC1": "eu-central-1",
    "EUC2": "eu-central-2",
    "EUN1": "eu-north-1",
    "EUS1": "eu-south-1",
    "APN1": "ap-northeast-1",
    "APN2": "ap-northeast-2",
    "APN3": "ap-northeast-3",
    "APS1": "ap-southeast-1",
    "APS2": "ap-southeast-2",
    "APS3": "ap-south-1",
    "SAE1": "sa-east-1",
}
"""Regions by the prefix of usage types (AWS, Cost and Usage Report, 2026); others as written."""

_BY_TYPE = {
    "SavingsPlanNegation": Reason.NEGATION,
    "SavingsPlanRecurringFee": Reason.COMMITMENT_FEE,
    "SavingsPlanUpfrontFee": Reason.COMMITMENT_FEE,
    "RIFee": Reason.COMMITMENT_FEE,
    "Fee": Reason.COMMITMENT_FEE,
    "Tax": Reason.TAX,
    "Credit": Reason.CREDIT,
    "Refund": Reason.REFUND,
    "EdpDiscount": Reason.DISCOUNT,
    "BundledDiscount": Reason.DISCOUNT,
    "PrivateRateDiscount": Reason.DISCOUNT,
    "Discount": Reason.DISCOUNT,
}
_OPTIONS = {"SavingsPlanCoveredUsage": "savings_plan", "DiscountedUsage": "reserved"}
_USES = ("Usage", "SavingsPlanCoveredUsage", "DiscountedUsage")
_USAGE_TYPE = re.compile(
    r"(?:(?P<region>[A-Z]{2,4}\d?)-)?(?P<kind>[\w-]+?)(?::(?P<machine>[\w.-]+))?"
)
_MACHINE_USE = {
    "BoxUsage": "on_demand",
    "SpotUsage": "spot",
    "DedicatedUsage": "on_demand",
    "HostBoxUsage": "on_demand",
}
_NO_USE = {
    "UnusedBox": Reason.UNUSED_RESERVATION,
    "UnusedDed": Reason.UNUSED_RESERVATION,
    "Reservation": Reason.CAPACITY_RESERVATION,
    "DedicatedRes": Reason.CAPACITY_RESERVATION,
}


class UsageKind(NamedTuple):
    """What a usage type of a kind of line is."""

    reason: Reason
    machine: str
    accelerator: str
    accelerators: float
    option: str
    region: str
    problem: str


NO_KIND = UsageKind(Reason.NOT_UNDERSTOOD, "", "", 0.0, "", "", "")
"""What a line is of which neither is understood."""


@lru_cache(maxsize=50_000)
def classify(line_type: str, usage_type: str, gpus: str) -> UsageKind:
    match = _USAGE_TYPE.fullmatch(usage_type)
    name = (match["machine"] or "") if match else ""
    prefix = (match["region"] or "") if match else ""
    used = _MACHINE_USE.get(match["kind"], "") if match else ""
    if name.startswith("ml."):
        used = used or "on_demand"
    is_machine = bool(used) or bool(match and match["kind"] in _NO_USE)
    machine = find_machine("aws", name) if is_machine and name else None
    count = machine.accelerators if machine else 0.0
    if not count and is_machine and gpus.isdecimal() and 0 < int(gpus[:4]) < 1_000:
        count = float(gpus)
    reason = _BY_TYPE.get(line_type)
    if reason is None:
        reason = _use_reason(line_type, match["kind"] if match else "", used, count)
    problem = ""
    if count is None and reason is Reason.ACCELERATOR_USE:
        problem = f"the accelerators of {name!r} are not known; its hours are in no sum"
    return UsageKind(
        reason,
        name,
        machine.accelerator if machine else "",
        count or 0.0,
        _OPTIONS.get(line_type, used),
        REGIONS_BY_PREFIX.get(prefix, prefix),
        problem,
    )


def _use_reason(line_type: str, kind: str, used: str, count: float | None) -> Reason:
    if line_type not in _USES:
        problem = f"{line_type[:40]!r} is unknown; its hours are in no sum"
        raise InvalidInput("lineItem/LineItemType", problem)
    if kind in _NO_USE:
        return _NO_USE[kind] if count != 0 else Reason.OTHER_MACHINE
    if not used:
        return Reason.NOT_A_MACHINE
    return Reason.OTHER_MACHINE if count == 0 else Reason.ACCELERATOR_USE


class LineColumns:
    """Readers of the columns of one file, in the names of CUR 1, CUR 2 and Athena."""

    def __init__(self, columns: Columns, tags: tuple[str, ...]) -> None:
        get = columns.getter
        self.line = get("identity/LineItemId")
        self.interval = get("identity/TimeInterval")
        self.start = get("lineItem/UsageStartDate")
        self.end = get("lineItem/UsageEndDate")
        self.amount = get("lineItem/UsageAmount")
        self.cost = get("lineItem/UnblendedCost")
        self.resource = get("lineItem/ResourceId")
        self.ri_effective = get("reservation/EffectiveCost")
        self.ri_unused_upfront = get(
            "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod",
            "reservation_unused_amortized_upfront_fee",
        )
        self.ri_unused_fee = get("reservation/UnusedRecurringFee")
        self.sp_effective = get("savingsPlan/SavingsPlanEffectiveCost")
        self.sp_total = get("savingsPlan/TotalCommitmentToDate")
        self.sp_used = get("savingsPlan/UsedCommitment")
        self.sp_end = get("savingsPlan/EndTime")
        self.ri_end = get("reservation/EndTime")
        self._columns = columns
        self._places: list[int] = []
        get = self._shared
        self.type = get("lineItem/LineItemType")
        self.product = get("lineItem/ProductCode")
        self.usage_type = get("lineItem/UsageType")
        self.currency = get("lineItem/CurrencyCode")
        self.account = get("lineItem/UsageAccountId")
        self.bill_type = get("bill/BillType")
        self.unit = get("pricing/unit")
        self.region = get("product/region", "product/regionCode", "product_region_code")
        self.gpus = get("product/gpu")
        self.ri_arn = get("reservation/ReservationARN")
        self.sp_arn = get("savingsPlan/SavingsPlanARN")
        self.tag_map = get("resource_tags")
        self.tags: list[tuple[str, Callable[[Sequence[str]], str]]] = [
            (tag, get(f"resourceTags/user:{tag}", f"resource_tags_user_{tag}")) for tag in tags
        ]
        self.shared = itemgetter(*self._places)
        """What rows have in common that are like each other."""

    def _shared(self, *names: str) -> Callable[[Sequence[str]], str]:
        place = self._columns.find(*names)
        if place is not None:
            self._places.append(place)
        return self._columns.getter(*names)


class LikeLines:
    """What rows that differ in their line, time and amounts alone have in common."""

    __slots__ = (
        *("charge", "currency", "hours_per_unit", "is_of_commitment", "kind", "problem"),
        *("reason", "type", "use"),
    )

    def __init__(self, line_type: str, currency: str) -> None:
        self.type, self.currency = line_type, currency
        self.kind = NO_KIND
        self.reason = Reason.NOT_UNDERSTOOD
        self.hours_per_unit = 0.0
        self.is_of_commitment = False
        self.problem: tuple[str, str] | None = None
        """Why such rows are not understood."""
        self.charge: ChargeSums | None = None
        self.use: UseSums | None = None


class LineAmounts:
    """Amounts as they are written, which repeat from row to row, read once."""

    __slots__ = ("billed", "usage", "values")

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.values: tuple[float | str, ...]
        try:
            self.values = tuple([float(text) if text else 0.0 for text in texts])
        except ValueError:
            self.values = texts
        self.billed: Decimal | None = None
        self.usage: float | None = None
