"""Bills: what every form of them says of a row, and how rows add up. PURE.

A form is a table of columns with two functions: what rows of a kind have in common, worked out
once for all rows that share those cells, and the money of a row. Usage sums the lines in a ledger,
actuals by month and category.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from operator import itemgetter
from typing import ClassVar

from planner.usage.ledger import MAX_AT_ONCE, ChargeKey, ChargeSums, Ledger, Reason, UseKey, UseSums
from planner.usage.projects import ProjectRules
from planner.usage.tables import (
    Columns,
    Moment,
    Moments,
    Table,
    column_names,
    quantity,
    to_point,
    without_thousands,
)
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import PurchaseOption

MAX_KINDS = 50_000
"""Most kinds of rows that are remembered at once."""
ZERO = Decimal(0)
_COMMITTED = {option.value for option in PurchaseOption if option.is_commitment}
_IS_USE = (Reason.ACCELERATOR_USE, Reason.ACCELERATOR_HOST)
_IS_UNUSED = (Reason.UNUSED_COMMITMENT, Reason.UNUSED_RESERVATION)
Row = Sequence[str]
Cells = Mapping[str, str]


@dataclass(slots=True)
class Kind:
    """What rows of a bill that differ in time and amounts alone have in common."""

    provider: str
    charge: str
    """The provider's own word for it, such as Usage or SavingsPlanNegation."""
    currency: str
    service: str = ""
    pricing: str = ""
    reason: Reason = Reason.NOT_A_MACHINE
    category: str = ""
    """Where actuals book it, if the bill says it."""
    machine: str = ""
    accelerator: str = ""
    accelerators: float | None = 0.0
    """In the machine; None where nobody knows; 1 where they are sold apart from it."""
    machines_per_accelerator: float | None = None
    """Of accelerators that are sold apart; None where their machine is not known."""
    is_apart: bool = False
    option: str = ""
    region: str = ""
    account: str = ""
    project: str = ""
    hours_per_unit: float = 0.0
    commitment: str = ""
    commitment_kind: str = ""
    bought_per_unit: float | None = None
    """Machine-hours that a unit buys, used or not; None where the bill says those used alone."""
    takes_back: bool = True
    """Whether its quantity may be less than 0."""
    problem: InvalidInput | None = None
    charges: dict[tuple[str, str], ChargeSums] = field(default_factory=dict)
    uses: dict[str, UseSums] = field(default_factory=dict)

    @property
    def is_unknown_machine(self) -> bool:
        return self.reason is Reason.ACCELERATOR_USE and self.accelerators is None

    def book_as(self) -> str:
        if self.category:
            return self.category
        if self.reason in _IS_USE:
            return "commitment" if self.option in _COMMITTED else "compute"
        if self.reason in (Reason.COMMITMENT_FEE, Reason.UNUSED_COMMITMENT):
            return "commitment"
        return "tax" if self.reason is Reason.TAX else "other"


class Line:
    billed: Decimal | None = None
    amortised: Decimal | None = None
    paid: Decimal | None = None
    """Of what is billed the part of use that nothing takes back, where that is another."""
    list_cost: Decimal | None = None
    credits: Decimal = ZERO
    invoice_month: str = ""
    quantity: float = 0.0
    machine_hours: float = 0.0
    bought_hours: float | None = None
    """Machine-hours that are paid for, where the bill tells them from those used."""
    resource: str = ""
    view: str = ""
    """Actual or amortised, where an export holds one of them."""
    problem: InvalidInput | None = None

    def __init__(self, kind: Kind, start: Moment) -> None:
        self.kind = kind
        self.start = self.end = start

    @property
    def accelerator_hours(self) -> float:
        return self.machine_hours * (self.kind.accelerators or 0.0)

    @property
    def most_at_once(self) -> float:
        """Most accelerators that it can hold at once: where it names one machine of AWS, those of
        the machine, and half as many for starts that are billed by the minute."""
        if self.resource.startswith("i-"):
            return 1.5 * (self.kind.accelerators or 1.0)
        return MAX_AT_ONCE


class Bill(ABC):
    """A bill of one form, row by row; `columns.csv` says which columns it has."""

    name: ClassVar[str]
    title: ClassVar[str]
    required: ClassVar[tuple[str, ...]]
    """Columns by which the form is told, as `columns.csv` calls them."""
    states_unused_in_fees = False
    """Whether the amortised cost of a fee is the unused part of its commitment."""

    def __init__(self, table: Table, projects: ProjectRules) -> None:
        columns = table.columns()
        self.header = table.header
        self.projects = projects
        self.notes: list[str] = []
        self.moments = Moments()
        self.number: Callable[[str], str] = to_point if table.decimal_comma else without_thousands
        self.columns = column_names(self.name, "row")
        self.get = {name: columns.getter(*names) for name, names in self.columns.items()}
        shared = column_names(self.name, "kind") | self.tag_columns()
        places = {name: columns.find(*names) for name, names in shared.items()}
        self._shared_names = [name for name, place in places.items() if place is not None]
        self._pick = itemgetter(*(place for place in places.values() if place is not None))
        self._absent = {name: "" for name, place in places.items() if place is None}
        self._kinds: dict[object, Kind] = {}
        self.rows: Iterable[Row] = table.rows
        self._first_row = table.first_row

    @classmethod
    def matches(cls, columns: Columns) -> bool:
        """Whether a table has the columns by which the form is told."""
        names = column_names(cls.name, "row") | column_names(cls.name, "kind")
        return all(columns.find(*names[column]) is not None for column in cls.required)

    def tag_columns(self) -> dict[str, tuple[str, ...]]:
        """Columns of the tags that the rules of projects read, where tags have columns."""
        return {}

    def repeats(self, ledger: Ledger) -> Callable[[Row, int], Reason | None]:
        """What tells whether a row was read before, in an earlier file."""
        is_repeated = ledger.overlaps.rows_of(self.header)
        return lambda row, number: Reason.DUPLICATE if is_repeated(row, number) else None

    def lines(
        self, repeats: Callable[[Row, int], Reason | None]
    ) -> Iterator[tuple[int, Line | InvalidInput | Reason]]:
        for number, row in enumerate(self.rows, self._first_row):
            try:
                yield number, repeats(row, number) or self._read(row)
            except InvalidInput as refusal:
                yield number, refusal

    def _read(self, row: Row) -> Line | Reason:
        mark = self._pick(row)
        kind = self._kinds.get(mark)
        if kind is None:
            if len(self._kinds) >= MAX_KINDS:
                self._kinds.clear()
            values = (mark,) if isinstance(mark, str) else mark
            cells = self._absent | dict(zip(self._shared_names, values, strict=True))
            kind = self._kinds[mark] = self.charge(cells)
            try:
                self.classify(cells, kind)
            except InvalidInput as refusal:
                kind.problem = refusal
        line = Line(kind, self.moments(self.get["start"](row), self.columns["start"][0]))
        self.money(row, line)
        try:
            self.amounts(row, line)
            if line.kind.problem is not None:
                raise line.kind.problem
        except InvalidInput as refusal:
            line.problem = refusal
        return line

    @abstractmethod
    def charge(self, cells: Cells) -> Kind:
        """What rows of these cells charge."""

    @abstractmethod
    def classify(self, cells: Cells, kind: Kind) -> None:
        """What they are use of; refused where that is not understood."""

    @abstractmethod
    def money(self, row: Row, line: Line) -> None:
        """Billed and amortised cost of a row."""

    def amounts(self, row: Row, line: Line) -> None:
        """Quantity, period and hours of a row."""
        get, kind = self.get, line.kind
        line.quantity = quantity(self.number(get["quantity"](row)), self.columns["quantity"][0])
        if ends := get["end"](row):
            line.end = self.moments(ends, self.columns["end"][0])
            if line.end.seconds < line.start.seconds:
                problem = "is before the start of the row's period"
                raise InvalidInput(self.columns["end"][0], problem)
        line.machine_hours = line.quantity * kind.hours_per_unit
        if line.quantity < 0 and not kind.takes_back and kind.reason is Reason.ACCELERATOR_USE:
            problem = "is less than 0; less is taken back by a row with ChargeClass Correction"
            raise InvalidInput(self.columns["quantity"][0], problem)


def sum_bill(bill: Bill, ledger: Ledger) -> None:
    for note in bill.notes:
        ledger.note(note)
    for number, line in bill.lines(bill.repeats(ledger)):
        if isinstance(line, Line):
            _add_line(line, number, ledger, bill.states_unused_in_fees)
        elif line is Reason.RESTATED:
            ledger.restate(f"row {number}")
        elif isinstance(line, Reason):
            ledger.account(line)
        else:
            ledger.misread(f"row {number}", str(line), is_of_bill=True)


def _add_line(line: Line, number: int, ledger: Ledger, states_unused_in_fees: bool) -> None:
    kind, month = line.kind, line.start.month
    if line.view:
        ledger.set_view(line.view)
    invoice_month = line.invoice_month or month
    charges = kind.charges.get((invoice_month, month))
    if charges is None:
        parts = (kind.provider, kind.charge, kind.service, kind.pricing, kind.currency)
        charges = ledger.charge_sums(ChargeKey(invoice_month, *parts, month))
        kind.charges[invoice_month, month] = charges
    ledger.add_charge(charges, line.billed, line.amortised, line.list_cost)
    charges.quantity += line.quantity
    charges.credits += line.credits
    problem = str(line.problem) if line.problem else ""
    if not problem:
        if kind.reason in _IS_USE and kind.accelerators is not None:
            _use(line, ledger)
        elif kind.reason in _IS_UNUSED:
            _add_unused(line, ledger)
        if kind.commitment and kind.reason is not Reason.NEGATION:
            _add_commitment(line, ledger, states_unused_in_fees)
        if kind.is_unknown_machine:
            problem = f"the accelerators of {kind.machine!r} are not known; its hours are in no sum"
    if problem:
        ledger.misread(f"row {number}", problem, is_of_bill=True)
    else:
        ledger.account(kind.reason)


def _use(line: Line, ledger: Ledger) -> None:
    kind, month = line.kind, line.start.month
    sums = kind.uses.get(month)
    if sums is None:
        key = UseKey(
            *(month, kind.provider, kind.region, kind.machine, kind.accelerator, kind.option),
            *(kind.project, kind.account),
            currency=kind.currency,
        )
        sums = kind.uses[month] = ledger.use_sums(key)
    hours = line.accelerator_hours
    machine_hours: float | None = line.machine_hours
    if kind.is_apart:
        share = kind.machines_per_accelerator
        machine_hours = None if share is None else line.machine_hours * share
    sums.add(machine_hours, hours, line.billed if line.paid is None else line.paid, line.amortised)
    seconds = line.end.seconds - line.start.seconds
    if hours > 0 and seconds > 0:
        label = kind.accelerator or kind.machine
        mean = hours * 3600 / seconds
        span = (line.start.seconds, line.end.seconds)
        ledger.hold(label, *span, mean, kind.project or kind.account, line.most_at_once)


def _add_unused(line: Line, ledger: Ledger) -> None:
    """Hours where accelerators are known, the cost alone of a commitment on no machine that is
    named, and nothing of machines without accelerators."""
    kind, hours = line.kind, None
    machine = kind.machine
    if kind.accelerators:
        hours = line.accelerator_hours
    elif kind.reason is not Reason.UNUSED_COMMITMENT or (machine and kind.accelerators == 0):
        return
    elif not machine:
        is_plan = kind.option == PurchaseOption.SAVINGS_PLAN
        machine = "savings plans" if is_plan else "commitments"
    key = (line.start.month, machine, kind.reason.value)
    ledger.add_unused(key, hours, line.amortised, kind.currency)


def _add_commitment(line: Line, ledger: Ledger, states_unused_in_fees: bool) -> None:
    kind = line.kind
    sums = ledger.commitment(kind.commitment, kind.provider, kind.commitment_kind, kind.currency)
    is_fee = kind.reason is Reason.COMMITMENT_FEE
    is_unused = kind.reason is Reason.UNUSED_COMMITMENT
    if is_fee or line.billed is None:
        sums.billed.add(line.billed)
    if is_unused or (is_fee and states_unused_in_fees):
        sums.amortised_unused.add(line.amortised)
    elif not is_fee:
        sums.amortised_used.add(line.amortised)
        if line.amortised is None:
            sums.amortised_unused.add(None)
    if is_fee and states_unused_in_fees and line.amortised:
        is_plan = kind.commitment_kind == PurchaseOption.SAVINGS_PLAN
        what = "savings plans" if is_plan else kind.machine
        unused = (line.start.month, what, Reason.UNUSED_COMMITMENT.value)
        ledger.add_unused(unused, None, line.amortised, kind.currency)
