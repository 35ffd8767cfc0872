"""What files of usage add up to, and what became of each of their rows. PURE.

Every row of a file is accounted once, by a `Reason`. Rows that are use of accelerators add hours
and money to a `UseKey`; every row of a bill, use or not, adds its money to a `ChargeKey`, so that
the sum of a bill is the provider's. Money is billed (what invoices say) or amortised (what the
month used up); the two are sums of their own and never added to each other. A figure that a file
does not state is unknown, never 0.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Any, BinaryIO, NamedTuple, Self, cast

from planner.usage.tables import plain_name, split_by_month, start_next_month
from pricing.common.words import pluralize

MAX_GROUPS = 200_000
"""Most different things that files may name before they have to be split."""
MAX_IDENTITIES = 4_000_000
"""Most rows that are told apart by identity: about 300 MB of marks."""
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
    """What became of a row, and what that means to a reader."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        reason = str.__new__(cls, value)
        reason._value_, reason.meaning = value, meaning
        return reason

    ACCELERATOR_USE = "accelerator_use", "use of accelerators: hours and money count"
    ACCELERATOR_HOST = (
        "accelerator_host",
        "processor or memory of an accelerator machine: money counts",
    )
    OTHER_MACHINE = "other_machine", "a machine without accelerators"
    NOT_A_MACHINE = "not_a_machine", "storage, network or another service"
    COMMITMENT_FEE = "commitment_fee", "price of a commitment: billed, its hours are no use"
    UNUSED_COMMITMENT = "unused_commitment", "unused part of a commitment: amortised, no use"
    UNUSED_RESERVATION = "unused_reservation", "reserved capacity that stood idle: counted apart"
    CAPACITY_RESERVATION = (
        "capacity_reservation",
        "a capacity reservation beside the machine that used it",
    )
    NEGATION = "negation", "takes back the list price of covered use: money counts, hours do not"
    TAX = "tax", "tax"
    CREDIT = "credit", "credit"
    REFUND = "refund", "refund"
    DISCOUNT = "discount", "discount of a contract"
    DUPLICATE = "duplicate", "the same row again: counted once"
    RESTATED = "restated", "another version of a row that was read before, which counts"
    JOB_STEP = "job_step", "step of a job whose allocation is counted"
    NEVER_RAN = "never_ran", "a job that never ran"
    NO_ACCELERATOR = "no_accelerator", "a job or cluster without accelerators"
    STANDING = "standing", "a machine or pod that stands as declared: planned, no past use"
    IDLE = "idle", "idle accelerators: counted apart"
    UNKNOWN_SAMPLE = "unknown_sample", "a sample that states no value: unknown, not 0"
    NOT_UNDERSTOOD = "not_understood", "not understood: named below, in no sum of hours"


class UseKey(NamedTuple):
    """What hours are summed by. An empty text is what the file does not say."""

    month: str
    provider: str = ""
    region: str = ""
    """Region of a cloud, partition or cluster of a machine room."""
    machine: str = ""
    accelerator: str = ""
    """Slug where the name is known, else as the file writes it; empty where it names none."""
    option: str = ""
    project: str = ""
    account: str = ""
    user: str = ""
    state: str = ""
    """How a job ended; empty for a bill."""
    currency: str = ""


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


# Sums -------------------------------------------------------------------------------------


@dataclass(slots=True)
class MoneySum:
    """A sum of money that knows how many of its parts are unknown."""

    total: Decimal = _ZERO
    unknown: int = 0

    def add(self, amount: Decimal | None) -> None:
        if amount is None:
            self.unknown += 1
        elif amount:
            self.total += amount

    def merge(self, part: MoneySum) -> None:
        self.total += part.total
        self.unknown += part.unknown

    @property
    def known(self) -> Decimal | None:
        """The sum; None where a part of it is unknown."""
        return None if self.unknown else self.total


@dataclass(slots=True)
class UseSums:
    """Hours and money of one `UseKey`."""

    rows: int = 0
    instance_hours: float = 0.0
    unsized: int = 0
    """Rows that state hours of accelerators and no machine."""
    accelerator_hours: float = 0.0
    billed: MoneySum = field(default_factory=MoneySum)
    amortised: MoneySum = field(default_factory=MoneySum)

    def add(
        self,
        instance_hours: float | None,
        accelerator_hours: float,
        billed: Decimal | None,
        amortised: Decimal | None,
    ) -> None:
        self.rows += 1
        if instance_hours is None:
            self.unsized += 1
        else:
            self.instance_hours += instance_hours
        self.accelerator_hours += accelerator_hours
        self.billed.add(billed)
        self.amortised.add(amortised)


@dataclass(slots=True)
class ChargeSums:
    """Money of one `ChargeKey`; `quantity` in whatever unit its rows have."""

    rows: int = 0
    quantity: float = 0.0
    billed: MoneySum = field(default_factory=MoneySum)
    amortised: MoneySum = field(default_factory=MoneySum)
    list_cost: MoneySum = field(default_factory=MoneySum)
    credits: Decimal = _ZERO
    """Credits already within `billed`; gross is billed less credits."""

    @property
    def states_money(self) -> bool:
        return bool(self.billed.total or self.amortised.total)


@dataclass(slots=True)
class UnusedSums:
    """Hours that were paid for and not used, and what they cost where a bill says it."""

    hours: float = 0.0
    """Accelerator-hours."""
    unstated: int = 0
    """Rows that state money and no hours."""
    cost: MoneySum | None = None
    """None where no row states money."""
    currency: str = ""


@dataclass(slots=True)
class Monitored:
    """Allocated accelerator-hours that a monitor watched, and what they did."""

    hours: float = 0.0
    busy_hours: float = 0.0
    """Hours in which any kernel ran."""
    utilised_hours: float = 0.0
    """Hours × utilisation."""
    unknown_hours: float = 0.0
    """Hours between samples of which one is missing."""


class DoubtfulRows:
    """Rows that state more use than their machines could give in their time; they count."""

    def __init__(self) -> None:
        self.rows = 0
        self.first = ""

    def add(self, row: str) -> None:
        self.rows += 1
        self.first = self.first or row

    def warnings(self) -> list[str]:
        if not self.rows:
            return []
        return [
            f"{pluralize(self.rows, 'row')} with more use than machines could give in the time, "
            f"such as {self.first}: counted as written, and doubtful; check the quantity and its "
            "unit."
        ]


class CommitmentSums:
    """What a commitment cost and how much of it was used, by its identifier."""

    def __init__(self, provider: str, kind: str, currency: str) -> None:
        self.provider, self.kind, self.currency = provider, kind, currency
        self.billed = MoneySum()
        """Unknown in a file of amortised cost, which states no payments."""
        self.amortised_used = MoneySum()
        self.amortised_unused = MoneySum()
        """Both unknown in a file of actual cost."""


Holder = tuple[str, str]
"""An accelerator by its name, and the project that holds it."""


@dataclass(slots=True)
class JobSums:
    """Jobs that ended."""

    hours_by_size: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    """Accelerators of a job → accelerator-hours."""
    accelerators: int = 0
    """Of all jobs together."""

    def add(self, size: int, accelerator_hours: float, accelerators: int) -> None:
        self.hours_by_size[size] += accelerator_hours
        self.accelerators += accelerators

    @property
    def job_hours(self) -> float:
        """Mean length of a job by its accelerators, h."""
        return sum(self.hours_by_size.values()) / max(self.accelerators, 1)

    @property
    def typical_size(self) -> int:
        """Accelerators of a job, the mean over the hours, as the nearest power of two: such jobs
        wait about as long as the mix, and fill machines as it does.

        >>> jobs = JobSums()
        >>> jobs.add(1, 600.0, 100)
        >>> jobs.add(8, 400.0, 80)
        >>> jobs.typical_size
        4
        """
        hours = sum(self.hours_by_size.values())
        mean = sum(size * part for size, part in self.hours_by_size.items()) / max(hours, 1e-9)
        return int(2 ** round(math.log2(max(mean, 1.0))))


# The ledger -------------------------------------------------------------------------------


class Ledger:
    """The sums of one or more files, filled row by row."""

    def __init__(self) -> None:
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
        self.jobs = defaultdict[Holder, JobSums](JobSums)
        self.declared = defaultdict[Holder, float](float)
        """Accelerators that stand by what a file declares."""
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

    def account(self, reason: Reason, rows: int = 1) -> None:
        self.rows += rows
        self.reasons[reason] += rows

    def misread(self, row: str, problem: str, is_of_bill: bool = False) -> None:
        """A row that is not understood; the first ones are named."""
        if is_of_bill and self._charged_row != self.rows:
            self.uncharged += 1
        is_counted = problem in self.problems or len(self.problems) < MAX_PROBLEMS
        self.problems[problem if is_counted else OTHER_PROBLEMS] += 1
        self.account(Reason.NOT_UNDERSTOOD)
        if len(self.not_understood) < MAX_NAMED_ROWS:
            self.not_understood.append(f"{row}: {problem}")

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
        project: str,
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
        self.hourly.add(accelerator, start_s, end_s, count, project)

    def use(
        self,
        key: UseKey,
        instance_hours: float | None,
        accelerator_hours: float,
        billed: Decimal | None,
        amortised: Decimal | None,
    ) -> None:
        self.use_sums(key).add(instance_hours, accelerator_hours, billed, amortised)

    def use_between(
        self, key: UseKey, start_s: float, end_s: float, hours: float, cost: Decimal | None = None
    ) -> None:
        """Accelerator-hours of an interval, with their amortised cost, by month, and what it holds
        at once."""
        for month, share in split_by_month(start_s, end_s):
            part = None if cost is None else cost * Decimal(repr(share))
            self.use(key._replace(month=month), None, hours * share, None, part)
        if hours and end_s > start_s:
            mean = hours * 3600 / (end_s - start_s)
            self.hold(key.accelerator, start_s, end_s, mean, key.project or key.account)

    def use_sums(self, key: UseKey) -> UseSums:
        """The sums of a kind of use, new where there was none of it."""
        sums = self.uses.get(key)
        if sums is None:
            sums = self.uses[key] = UseSums()
            self._check_size()
        return sums

    def charge_sums(self, key: ChargeKey) -> ChargeSums:
        """The sums of a kind of charge in the file at hand, new where there was none of it."""
        sums = self.charges.get(key)
        if sums is None:
            sums = self.charges[key] = ChargeSums()
            self._check_size()
        if self.overlaps.is_on:
            self.overlaps.charge(key.provider, key.month)
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


# Accelerators in use by hour --------------------------------------------------------------

HOUR_S = 3600.0
MAX_HOURS = 2_000_000
"""Most hours, over all accelerators, that are told apart; beyond, peaks are not counted."""


class HourlyUse:
    """Mean number of accelerators in use in each hour, by accelerator and project.

    An interval adds its accelerators to the hours that it covers: to the first and the last in
    proportion, to those between by a step up and a step down, so that a long job costs no more
    than a short one.

    >>> use = HourlyUse()
    >>> use.add("h100", 0.0, 5400.0, 8.0)  # eight from 0:00 to 1:30 of 1 January 1970
    >>> use.peaks()
    {('1970-01', 'h100'): 8.0}
    """

    def __init__(self) -> None:
        self._partial: dict[Holder, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self._steps: dict[Holder, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self._size = 0
        self.first_s, self.last_s = float("inf"), float("-inf")
        self.longest_s = 0.0
        """Longest interval; beyond an hour a peak is a mean over the interval, a lower bound."""

    def cover(self, start_s: float, end_s: float) -> None:
        """The files say what was used from `start_s` to `end_s`."""
        if start_s < self.first_s:
            self.first_s = start_s
        if end_s > self.last_s:
            self.last_s = end_s

    def add(
        self, accelerator: str, start_s: float, end_s: float, count: float, project: str = ""
    ) -> None:
        if end_s <= start_s or self._size > MAX_HOURS:
            return
        self.cover(start_s, end_s)
        if end_s - start_s > self.longest_s:
            self.longest_s = end_s - start_s
        first, last = int(start_s // HOUR_S), int(end_s // HOUR_S)
        partial = self._partial[accelerator, project]
        before = len(partial)
        if first == last:
            partial[first] += count * (end_s - start_s) / HOUR_S
        else:
            partial[first] += count * ((first + 1) * HOUR_S - start_s) / HOUR_S
            if tail_s := end_s - last * HOUR_S:
                partial[last] += count * tail_s / HOUR_S
            if last > first + 1:
                steps = self._steps[accelerator, project]
                steps[first + 1] += count
                steps[last] -= count
        self._size += len(partial) - before

    def merge(self, group: Callable[[Holder], str | None]) -> HourlyUse:
        """Those of one group counted together, without those of None."""
        merged = HourlyUse()
        merged.first_s, merged.last_s, merged.longest_s = self.first_s, self.last_s, self.longest_s
        for holders, sums in ((self._partial, merged._partial), (self._steps, merged._steps)):
            for holder, hours in holders.items():
                if (name := group(holder)) is not None:
                    for hour, count in hours.items():
                        sums[name, ""][hour] += count
        return merged

    def peaks(
        self, group: Callable[[Holder], str | None] = itemgetter(0)
    ) -> dict[tuple[str, str], float]:
        """The highest hourly mean of each month and group, an accelerator unless said."""
        highest: dict[tuple[str, str], float] = {}
        merged = self.merge(group)
        for holder in merged._partial.keys() | merged._steps.keys():
            partial, steps = merged._partial[holder], merged._steps[holder]
            accelerator = holder[0]
            changes = sorted(steps.keys() | partial.keys() | {hour + 1 for hour in partial})
            levels = accumulate(steps.get(hour, 0.0) for hour in changes)
            counts = [
                (hour, level + partial.get(hour, 0.0))
                for hour, level in zip(changes, levels, strict=True)
            ]
            # A level that lasts into later months is the level of their first hours too.
            for (hour, level), (following, _) in pairwise(tuple(counts)):
                month_start = _next_month_start(hour)
                while level > 0 and month_start < following:
                    counts.append((month_start, level))
                    month_start = _next_month_start(month_start)
            for hour, count in counts:
                key = (f"{_EPOCH + dt.timedelta(hours=hour):%Y-%m}", accelerator)
                if count > highest.get(key, 0.0):
                    highest[key] = count
        return {key: round(highest[key], 6) for key in sorted(highest)}


_EPOCH = dt.datetime(1970, 1, 1)


def _next_month_start(hour: int) -> int:
    following = start_next_month(_EPOCH + dt.timedelta(hours=hour))
    return int((following - _EPOCH).total_seconds() // HOUR_S)


# What several files hold at once ----------------------------------------------------------

MAX_COMPARED_ROWS = 2_000_000
"""Most rows that are compared with those of other files: about 200 MB of marks."""
MAX_NAMED_OVERLAPS = 10
_VOLATILE = frozenset(
    ("exporttime", "invoiceid", "xinvoiceid", "billinvoiceid", "invoicedetailid", "partitiondate")
)
"""Columns that change from one export of a bill to the next, while its rows stay the same."""
IsRepeated = Callable[[Any, int], bool]


class Overlaps:
    """What of the file at hand was in an earlier one."""

    def __init__(self) -> None:
        self.is_on = False
        """Whether there are several files; one alone is not searched."""
        self._files: list[str] = []
        self._digests: dict[bytes, int] = {}
        self._rows: dict[int, int] = {}
        """Hash of a row → place of the file that held it first."""
        self._repeated: Counter[int] = Counter()
        self._first_repeated = 0
        self._months: dict[tuple[str, str], dict[int, None]] = defaultdict(dict)

    def find_same(self, stream: BinaryIO) -> int | None:
        """Place of an earlier file of the same bytes; the stream stays where it is."""
        if not self.is_on or not stream.seekable():
            return None
        place = stream.tell()
        digest = hashlib.file_digest(cast(Any, stream), "sha256").digest()
        stream.seek(place)
        first = self._digests.setdefault(digest, len(self._files))
        return first if first < len(self._files) else None

    def begin(self, name: str) -> None:
        self._files.append(name)
        self._repeated.clear()

    @property
    def file(self) -> str:
        return self._files[-1] if self._files else "the file"

    def rows_of(self, header: Sequence[str]) -> IsRepeated:
        """What tells whether a row under this header was in an earlier file, and marks it."""
        names = [(plain_name(name), index) for index, name in enumerate(header)]
        places = [index for name, index in sorted(names) if name not in _VOLATILE]
        if not self.is_on or len(places) < 2:
            return lambda row, number: False
        pick = itemgetter(*places)
        columns = tuple(name for name, _ in sorted(names) if name not in _VOLATILE)

        def is_repeated(row: Any, number: int) -> bool:
            mark, current = hash((columns, pick(row))), len(self._files) - 1
            if len(self._rows) < MAX_COMPARED_ROWS:
                first = self._rows.setdefault(mark, current)
            else:
                first = self._rows.get(mark, current)
            if first == current:
                return False
            if not self._repeated:
                self._first_repeated = number
            self._repeated[first] += 1
            return True

        return is_repeated

    def charge(self, provider: str, month: str) -> None:
        """A row of the file at hand charges something for this month."""
        self._months[provider, month][len(self._files) - 1] = None

    def notes_of_file(self) -> Iterator[str]:
        """What of the file at hand was in earlier ones."""
        for first, count in self._repeated.most_common(MAX_NAMED_OVERLAPS):
            yield (
                f"{self._files[-1]}: {count:,} rows from row {self._first_repeated} on are rows of "
                f"{self._files[first]} to the letter and count once."
            )

    def notes_of_months(self) -> Iterator[str]:
        """Months of a provider that several files charge."""
        by_files: dict[tuple[str, tuple[int, ...]], list[str]] = defaultdict(list)
        for (provider, month), files in self._months.items():
            if len(files) > 1:
                by_files[provider, tuple(files)].append(month)
        for (provider, several), months in list(by_files.items())[:MAX_NAMED_OVERLAPS]:
            names = ", ".join(self._files[one] for one in several[:4])
            more = f" and {len(several) - 4} more" if len(several) > 4 else ""
            first, last = min(months), max(months)
            span = first if first == last else f"{first} to {last}"
            yield (
                f"{span} of {provider or 'one provider'} is in {names}{more}: parts of "
                "one bill add up; of two versions or forms of it leave one out, or it counts twice."
            )
        if len(self._rows) >= MAX_COMPARED_ROWS:
            yield (
                f"Rows beyond the first {MAX_COMPARED_ROWS:,} were not compared with those of "
                "other files."
            )


def lasting_text(row: Mapping[str, Any]) -> str:
    """An object without what changes from one export to the next."""
    lasting = {name: value for name, value in row.items() if plain_name(name) not in _VOLATILE}
    return json.dumps(lasting, sort_keys=True, default=str)
