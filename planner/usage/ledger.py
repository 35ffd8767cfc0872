"""What files of usage add up to, and what became of each of their rows. PURE.

Every row of a file is accounted once, by a `Reason`. Rows that are use of accelerators add hours
and money to a `UseKey`; every row of a bill, use or not, adds its money to a `ChargeKey`, so that
the sum of a bill is the provider's. Money is billed (what invoices say) or amortised (what the
month used up); the two are sums of their own and never added to each other. A figure that a file
does not state is unknown, never 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from planner.usage.commitments import CommitmentSums
from planner.usage.hourly_use import HourlyUse
from planner.usage.overlaps import Overlaps
from planner.usage.sums import (
    ChargeSums,
    DoubtfulRows,
    MoneySum,
    Monitored,
    UnusedSums,
    UseSums,
    Waiting,
)

MAX_GROUPS = 200_000
"""Most different things that files may name before they have to be split."""
ROWS_OF_A_STEP = 4_095
"""Mask: every 4,096 rows whoever reads may learn how far it is, or stop."""
MAX_NAMED_ROWS = 20
"""Most rows that are named one by one."""
MAX_PROBLEMS, OTHER_PROBLEMS = 100, "another problem"
"""Most problems that are told apart."""
MAX_AT_ONCE = 100_000
"""Most accelerators of one row at once that are believed: the largest clusters of 2026 have some
200,000, over many rows."""
_CHECKS = tuple(range(1 << 16))
"""Checks of what a row states, shared by all rows so that they take no memory of their own."""
_ZERO = Decimal(0)


class UnusableFile(Exception):  # noqa: N818 - it is refused, not broken
    """Why a whole file is refused while its rows are read; no row of it is to blame."""


class Reason(StrEnum):
    """What became of a row."""

    ACCELERATOR_USE = "accelerator_use"
    ACCELERATOR_HOST = "accelerator_host"
    OTHER_MACHINE = "other_machine"
    NOT_A_MACHINE = "not_a_machine"
    COMMITMENT_FEE = "commitment_fee"
    UNUSED_COMMITMENT = "unused_commitment"
    UNUSED_RESERVATION = "unused_reservation"
    CAPACITY_RESERVATION = "capacity_reservation"
    NEGATION = "negation"
    TAX = "tax"
    CREDIT = "credit"
    REFUND = "refund"
    DISCOUNT = "discount"
    DUPLICATE = "duplicate"
    RESTATED = "restated"
    JOB_STEP = "job_step"
    NEVER_RAN = "never_ran"
    NO_ACCELERATOR = "no_accelerator"
    IDLE = "idle"
    UNKNOWN_SAMPLE = "unknown_sample"
    NOT_UNDERSTOOD = "not_understood"


REASONS = {
    Reason.ACCELERATOR_USE: "use of accelerators: hours and money count",
    Reason.ACCELERATOR_HOST: "processor or memory of an accelerator machine: money counts",
    Reason.OTHER_MACHINE: "a machine without accelerators",
    Reason.NOT_A_MACHINE: "storage, network or another service",
    Reason.COMMITMENT_FEE: "price of a commitment: billed, its hours are no use",
    Reason.UNUSED_COMMITMENT: "unused part of a commitment: amortised, no use",
    Reason.UNUSED_RESERVATION: "reserved capacity that stood idle: counted apart",
    Reason.CAPACITY_RESERVATION: "a capacity reservation beside the machine that used it",
    Reason.NEGATION: "takes back the list price of covered use: money counts, hours do not",
    Reason.TAX: "tax",
    Reason.CREDIT: "credit",
    Reason.REFUND: "refund",
    Reason.DISCOUNT: "discount of a contract",
    Reason.DUPLICATE: "the same row again: counted once",
    Reason.RESTATED: "another version of a row that was read before, which counts",
    Reason.JOB_STEP: "step of a job whose allocation is counted",
    Reason.NEVER_RAN: "a job that never ran",
    Reason.NO_ACCELERATOR: "a job or cluster without accelerators",
    Reason.IDLE: "idle accelerators: counted apart",
    Reason.UNKNOWN_SAMPLE: "a sample that states no value: unknown, not 0",
    Reason.NOT_UNDERSTOOD: "not understood: named below, in no sum of hours",
}
"""What each reason means to a reader."""


class UseKey(NamedTuple):
    """What hours are summed by. An empty text is what the file does not say."""

    month: str
    provider: str
    region: str
    """Region of a cloud, partition or cluster of a machine room."""
    machine: str
    accelerator: str
    """Slug where the name is known, else as the file writes it; empty where it names none."""
    option: str
    project: str
    account: str
    user: str
    state: str
    """How a job ended; empty for a bill."""
    currency: str


class ChargeKey(NamedTuple):
    """What money is summed by, for every row of a bill."""

    month: str
    provider: str
    charge: str
    """The provider's own word for the kind of row, such as Usage or SavingsPlanNegation."""
    service: str
    pricing: str
    currency: str
    usage_month: str
    """Month of the use; another than that of the invoice where the provider tells them apart."""


class Ledger:
    """The sums of one or more files, filled row by row."""

    def __init__(self, on_rows: Callable[[int], None] | None = None) -> None:
        self._on_rows = on_rows
        """Called now and then with the rows so far; what it raises ends the reading."""
        self.rows = 0
        self.reasons: Counter[Reason] = Counter()
        self.not_understood: list[str] = []
        self.problems: Counter[str] = Counter()
        """Why rows are not understood, with their number."""
        self.uncharged = 0
        """Rows of bills that are not understood and whose money is in no sum either."""
        self._charged_row = -1
        """The last row whose money is in the sums, counted from 0."""
        self.uses: dict[UseKey, UseSums] = {}
        self.charges: dict[ChargeKey, ChargeSums] = {}
        self.commitments: dict[str, CommitmentSums] = {}
        self.hourly = HourlyUse()
        self.waiting = Waiting()
        self.unused: dict[tuple[str, str, str], UnusedSums] = defaultdict(UnusedSums)
        """What was paid for and not used, by month, machine and reason."""
        self.monitored: dict[str, Monitored] = {}
        """What monitors saw of allocated accelerators, by month."""
        self.notes: dict[str, None] = {}
        """What a reader has to know about the sums, each once."""
        self.seen: dict[int, int] = {}
        """Hashes of rows that count once → check of what the row states."""
        self.first_restated = ""
        self.doubtful = DoubtfulRows()
        self.running: dict[tuple[str, ...], float] = {}
        """Seconds of jobs that still ran when their log was written, by identity."""
        self.views: set[str] = set()
        """Views of money in exports that hold one of them: actual, amortised."""
        self.overlaps = Overlaps()

    def repeat(self, rows: int) -> None:
        """Rows of a file that was read before."""
        self.rows += rows
        self.reasons[Reason.DUPLICATE] += rows

    def account(self, reason: Reason) -> None:
        """A row more, and what became of it."""
        self.rows += 1
        self.reasons[reason] += 1
        if not self.rows & ROWS_OF_A_STEP and self._on_rows is not None:
            self._on_rows(self.rows)

    def misread(self, row: str, problem: str, is_of_bill: bool = False) -> None:
        """A row that is not understood; the first ones are named."""
        if is_of_bill and self._charged_row != self.rows:
            self.uncharged += 1
        is_counted = problem in self.problems or len(self.problems) < MAX_PROBLEMS
        self.problems[problem if is_counted else OTHER_PROBLEMS] += 1
        self.account(Reason.NOT_UNDERSTOOD)
        if len(self.not_understood) < MAX_NAMED_ROWS:
            self.not_understood.append(f"{row}: {problem}")

    def is_repeated(self, identity: tuple[str, ...]) -> bool:
        """Whether a row of this identity was read before; remembers it."""
        return self.repetition(identity, ()) is not None

    def repetition(self, identity: tuple[str, ...], amounts: tuple[object, ...]) -> Reason | None:
        """What a row of this identity is where one was read before: the same, or another version
        with other amounts; remembers it."""
        mark, check = hash(identity), _CHECKS[hash(amounts) % len(_CHECKS)]
        before = self.seen.get(mark)
        if before is not None:
            return Reason.DUPLICATE if before == check else Reason.RESTATED
        if len(self.seen) >= MAX_IDENTITIES:
            problem = f"more than {MAX_IDENTITIES:,} rows; read it in parts, such as months"
            raise UnusableFile(problem)
        self.seen[mark] = check
        return None

    def restate(self, row: str) -> None:
        """A row that is another version of one that was read before; the first is named."""
        self.first_restated = self.first_restated or f"{row} of {self.overlaps.file}"
        self.account(Reason.RESTATED)

    def hold(
        self,
        accelerator: str,
        start_s: float,
        end_s: float,
        count: float,
        most: float = MAX_AT_ONCE,
    ) -> None:
        """Accelerators that the row at hand holds at once on the mean; beyond `most` they are
        named as doubtful."""
        if count > most:
            hours = (end_s - start_s) / 3600
            row = f"one of {self.overlaps.file}" if self.overlaps.file else "one"
            self.doubtful.add(
                f"{row} with {count * hours:,.0f} accelerator-hours in {hours:,.2f} h"
            )
        self.hourly.add(accelerator, start_s, end_s, count)

    def use(
        self,
        key: UseKey,
        instance_hours: float | None,
        accelerator_hours: float,
        billed: Decimal | None,
        amortised: Decimal | None,
    ) -> None:
        """Adds hours and money of one row of use."""
        self.use_sums(key).add(instance_hours, accelerator_hours, billed, amortised)

    def use_sums(self, key: UseKey) -> UseSums:
        """The sums of a kind of use, new where there was none of it."""
        sums = self.uses.get(key)
        if sums is None:
            sums = self.uses[key] = UseSums()
            self._check_size()
        return sums

    def charge(
        self,
        key: ChargeKey | tuple[str, str, str, str, str, str, str],
        billed: Decimal | None,
        amortised: Decimal | None,
        quantity: float = 0.0,
        list_cost: Decimal | None = None,
        credits: Decimal = _ZERO,
    ) -> ChargeSums:
        """Adds the money of one row of a bill, before anything of it can prove not to be
        understood, so that the sum is that of the bill."""
        sums = self.charge_sums(key)
        self.add_charge(sums, billed, amortised, list_cost)
        sums.quantity += quantity
        if credits:
            sums.credits += credits
        return sums

    def charge_sums(self, key: ChargeKey | tuple[str, str, str, str, str, str, str]) -> ChargeSums:
        """The sums of a kind of charge in the file at hand, new where there was none of it."""
        sums = self.charges.get(key)  # type: ignore[arg-type]
        if sums is None:
            sums = self.charges[ChargeKey(*key)] = ChargeSums()
            self._check_size()
        if self.overlaps.is_on:
            month, provider, *_ = key
            self.overlaps.charge(provider, month)
        return sums

    def add_charge(
        self,
        sums: ChargeSums,
        billed: Decimal | None,
        amortised: Decimal | None,
        list_cost: Decimal | None = None,
    ) -> None:
        """Adds the money of the row at hand to sums of its file."""
        self._charged_row = self.rows
        sums.rows += 1
        sums.billed.add(billed)
        sums.amortised.add(amortised)
        sums.list_cost.add(list_cost)

    def commitment(
        self, identifier: str, provider: str, kind: str, currency: str
    ) -> CommitmentSums:
        """The sums of a commitment, new where it was not named before."""
        sums = self.commitments.get(identifier)
        if sums is None:
            self._check_size()
            sums = self.commitments[identifier] = CommitmentSums(provider, kind, currency)
        return sums

    def add_unused(
        self,
        key: tuple[str, str, str],
        accelerator_hours: float | None,
        cost: Decimal | None = None,
        currency: str = "",
    ) -> None:
        """Hours that stood idle, by month, machine and reason, with their cost where it is said."""
        sums = self.unused[key]
        if accelerator_hours is None:
            sums.unstated += 1
        else:
            sums.hours += accelerator_hours
        if cost is None:
            return
        if sums.cost is None:
            sums.cost, sums.currency = MoneySum(), currency
        sums.cost.add(cost if currency == sums.currency else None)

    def monitor(self, month: str) -> Monitored:
        return self.monitored.setdefault(month, Monitored())

    def note(self, text: str) -> None:
        if len(self.notes) < MAX_NAMED_ROWS:
            self.notes[text] = None

    def set_view(self, view: str) -> None:
        """Actual and amortised exports of the same bill do not add up."""
        self.views.add(view)
        if len(self.views) > 1:
            raise UnusableFile(
                "holds the actual and the amortised view of costs, which count the same use "
                "twice; read one of the two exports"
            )

    def _check_size(self) -> None:
        if len(self.uses) + len(self.charges) + len(self.commitments) > MAX_GROUPS:
            problem = f"names more than {MAX_GROUPS:,} different things; read it in parts"
            raise UnusableFile(problem)


MAX_IDENTITIES = 4_000_000
"""Most rows that are told apart by identity: about 300 MB of marks."""
