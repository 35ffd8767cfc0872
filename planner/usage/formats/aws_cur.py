"""AWS Cost and Usage Report 1 and 2, and what Athena makes of it. PURE.

Billed is `UnblendedCost`, amortised what the month used up of commitments. What a line counts
follows its `LineItemType`; hours are those of machines in use alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from planner.usage.cells import Moments, check_period, clip, money, quantity
from planner.usage.commitments import CommitmentSums, CoveredMachine
from planner.usage.formats.aws_regions import REGIONS_BY_PREFIX
from planner.usage.formats.base import ReadOptions, TableFormat
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.machines import find_machine
from planner.usage.overlaps import IsRepeated
from planner.usage.projects import parse_tags
from planner.usage.tables import Columns, Table
from pricing.common.invalid_input import InvalidInput

_ZERO = Decimal(0)
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
_MAX_KINDS = 50_000


class _Kind(NamedTuple):
    """What a usage type is, once for all its rows."""

    reason: Reason
    machine: str
    accelerator: str
    accelerators: float
    option: str
    region: str
    problem: str


class _Row:
    """Readers of the columns of one file, in the names of CUR 1, CUR 2 and Athena."""

    def __init__(self, columns: Columns, tags: tuple[str, ...]) -> None:
        get = columns.getter
        self.line = get("identity/LineItemId")
        self.interval = get("identity/TimeInterval")
        self.type = get("lineItem/LineItemType")
        self.start = get("lineItem/UsageStartDate")
        self.end = get("lineItem/UsageEndDate")
        self.product = get("lineItem/ProductCode")
        self.usage_type = get("lineItem/UsageType")
        self.amount = get("lineItem/UsageAmount")
        self.cost = get("lineItem/UnblendedCost")
        self.currency = get("lineItem/CurrencyCode")
        self.account = get("lineItem/UsageAccountId")
        self.bill_type = get("bill/BillType")
        self.unit = get("pricing/unit")
        self.region = get("product/region", "product/regionCode", "product_region_code")
        self.gpus = get("product/gpu")
        self.ri_effective = get("reservation/EffectiveCost")
        self.ri_arn = get("reservation/ReservationARN")
        self.ri_unused_upfront = get(
            "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod",
            "reservation_unused_amortized_upfront_fee",
        )
        self.ri_unused_fee = get("reservation/UnusedRecurringFee")
        self.sp_arn = get("savingsPlan/SavingsPlanARN")
        self.sp_effective = get("savingsPlan/SavingsPlanEffectiveCost")
        self.sp_total = get("savingsPlan/TotalCommitmentToDate")
        self.sp_used = get("savingsPlan/UsedCommitment")
        self.sp_end = get("savingsPlan/EndTime")
        self.ri_end = get("reservation/EndTime")
        self.amounts = (self.cost, self.amount, self.ri_effective, self.sp_effective)
        self.tag_map = get("resource_tags")
        self.tags: list[tuple[str, Callable[[Sequence[str]], str]]] = [
            (tag, get(f"resourceTags/user:{tag}", f"resource_tags_user_{tag}")) for tag in tags
        ]


class _Reader:
    """Reads the rows of one file; what repeats is worked out once."""

    def __init__(self, table: Table, ledger: Ledger, options: ReadOptions) -> None:
        self._row = _Row(table.columns(), options.projects.tags)
        self._ledger, self._options = ledger, options
        self._moments = Moments()
        self._kinds: dict[tuple[str, str, str], _Kind] = {}

    def read(self, row: Sequence[str], number: int) -> None:
        columns, ledger = self._row, self._ledger
        line = columns.line(row)
        if line and (again := self._repetition(row, line)) is not None:
            ledger.restate(f"row {number}") if again is Reason.RESTATED else ledger.account(again)
            return
        line_type = columns.type(row)
        start = self._moments(columns.start(row), "lineItem/UsageStartDate")
        billed = money(columns.cost(row), "lineItem/UnblendedCost")
        amortised, currency = self._amortised(row, line_type, billed), columns.currency(row)
        charge = (start.month, "aws", line_type, columns.product(row), "", currency, start.month)
        sums_of_charge = ledger.charge(charge, billed, amortised)
        usage = quantity(columns.amount(row), "lineItem/UsageAmount")
        sums_of_charge.quantity += usage
        end = self._moments(columns.end(row) or columns.start(row), "lineItem/UsageEndDate")
        check_period(start, end, "lineItem/UsageEndDate")
        kind = self._kind(line_type, columns.usage_type(row), columns.gpus(row))
        reason = Reason.REFUND if columns.bill_type(row) == "Refund" else kind.reason
        per_unit = self._hours_per_unit(row) if reason is Reason.ACCELERATOR_USE else 0.0
        if kind.problem and reason is Reason.ACCELERATOR_USE:
            reason = Reason.NOT_UNDERSTOOD
        if reason is Reason.ACCELERATOR_USE:
            hours = usage * per_unit
            key = self._key(row, start.month, kind, currency)
            # A negation, which names no resource and no tag, takes the list price of covered use
            # back: nothing of it is billed.
            paid = _ZERO if line_type == "SavingsPlanCoveredUsage" else billed
            ledger.use(key, hours, hours * kind.accelerators, paid, amortised)
            self._add_peak(start.seconds, end.seconds, hours * kind.accelerators, kind)
        elif reason is Reason.UNUSED_RESERVATION and kind.accelerators:
            unused = (start.month, kind.machine, reason.value)
            ledger.add_unused(unused, usage * kind.accelerators, amortised, currency)
        sums = self._add_commitment(row, reason, billed, amortised, currency)
        if sums is not None:
            period_hours = (end.seconds - start.seconds) / 3600
            self._add_cover(row, sums, reason, kind, billed, usage * per_unit, period_hours)
        if reason is Reason.COMMITMENT_FEE and amortised and sums is not None:
            what = "savings plans" if columns.sp_arn(row) else kind.machine
            unused = (start.month, what, Reason.UNUSED_COMMITMENT.value)
            ledger.add_unused(unused, None, amortised, currency)
        if reason is Reason.NOT_UNDERSTOOD:
            ledger.misread(f"row {number}", f"lineItem/UsageType: {kind.problem}", is_of_bill=True)
        else:
            ledger.account(reason)

    def _repetition(self, row: Sequence[str], line: str) -> Reason | None:
        """Whether the line was read before, and with these amounts, however they are written."""
        texts = [get(row) for get in self._row.amounts]
        amounts: tuple[float | str, ...]
        try:
            amounts = tuple([float(text) if text else 0.0 for text in texts])
        except ValueError:
            amounts = tuple(texts)
        return self._ledger.repetition((line, self._row.interval(row)), amounts)

    def _hours_per_unit(self, row: Sequence[str]) -> float:
        unit = self._row.unit(row).lower()
        if not unit or unit.startswith("h"):
            return 1.0
        if unit.startswith("sec"):
            return 1 / 3600
        raise InvalidInput("pricing/unit", f"{unit[:40]!r} is no unit of time")

    def _key(self, row: Sequence[str], month: str, kind: _Kind, currency: str) -> UseKey:
        columns = self._row
        account = columns.account(row)
        tags = {tag: value for tag, get in columns.tags if (value := get(row))}
        if not tags and (written := columns.tag_map(row)):
            tags = self._options.projects.pick(parse_tags(written))
        project = self._options.projects.choose(tags, account)
        region = columns.region(row) or kind.region
        return UseKey(
            month,
            "aws",
            region,
            kind.machine,
            kind.accelerator,
            kind.option,
            project,
            account,
            "",
            "",
            currency,
        )

    def _add_peak(
        self, start_s: float, end_s: float, accelerator_hours: float, kind: _Kind
    ) -> None:
        if accelerator_hours > 0 and end_s > start_s:
            mean = accelerator_hours * 3600 / (end_s - start_s)
            self._ledger.hourly.add(kind.accelerator or kind.machine, start_s, end_s, mean)

    def _amortised(self, row: Sequence[str], line_type: str, billed: Decimal) -> Decimal:
        """What the line used up: https://docs.aws.amazon.com/cur/latest/userguide (amortised)."""
        columns = self._row
        if line_type == "SavingsPlanCoveredUsage":
            return money(columns.sp_effective(row), "savingsPlan/SavingsPlanEffectiveCost")
        if line_type == "DiscountedUsage":
            return money(columns.ri_effective(row), "reservation/EffectiveCost")
        if line_type == "SavingsPlanRecurringFee":
            total = money(columns.sp_total(row), "savingsPlan/TotalCommitmentToDate")
            return total - money(columns.sp_used(row), "savingsPlan/UsedCommitment")
        if line_type == "RIFee":
            upfront = money(columns.ri_unused_upfront(row), "reservation/UnusedAmortizedUpfrontFee")
            return upfront + money(columns.ri_unused_fee(row), "reservation/UnusedRecurringFee")
        if line_type in ("SavingsPlanNegation", "SavingsPlanUpfrontFee"):
            return _ZERO
        if line_type == "Fee" and columns.ri_arn(row):
            return _ZERO
        return billed

    def _add_commitment(
        self, row: Sequence[str], reason: Reason, billed: Decimal, amortised: Decimal, currency: str
    ) -> CommitmentSums | None:
        columns = self._row
        savings_plan = columns.sp_arn(row)
        identifier = savings_plan or columns.ri_arn(row)
        if not identifier or reason is Reason.NEGATION:
            return None
        kind = "savings_plan" if savings_plan else "reserved"
        sums = self._ledger.commitment(clip(identifier, 200), "aws", kind, currency)
        if reason is Reason.COMMITMENT_FEE:
            sums.billed += billed
            sums.amortised_unused += amortised
        else:
            sums.amortised_used += amortised
        return sums

    def _add_cover(
        self,
        row: Sequence[str],
        sums: CommitmentSums,
        reason: Reason,
        kind: _Kind,
        billed: Decimal,
        machine_hours: float,
        period_hours: float,
    ) -> None:
        """What a recurring fee is for, and the machines that a commitment covers."""
        columns = self._row
        if ends := columns.sp_end(row) or columns.ri_end(row):
            sums.set_end(ends)
        if columns.type(row) == "SavingsPlanRecurringFee":
            sums.add_fee(period_hours, billed)
        elif columns.type(row) == "RIFee":
            committed = quantity(columns.amount(row), "lineItem/UsageAmount")
            sums.add_fee(period_hours, billed, committed)
        elif reason is Reason.ACCELERATOR_USE:
            place = columns.region(row) or kind.region
            covered = CoveredMachine(kind.machine, kind.accelerator, kind.accelerators, place)
            sums.used[covered] += machine_hours

    def _kind(self, line_type: str, usage_type: str, gpus: str) -> _Kind:
        key = (line_type, usage_type, gpus)
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= _MAX_KINDS:
                self._kinds.clear()
            kind = self._kinds[key] = _classify(line_type, usage_type, gpus)
        return kind


def _classify(line_type: str, usage_type: str, gpus: str) -> _Kind:
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
    return _Kind(
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


def read(table: Table, ledger: Ledger, options: ReadOptions) -> None:
    reader = _Reader(table, ledger, options)
    is_repeated: IsRepeated | None = None
    if table.columns().find("identity/LineItemId") is None:
        ledger.note("The file has no identity/LineItemId: its own rows that repeat count again.")
        is_repeated = ledger.overlaps.rows_of(table.header)
    for number, row in enumerate(table.rows, table.first_row):
        if is_repeated is not None and is_repeated(row, number):
            ledger.account(Reason.DUPLICATE)
            continue
        try:
            reader.read(row, number)
        except InvalidInput as refusal:
            ledger.misread(f"row {number}", str(refusal), is_of_bill=True)


FORMAT = TableFormat(
    name="aws_cur",
    title="AWS Cost and Usage Report",
    required=("lineItem/LineItemType", "lineItem/UsageType", "lineItem/UnblendedCost"),
    read=read,
)
