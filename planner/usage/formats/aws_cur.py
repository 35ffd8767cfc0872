"""AWS Cost and Usage Report 1 and 2, and what Athena makes of it. PURE.

Billed is `UnblendedCost`, amortised what the month used up of commitments. What a line counts
follows its `LineItemType`; hours are those of machines in use alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from planner.usage.cells import Moment, Moments, check_period, clip, money, quantity
from planner.usage.commitments import CommitmentSums, CoveredMachine
from planner.usage.formats.aws_lines import LikeLines, LineAmounts, LineColumns, UsageKind, classify
from planner.usage.formats.base import ReadOptions, TableFormat, most_at_once
from planner.usage.ledger import Ledger, Reason, UseKey
from planner.usage.overlaps import IsRepeated
from planner.usage.projects import parse_tags
from planner.usage.sums import ChargeSums
from planner.usage.tables import Table
from pricing.common.invalid_input import InvalidInput

_ZERO = Decimal(0)
_MAX_LIKES, _MAX_AMOUNTS = 50_000, 20_000


class _Reader:
    """Reads the rows of one file; what repeats is worked out once."""

    def __init__(self, table: Table, ledger: Ledger, options: ReadOptions) -> None:
        self._row = LineColumns(table.columns(), options.projects.tags)
        self._ledger, self._options = ledger, options
        self._moments = Moments()
        self._amounts: dict[tuple[str, ...], LineAmounts] = {}
        self._likes: dict[tuple[str, tuple[str, ...]], LikeLines] = {}

    def read(self, row: Sequence[str], number: int) -> None:
        columns, ledger = self._row, self._ledger
        line = columns.line(row)
        amounts = self._read_amounts(row)
        if line and (again := self._repetition(row, line, amounts)) is not None:
            ledger.restate(f"row {number}") if again is Reason.RESTATED else ledger.account(again)
            return
        start = self._moments(columns.start(row), "lineItem/UsageStartDate")
        billed = amounts.billed
        if billed is None:
            billed = amounts.billed = money(columns.cost(row), "lineItem/UnblendedCost")
        like = self._like(row, start.month)
        amortised = self._amortised(row, like.type, billed)
        charge = like.charge or self._charge_sums(row, like, start.month)
        ledger.add_charge(charge, billed, amortised)
        usage = amounts.usage
        if usage is None:
            usage = amounts.usage = quantity(columns.amount(row), "lineItem/UsageAmount")
        charge.quantity += usage
        end = self._moments(columns.end(row) or columns.start(row), "lineItem/UsageEndDate")
        check_period(start, end, "lineItem/UsageEndDate")
        if like.problem is not None:
            raise InvalidInput(*like.problem)
        reason = like.reason
        hours = usage * like.hours_per_unit
        if reason is Reason.ACCELERATOR_USE:
            self._add_use(row, like, hours, (start, end), billed, amortised)
        elif reason is Reason.UNUSED_RESERVATION and like.kind.accelerators:
            unused = (start.month, like.kind.machine, reason.value)
            ledger.add_unused(unused, usage * like.kind.accelerators, amortised, like.currency)
        if like.is_of_commitment and reason is not Reason.NEGATION:
            self._add_commitment(row, like, billed, amortised, hours, (start, end))
        if reason is Reason.NOT_UNDERSTOOD:
            problem = f"lineItem/UsageType: {like.kind.problem}"
            ledger.misread(f"row {number}", problem, is_of_bill=True)
        else:
            ledger.account(reason)

    def _charge_sums(self, row: Sequence[str], like: LikeLines, month: str) -> ChargeSums:
        product = self._row.product(row)
        key = (month, "aws", like.type, product, "", like.currency, month)
        like.charge = self._ledger.charge_sums(key)
        return like.charge

    def _add_use(
        self,
        row: Sequence[str],
        like: LikeLines,
        hours: float,
        period: tuple[Moment, Moment],
        billed: Decimal,
        amortised: Decimal,
    ) -> None:
        start, end = period
        kind = like.kind
        if like.use is None:
            like.use = self._ledger.use_sums(self._key(row, start.month, kind, like.currency))
        accelerator_hours = hours * kind.accelerators
        # A negation, which names no resource and no tag, takes the list price of covered use
        # back: nothing of it is billed.
        paid = _ZERO if like.type == "SavingsPlanCoveredUsage" else billed
        like.use.add(hours, accelerator_hours, paid, amortised)
        if accelerator_hours > 0 and end.seconds > start.seconds:
            mean = accelerator_hours * 3600 / (end.seconds - start.seconds)
            label = kind.accelerator or kind.machine
            most = most_at_once(self._row.resource(row), kind.accelerators)
            self._ledger.hold(label, start.seconds, end.seconds, mean, most)

    def _like(self, row: Sequence[str], month: str) -> LikeLines:
        mark = (month, self._row.shared(row))
        like = self._likes.get(mark)
        if like is None:
            if len(self._likes) >= _MAX_LIKES:
                self._likes.clear()
            like = self._likes[mark] = self._new_like(row)
        return like

    def _new_like(self, row: Sequence[str]) -> LikeLines:
        columns = self._row
        like = LikeLines(columns.type(row), columns.currency(row))
        like.is_of_commitment = bool(columns.sp_arn(row) or columns.ri_arn(row))
        try:
            kind = like.kind = classify(like.type, columns.usage_type(row), columns.gpus(row))
            is_refund = columns.bill_type(row) == "Refund"
            like.reason = Reason.REFUND if is_refund else kind.reason
            if like.reason is Reason.ACCELERATOR_USE:
                like.hours_per_unit = self._hours_per_unit(row)
                like.reason = Reason.NOT_UNDERSTOOD if kind.problem else like.reason
        except InvalidInput as refusal:
            like.problem = (refusal.field, refusal.message)
        return like

    def _read_amounts(self, row: Sequence[str]) -> LineAmounts:
        columns = self._row
        texts = (
            columns.cost(row),
            columns.amount(row),
            columns.ri_effective(row),
            columns.sp_effective(row),
        )
        amounts = self._amounts.get(texts)
        if amounts is None:
            if len(self._amounts) >= _MAX_AMOUNTS:
                self._amounts.clear()
            amounts = self._amounts[texts] = LineAmounts(texts)
        return amounts

    def _repetition(self, row: Sequence[str], line: str, amounts: LineAmounts) -> Reason | None:
        """Whether the line was read before, and with these amounts, however they are written."""
        return self._ledger.repetition((line, self._row.interval(row)), amounts.values)

    def _hours_per_unit(self, row: Sequence[str]) -> float:
        unit = self._row.unit(row).lower()
        if not unit or unit.startswith("h"):
            return 1.0
        if unit.startswith("sec"):
            return 1 / 3600
        raise InvalidInput("pricing/unit", f"{unit[:40]!r} is no unit of time")

    def _key(self, row: Sequence[str], month: str, kind: UsageKind, currency: str) -> UseKey:
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
        self,
        row: Sequence[str],
        like: LikeLines,
        billed: Decimal,
        amortised: Decimal,
        machine_hours: float,
        period: tuple[Moment, Moment],
    ) -> None:
        columns = self._row
        savings_plan = columns.sp_arn(row)
        identifier = savings_plan or columns.ri_arn(row)
        kind = "savings_plan" if savings_plan else "reserved"
        sums = self._ledger.commitment(clip(identifier, 200), "aws", kind, like.currency)
        start, end = period
        if like.reason is Reason.COMMITMENT_FEE:
            sums.billed.add(billed)
            sums.amortised_unused.add(amortised)
            if amortised:
                what = "savings plans" if savings_plan else like.kind.machine
                unused = (start.month, what, Reason.UNUSED_COMMITMENT.value)
                self._ledger.add_unused(unused, None, amortised, like.currency)
        else:
            sums.amortised_used.add(amortised)
        period_hours = (end.seconds - start.seconds) / 3600
        self._add_cover(row, sums, like, billed, machine_hours, period_hours)

    def _add_cover(
        self,
        row: Sequence[str],
        sums: CommitmentSums,
        like: LikeLines,
        billed: Decimal,
        machine_hours: float,
        period_hours: float,
    ) -> None:
        """What a recurring fee is for, and the machines that a commitment covers."""
        columns = self._row
        if ends := columns.sp_end(row) or columns.ri_end(row):
            sums.set_end(ends)
        if like.type == "SavingsPlanRecurringFee":
            sums.add_fee(period_hours, billed)
        elif like.type == "RIFee":
            committed = quantity(columns.amount(row), "lineItem/UsageAmount")
            sums.add_fee(period_hours, billed, committed)
        elif like.reason is Reason.ACCELERATOR_USE:
            kind = like.kind
            place = columns.region(row) or kind.region
            covered = CoveredMachine(kind.machine, kind.accelerator, kind.accelerators, place)
            sums.used[covered] += machine_hours


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
