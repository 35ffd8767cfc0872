"""The scenarios over many simulated outcomes, and the plan that holds up across them. PURE."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner.contract.answer.common import AnswerModel, Count, Factor, Money, ScenarioKey, Share

PriceModel = Literal["fitted_processes", "given_spread", "common_factor"]


class CostRange(AnswerModel):
    """Net present cost of one scenario over the samples, and its undiscounted total."""

    p10: Money = Field(description="10th percentile of the net present cost.")
    p50: Money = Field(description="Its median.")
    p90: Money = Field(description="Its 90th percentile.")
    mean: Money = Field(description="Its mean.")
    cvar_90: Money = Field(
        description="Its average over the worst 10% (conditional value at risk)."
    )
    total_p10: Money | None = Field(
        default=None, description="10th percentile of the undiscounted total; null if unknown."
    )
    total_p50: Money | None = Field(default=None, description="Its median; null if unknown.")
    total_p90: Money | None = Field(default=None, description="Its 90th percentile; null likewise.")


class RiskAnswer(AnswerModel):
    """Range of each scenario, how often it is the cheapest and what choosing it may cost."""

    on_demand: CostRange | None = Field(default=None, description="Null where not feasible.")
    spot: CostRange | None = Field(default=None, description="Null where not feasible.")
    committed: CostRange | None = Field(default=None, description="Null where not feasible.")
    cloud_mix: CostRange | None = Field(default=None, description="Null where not feasible.")
    on_prem: CostRange | None = Field(default=None, description="Null where not feasible.")
    hybrid: CostRange | None = Field(default=None, description="Null where not feasible.")
    probability_cheapest: dict[ScenarioKey, Share] = Field(
        default_factory=dict, description="Share of the samples in which each is the cheapest."
    )
    regret: dict[ScenarioKey, Money] = Field(
        default_factory=dict,
        description="Mean of what each costs more than the cheapest of the same sample.",
    )
    samples: Count = Field(default=0, description="Outcomes simulated.")
    seed: Count = Field(default=0, description="Seed of the simulation.")
    holds: bool = Field(
        default=True,
        description="False where the work is far from every published run, so that no range of "
        "its hours holds.",
    )
    price_model: PriceModel = Field(
        default="common_factor",
        description="How prices vary: each by the process fitted to its history, rents by the "
        "spread that the request gives, or all rents by one common factor.",
    )

    def range_of(self, key: ScenarioKey) -> CostRange | None:
        """The range of one scenario; None where it is not feasible."""
        cost_range: CostRange | None = getattr(self, key.value)
        return cost_range


class PortfolioRange(AnswerModel):
    """The total of a plan, undiscounted, over simulated outcomes, and its net present cost."""

    p10: Money = Field(description="10th percentile of the total.")
    p50: Money = Field(description="Its median.")
    p90: Money = Field(description="Its 90th percentile.")
    mean: Money = Field(description="Its mean.")
    present_p10: Money = Field(description="10th percentile of the net present cost.")
    present_p50: Money = Field(description="Its median.")
    present_p90: Money = Field(description="Its 90th percentile.")
    samples: Count = Field(description="Outcomes simulated.")
    seed: Count = Field(description="Seed of the simulation.")
    holds: bool = Field(
        default=True,
        description="False where the work of a project is far from every published run, so that "
        "no range of its hours holds.",
    )
    note: str = Field(
        default="", description="Why the median lies above the total; empty for nothing."
    )


class RobustPlan(AnswerModel):
    """The plan with the least expected cost plus weighted cost of the worst outcomes."""

    cvar_weight: Factor = Field(description="Weight of the average of the worst 10%.")
    same_as: ScenarioKey | None = Field(description="Scenario whose plan it is; null: its own.")
    expected: Money = Field(description="Mean net present cost over the samples.")
    cvar_90: Money = Field(description="Average of the worst 10% of the samples.")
    samples: Count | None = Field(default=None, description="Outcomes simulated.")
    seed: Count | None = Field(default=None, description="Seed of the simulation.")
    representative_samples: Count | None = Field(
        default=None, description="Outcomes that stood for all while the plan was searched."
    )
    gap: Share | None = Field(
        default=None,
        description="Distance to the best plan over those; null where a limit forbids it in one.",
    )
    net_present_cost: Money | None = Field(
        default=None, description="Net present cost if all goes as expected."
    )
    total_cost: Money | None = Field(default=None, description="Total if all goes as expected.")
    units_started: dict[str, dict[str, int]] = Field(
        default_factory=dict, description="Source → month → units bought or committed to in it."
    )
    words: tuple[str, ...] = Field(default=(), description="The same in sentences.")
    warnings: tuple[str, ...] = Field(default=(), description="What to know about this plan.")
