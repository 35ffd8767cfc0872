"""The fitted parameters: whole, sourced, and what stands in for the unknown."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from planner.costing.price_processes.families import Tier, find_family, read_family
from planner.costing.price_processes.fitting import histories
from planner.costing.price_processes.process import PriceKind, PriceProcess
from planner.costing.price_processes.table import all_processes, find_process
from pricing.market.accelerators import all_accelerators
from pricing.market.offers import PurchaseOption

H100 = "nvidia-h100-80gb-sxm"


def _width(process: PriceProcess) -> float:
    low, high = np.log(process.interval(24, (0.05, 0.95)))
    return float(high - low)


def test_every_row_has_source_date_and_evidence() -> None:
    for (kind, scope), one in all_processes().items():
        assert one.source, (kind, scope)
        assert dt.date(2013, 1, 1) < one.fitted_to < dt.date(2030, 1, 1), (kind, scope)
        assert one.series > 0, (kind, scope)
        assert one.cells > 0, (kind, scope)


def test_every_series_has_source_and_dates() -> None:
    series = histories.read()
    assert (series.source != "").all()
    assert (series["first"] <= series["last"]).all()
    assert series["first"].str.fullmatch(r"\d{4}-\d{2}-\d{2}").all()
    assert histories.TABLE.stat().st_size < 200_000


@pytest.mark.one_in(4)
@pytest.mark.parametrize("option", PurchaseOption)
def test_every_accelerator_has_a_process_under_every_option(option: PurchaseOption) -> None:
    for accelerator in all_accelerators():
        process = find_process(accelerator.slug, option)
        assert process.family == find_family(accelerator.slug).name  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", PriceKind)
def test_an_unknown_accelerator_is_less_certain(kind: PriceKind) -> None:
    unknown = find_process("nvidia-x900", kind)
    assert unknown.level == "general"
    assert unknown.family == "nvidia-x900"
    known = [find_process(slug, kind) for slug in (H100, "nvidia-a100-80gb-sxm", "nvidia-l4")]
    assert all(_width(unknown) >= _width(one) for one in known)


def test_a_family_without_history_takes_its_tiers() -> None:
    process = find_process("aws-trainium3", PurchaseOption.SPOT)
    assert (process.level, process.tier, process.family) == ("tier", "training", "trainium3")


def test_spot_of_h100_moves_as_the_history_did() -> None:
    """Log-price sd of 12-month moves about 0.8 while spot still costs most of on demand."""
    process = find_process(H100, PurchaseOption.SPOT).at_discount(0.83)
    assert 0.6 < process.sorted_log_factors(12).std() < 1.0


def test_list_prices_stand_more_often_than_not() -> None:
    for slug in (H100, "nvidia-v100-16gb-sxm", "nvidia-l4"):
        assert find_process(slug, PurchaseOption.ON_DEMAND).interval(12)[1] == 1


def test_old_families_are_cut_more_rarely() -> None:
    young = find_process("nvidia-a100-80gb-sxm", PurchaseOption.ON_DEMAND, year=2024)
    old = find_process("nvidia-a100-80gb-sxm", PurchaseOption.ON_DEMAND, year=2027)
    assert young.changes_per_year > old.changes_per_year


@pytest.mark.parametrize(
    ("text", "family", "tier"),
    [
        ("H100-80GB-SXM5", "h100", Tier.TRAINING),
        ("A10G (24 GB)", "a10", Tier.INFERENCE),
        ("RTX A6000", "rtx-a6000", Tier.WORKSTATION),
        ("Radeon RX 7900 XTX", "rx-7900-xtx", Tier.CONSUMER),
        ("Google TPU v5e", "tpu-v5e", Tier.TRAINING),
    ],
)
def test_price_lists_words_are_understood(text: str, family: str, tier: Tier) -> None:
    read = read_family(text)
    assert (read.name, read.tier) == (family, tier)


def test_the_edition_of_before_is_still_there() -> None:
    """Answers of before November 2026 are computed again with it: spot alone differs."""
    for slug in ("nvidia-h100-80gb-sxm", "nvidia-x900"):
        assert find_process(slug, PriceKind.SPOT, edition=1) != find_process(slug, PriceKind.SPOT)
        for kind in set(PriceKind) - {PriceKind.SPOT}:
            assert find_process(slug, kind, edition=1) == find_process(slug, kind)
    assert all_processes(1).keys() == all_processes().keys()
    before = find_process("nvidia-h100-80gb-sxm", PriceKind.SPOT, edition=1)
    assert (before.usual_discount, before.discount_sd) == (-1.257, 0.5902)
