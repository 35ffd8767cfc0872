"""What a notebook asks: `compare`, `estimate` and `offers`, at bundled prices or a server's.

The modules behind them are imported by the calls, so that importing the library takes no solver.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

if TYPE_CHECKING:
    import pandas as pd

    from gpu_cost_planner.comparison import Comparison, Estimated, OfferList, Portfolio
    from planner.contract.request.comparison import ComparisonRequest
    from planner.contract.request.portfolio import PortfolioRequest
    from planner.sizing.estimate import EstimateRequest
    from planner.usage.ladder import Ladder
    from pricing.market.snapshot import Catalog

    Request = Mapping[str, object] | ComparisonRequest | str | Path
    """A comparison: its fields, the model, a line such as `8 H100 for 12 months in Europe`, or the
    name of a file in JSON or TOML."""
    Names = str | Sequence[str]
    """One name or several."""
Model = TypeVar("Model")


def compare(
    request: Request, *, catalog: Catalog | None = None, today: dt.date | None = None
) -> Comparison:
    """What renting, owning and mixing cost: the answer of page, API and command.

    `request` is a line such as `8 H100 for 12 months in Europe`, or holds the fields of the
    reference page "Request", as a mapping, a model or the name of a file. `catalog`: the bundled
    prices unless given (`server_catalog`). `today` dates the ages of prices and the default
    start. Raises `InvalidInput` with every field refused.

    >>> hours = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}
    >>> answer = compare({"start": "2027-01", "workload": hours})
    >>> answer.recommendation.scenario.value, len(answer.scenarios)
    ('cloud', 4)
    """
    from gpu_cost_planner.comparison import Comparison
    from planner.comparison import compare as answer_request

    known = catalog or bundled_catalog()
    return Comparison(answer_request(read_question(request), known, today=today))


def estimate(request: Mapping[str, object] | EstimateRequest | str | Path) -> Estimated:
    """Accelerator-hours, memory and layout of a workload; no price is read.

    Raises `InvalidInput` with every field refused.

    >>> work = {"kind": "training", "parameters": 7e9, "tokens": 1e11}
    >>> sized = estimate({"workload": work, "accelerator": "nvidia-a100-80gb-sxm"})
    >>> sized.answer.accelerator, sized.answer.training_flops
    ('nvidia-a100-80gb-sxm', 4.2e+21)
    """
    from gpu_cost_planner.comparison import Estimated
    from planner.sizing.estimate import estimate as size_workload

    return Estimated(size_workload(read_file(request)))


def offers(
    *,
    accelerator: Names = (),
    provider: Names = (),
    region: Names = (),
    geography: Names = (),
    purchase_option: Names = (),
    instance_type: Names = (),
    min_accelerators: float | None = None,
    accelerator_count: float | None = None,
    min_accelerator_memory_gib: float | None = None,
    sold_now: bool | None = True,
    ordering: str = "usd_per_accelerator_hour",
    limit: int | None = None,
    catalog: Catalog | None = None,
) -> OfferList:
    """Offers that meet every filter, the cheapest first; the filters are those of the API.

    `sold_now=None` gives last known prices of what is sold no more too. Raises `InvalidInput`
    for a name that the catalog does not have.

    >>> cheapest = offers(accelerator="H100-80GB-SXM", provider="aws", limit=3)
    >>> [offer.provider for offer in cheapest]
    ['aws', 'aws', 'aws']
    """
    from gpu_cost_planner.comparison import find_offers

    filters = {
        "accelerator": accelerator,
        "provider": provider,
        "region": region,
        "geography": geography,
        "purchase_option": purchase_option,
        "instance_type": instance_type,
    }
    return find_offers(
        catalog or bundled_catalog(),
        filters,
        limit=limit,
        min_accelerators=min_accelerators,
        accelerator_count=accelerator_count,
        min_accelerator_memory_gib=min_accelerator_memory_gib,
        sold_now=sold_now,
        ordering=ordering,
    )


def sweep(
    request: Mapping[str, object] | str | Path,
    grid: Mapping[str, object],
    *,
    catalog: Catalog | None = None,
    today: dt.date | None = None,
    processes: int | None = None,
    journal: str | Path | None = None,
    progress: bool = False,
    exact: bool = False,
) -> pd.DataFrame:
    """A row for each combination of the grid's values: what is advised, and what it costs.

    `grid` maps dotted fields of the request to the values that they take. `processes`: as many
    as there are processors unless given. `journal` names a file that keeps what is done, so that
    the same call goes on where an earlier one was stopped. `progress` shows a bar. Money is
    `float64`, or `Decimal` with `exact`. A combination that the market refuses has its reason in
    the column `refused`. Raises `InvalidInput` for a request whose fields are refused.

    >>> hours = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}
    >>> grid = {"horizon_months": [6, 36]}
    >>> frame = sweep({"start": "2027-01", "workload": hours}, grid, processes=1)
    >>> frame[["horizon_months", "recommended"]].values.tolist()
    [[6, 'cloud'], [36, 'cloud']]
    """
    from gpu_cost_planner.variations import Market, run_sweep

    market = Market(catalog or bundled_catalog(), today or dt.datetime.now(dt.UTC).date())
    return run_sweep(
        request, grid, market, processes=processes, journal=journal, progress=progress, exact=exact
    )


def plan_portfolio(
    request: Mapping[str, object] | PortfolioRequest | str | Path,
    *,
    catalog: Catalog | None = None,
    today: dt.date | None = None,
) -> Portfolio:
    """What to own, commit to and rent for all projects of a team, and what each of them pays.

    `request` holds the fields of a portfolio request (reference page "Request"), as a mapping, a
    model or the name of a file. Raises `InvalidInput` with every field refused.

    >>> hours = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 2920}
    >>> projects = [{"name": name, "workload": hours} for name in ("speech", "vision")]
    >>> together = plan_portfolio({"start": "2027-01", "projects": projects})
    >>> sum(one.share for one in together.shares) == together.answer.net_present_cost
    True
    """
    from gpu_cost_planner.comparison import Portfolio
    from planner.portfolio.portfolio import plan_portfolio as answer_request

    known = catalog or bundled_catalog()
    return Portfolio(answer_request(read_file(request), known, today=today))


def plan_ladder(
    use: Sequence[float],
    on_demand_per_hour: float,
    committed_per_hour: float,
    *,
    term_months: int = 12,
    months: int = 12,
    every_hours: float = 1.0,
    held: Sequence[tuple[float, int]] = (),
    rule: Literal["newsvendor", "break_even"] | None = None,
) -> Ladder:
    """How much of a use to commit to, now and in each of the next `months`.

    `use`: units in use on average in each consecutive hour, of any sequence or array; with
    `every_hours` 730 in each month. `held`: units committed already, with the months that they run
    on. `rule`: absent, that of the two which cost less on the use so far. Raises `InvalidInput`.

    >>> plan_ladder([10.0] * 24 * 7 * 30, 4.0, 2.4).sign_now
    10.0
    """
    from planner.usage import ladder

    return ladder.plan_ladder(
        plain_values(use),
        on_demand_per_hour,
        committed_per_hour,
        term_months,
        months,
        every_hours,
        held,
        rule,
    )


def read_file(request: Mapping[str, object] | Model | str | Path) -> Mapping[str, object] | Model:
    """The request, read from its file where it is the name of one; of a mapping, numbers and arrays
    of NumPy and pandas as plain ones."""
    if isinstance(request, str | Path):
        from planner.commands.command import read_request

        return read_request(str(request))
    if isinstance(request, Mapping):
        return cast("Mapping[str, object]", plain_values(request))
    return request


def read_question(
    request: Mapping[str, object] | Model | str | Path,
) -> Mapping[str, object] | Model:
    """The request; of a text that names no file, the one that the line asks for."""
    if not isinstance(request, str):
        return read_file(request)
    from planner.commands.command import read_comparison

    return read_comparison(request)


def bundled_catalog() -> Catalog:
    """The prices that come with the program; read once in a process."""
    from pricing.bundled import catalog

    return catalog.bundled_catalog()


def plain_values(value: Any) -> Any:
    """The value with every number, array and series of NumPy or pandas as Python has it.

    >>> import numpy as np
    >>> plain_values({"horizon_months": np.int64(12), "hours": np.array([1.5, 2.0])})
    {'horizon_months': 12, 'hours': [1.5, 2.0]}
    """
    if isinstance(value, Mapping):
        return {name: plain_values(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(one) for one in value]
    to_list = getattr(value, "tolist", None)
    return value if to_list is None else to_list()
