"""The advice of an answer: what to do, what it costs, how sure that is. PURE."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from pydantic import Field

from planner.contract.answer.common import Accelerators, AnswerModel, Money, ScenarioKey, Share

Action = Literal["keep", "buy", "lease", "commit", "reserve", "rent"]
BudgetKind = Literal["total", "capital", "monthly"]


class Choice(AnswerModel):
    """The scenario that is advised."""

    scenario: ScenarioKey | None = Field(description="The cheapest; null where none is feasible.")


class Recommendation(Choice):
    """The scenario of least net present cost, and what it rests on."""

    saving: Money = Field(description="Net present cost that it saves against `next_best`.")
    next_best: ScenarioKey | None = Field(description="The cheapest scenario with another plan.")
    because: tuple[str, ...] = Field(default=(), description="What to do and why, in sentences.")

    @property
    def headline(self) -> str:
        return self.because[0] if self.because else "No feasible plan."

    @property
    def reasons(self) -> tuple[str, ...]:
        return self.because[1:]


class DecisionPart(AnswerModel):
    """One thing to do: a server, a commitment or a way of renting."""

    action: Action = Field(
        description="Keep what is owned, buy, lease, commit, reserve by date or rent."
    )
    source: str = Field(description="Key of the offer or server.")
    label: str = Field(description="Machine or server, without its place.")
    provider: str = Field(default="", description="Provider; empty for what the team owns.")
    region: str = Field(default="", description="Region of the provider.")
    place: str = Field(default="", description="Provider and region by name.")
    purchase_option: str = Field(description="How it is paid for; `owned` for servers.")
    units: float | None = Field(
        default=None,
        description="Servers or commitments; most machines rented or reserved at once.",
        json_schema_extra={"unit": "see action"},
    )
    accelerators: Accelerators | None = Field(
        default=None, description="Accelerators of all its units together."
    )
    term_months: int | None = Field(
        default=None,
        description="Term of a commitment or lease.",
        json_schema_extra={"unit": "months"},
    )
    starts: str = Field(description="First month, YYYY-MM.", pattern=r"^\d{4}-\d{2}$")
    last_start: str = Field(
        description="Month in which the last unit is bought or begins, YYYY-MM.",
        pattern=r"^\d{4}-\d{2}$",
    )
    amount: Money = Field(
        description="Everything that the plan pays for it, running costs in, resale taken off."
    )
    due_at_start: Money | None = Field(
        default=None,
        description="Invoices of what starts first, network, spares and installation included.",
    )
    share_of_hours: Share = Field(description="Share of the work's accelerator-hours it serves.")
    sentence: str = Field(description="The same in words.")


class NextBest(AnswerModel):
    """The plan of least expected cost that is another one."""

    scenario: ScenarioKey = Field(description="Which scenario.")
    words: str = Field(description="What it is called in a sentence.")
    total: Money = Field(description="Its total as stated, undiscounted.")
    expected: Money | None = Field(default=None, description="Its expected cost, undiscounted.")
    difference: Money = Field(
        description="Its expected cost less that of the advised plan, in the same outcomes."
    )
    difference_in_present_value: Money = Field(
        description="The same of the expected net present costs."
    )


class CostInterval(AnswerModel):
    """Where the total lies in 80 of 100 simulated outcomes."""

    p10: Money = Field(description="10th percentile of the total.")
    p90: Money = Field(description="90th percentile of the total.")
    holds: bool = Field(
        default=True, description="False where the work is far from every published run."
    )
    note: str = Field(
        default="", description="What it leaves out, or why it does not hold; empty for nothing."
    )


class BudgetUse(AnswerModel):
    """A budget of the request and what the advised plan leaves of it."""

    kind: BudgetKind = Field(description="Budget of the whole plan, of capital, or of a month.")
    fiscal_year: int | None = Field(
        default=None,
        description="Of a capital budget the fiscal year that it is for; null for one of the whole "
        "plan, and for the other kinds.",
        json_schema_extra={"unit": "year"},
    )
    budget: Money = Field(description="The budget.")
    planned: Money = Field(
        description="What counts against it: all payments of the plan without what servers "
        "fetch at its end, its capital, that of the fiscal year, or its dearest month."
    )
    headroom: Money = Field(description="Budget less plan; negative where the plan is over it.")
    month: str | None = Field(
        default=None,
        description="Of a monthly budget the dearest month, after the horizon too; YYYY-MM.",
    )
    chance: Share | None = Field(
        default=None,
        description="Share of the outcomes in which a total budget is kept; null for other kinds.",
    )
    sentence: str = Field(
        default="", description="What is counted, in words; empty in older answers."
    )


class Alternative(AnswerModel):
    """What would be cheaper if a limit that nobody asked for were lifted, or a budget were higher;
    where no plan keeps to the limits, what one of them lifted makes possible."""

    field: str = Field(description="Field of the request that lifts it.")
    value: bool | int | str | tuple[str, ...] | None = Field(
        description="Value that lifts it, of a budget what the cheaper plan takes of it; "
        "null or an empty list for a limit that the request states and would have to leave out.",
        json_schema_extra={"unit": "see field"},
    )
    together_with: dict[str, bool | int] = Field(
        default_factory=dict,
        description="Other fields that this plan takes, with their values: budgets that have to be "
        "higher too, or a limit that keeps out plans which nobody would run.",
        json_schema_extra={"unit": "see the field"},
    )
    change: str = Field(description="The same in words: what would have to be allowed.")
    plan: str = Field(description="The plan that would then be advised, in a sentence.")
    total: Money = Field(description="Total of that plan.")
    saving: Money | None = Field(
        description="Net present cost that it would save; null where no plan keeps to the limits."
    )
    why_no_saving: str = Field(
        default="", description="Why there is no saving to tell; empty where there is."
    )
    why: str = Field(description="Why it is off unless asked for.")


class Verdict(AnswerModel):
    """What to do, in the order of money, and how sure it is; amounts are nominal."""

    headline: str = Field(description="What to do, in a sentence.")
    sentence: str = Field(description="The whole advice: what to do, what it costs, how sure.")
    decision: tuple[DecisionPart, ...] = Field(
        default=(), description="What to do, dearest first; empty where no plan is feasible."
    )
    sizing: str = Field(
        default="",
        description="How the work is sized on the accelerator that does most of it: replicas or "
        "accelerators at once, precision and hours; empty for hours that were given.",
    )
    orders: str = Field(
        default="",
        description="Parts that the headline does not name and that bind or are at least 5% of the "
        "cost, with their amounts; empty for none.",
    )
    due_later: tuple[str, ...] = Field(
        default=(),
        description="What of the total each contract, lease or loan costs after the plan.",
    )
    total: Money | None = Field(
        default=None, description="Total of the advised plan as stated: the sum of its lines."
    )
    expected: Money | None = Field(
        default=None,
        description="Expected cost: mean of its total over the outcomes; null where none could be "
        "simulated.",
    )
    standard_error: Money | None = Field(
        default=None, description="Of that mean; what is shown is rounded to it."
    )
    risk_allowance: dict[str, Money] = Field(
        default_factory=dict,
        description="Expected cost less total, by cause in the order in which each is counted on "
        "top of those before: hours, delivery, prices, capacity, quotes, resale.",
    )
    expected_present_value: Money | None = Field(
        default=None, description="Mean of its net present cost, by which it is chosen."
    )
    expected_bound: Money | None = Field(
        default=None,
        description="Expected present value less the most that a plan that was judged and may be "
        "advised is cheaper by in expectation, at 95 %.",
    )
    within_horizon: Money | None = Field(
        default=None, description="What of it falls due within the horizon."
    )
    owed_after: Money | None = Field(
        default=None, description="What of it falls due after the horizon."
    )
    present_value: Money | None = Field(default=None, description="Its net present cost.")
    range: CostInterval | None = Field(
        default=None, description="Where the total lies; null where it was not simulated."
    )
    capital_to_approve: Money | None = Field(
        default=None,
        description="All invoices of the first purchase: servers, network, spares, installation.",
    )
    obligation_to_sign: Money | None = Field(
        default=None,
        description="All payments of the commitments and leases that begin in the first month of "
        "any.",
    )
    resale: Money | None = Field(
        default=None,
        description="What the servers are assumed to fetch at the end, counted in the total; "
        "null where none is resold.",
    )
    payback: str | None = Field(
        default=None,
        description="Month, YYYY-MM, from which the plan's cumulative cash stays below that of "
        "the best plan that buys and leases nothing: that in which its payback months end; null "
        "where it is one or never gets there.",
    )
    against: NextBest | None = Field(default=None, description="The next best plan.")
    budget: tuple[BudgetUse, ...] = Field(default=(), description="Budgets that were given.")
    deadline: str | None = Field(
        default=None,
        description="Month, YYYY-MM, by whose end work must be done, of several deadlines that "
        "which is the likeliest to be missed; null without one.",
    )
    deadline_chance: Share | None = Field(
        default=None,
        description="Share of the outcomes in which it is kept on the machines of the plan; null "
        "where none were simulated.",
    )
    reasons: tuple[str, ...] = Field(default=(), description="Why, at most three.")
    turns: tuple[str, ...] = Field(
        default=(), description="What would turn the advice, at most three, the likeliest first."
    )
    confidence: Share | None = Field(
        default=None, description="Share of the simulated outcomes in which it stays the cheapest."
    )
    oldest_price: dt.date | None = Field(
        default=None, description="Day of the oldest rental price that the advised plan pays."
    )
    unknown_prices: tuple[str, ...] = Field(
        default=(),
        description="What else is sold for this work, at prices that are not known here, a "
        "sentence for each provider: the plan is the best among the prices known.",
    )
    ask_first: tuple[str, ...] = Field(
        default=(),
        description="Prices that are not known and would turn the advice at a discount that is "
        "known of some family, at most three, the one worth most first.",
    )
    waiting: str = Field(
        default="",
        description="What to do now and what to wait for, where that is worth more than 2% of the "
        "best plan that is decided today; else empty.",
    )
    is_small: bool = Field(
        default=False,
        description="Whether the work is too small to think of owning: below 1,000 US "
        "dollars or a node-month.",
    )
