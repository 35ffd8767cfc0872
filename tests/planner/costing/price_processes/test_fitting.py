"""From a folder of price lists to parameters, on histories made for the purpose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from planner.costing.price_processes.fitting import (
    backtest,
    histories,
    moves,
    parameters,
    resets,
)
from planner.costing.price_processes.fitting.fit import fit
from planner.costing.price_processes.fitting.sources import read_folder
from planner.costing.price_processes.process import PriceKind
from pricing.common.invalid_input import InvalidInput

HEAD = "date,provider,region_or_zone,instance_type_or_gpu,accelerator,accelerator_count,"
MONTHS = pd.date_range("2020-01-31", periods=48, freq="ME").strftime("%Y-%m-%d")


def _write(folder: Path, file: str, rows: list[str], price: str = "usd_per_hour") -> None:
    head = f"{HEAD}purchase_option,{price},source,note"
    (folder / file).write_text("\n".join([head, *rows]) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """H100 on demand with one cut, its spot with one reset, rents and cards that fade."""
    lists, spot, rents, cards = [], [], [], []
    for month, date in enumerate(MONTHS):
        for size in (1, 8):
            on_demand = size * (10.0 if month < 30 else 6.0)
            share = 0.8 if month < 20 else 0.3
            machine = f"aws,us-east-1,p5.{size}xlarge,H100,{size}"
            lists.append(f"{date},{machine},on_demand,{on_demand},a/list@1:x,")
            spot.append(f"{date},{machine},spot,{on_demand * share},a/spot@1:x,")
        rent = 3.0 * np.exp(-0.02 * month)
        rents.append(f"{date},neo,all,H100,H100,1,on_demand,{rent:.3f},a/rents@1:x,")
        cards.append(f"{date},shop,us,H100,H100,1,used,{1e4 * rent:.0f},a/cards@1:x,")
    _write(tmp_path, "aws_od.csv", lists)
    _write(tmp_path, "aws_spot.csv", spot)
    _write(tmp_path, "market_rental.csv", rents)
    _write(tmp_path, "hw_price_history.csv", cards, "price_usd")
    return tmp_path


@pytest.fixture
def series(folder: Path) -> pd.DataFrame:
    return histories.compact(read_folder(folder).table)


def test_sizes_of_a_machine_count_once(series: pd.DataFrame) -> None:
    assert sorted(series.kind) == ["hardware", "list", "market", "spot"]


def test_every_row_is_accounted_for(folder: Path) -> None:
    outcomes = read_folder(folder).outcomes
    assert outcomes["aws_od.csv"] == {"rows": 96, "prices": 96}


def test_histories_survive_being_written(series: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "series.csv.zst"
    histories.write(series, path)
    first = path.read_bytes()
    pd.testing.assert_frame_equal(histories.read(path), series, check_dtype=False)
    histories.write(histories.read(path), path)
    assert path.read_bytes() == first


def test_moves_know_discount_and_length(series: pd.DataFrame) -> None:
    lagged = moves.find_moves(histories.observations(series)).lagged
    year = lagged[(lagged.kind == "spot") & (lagged.lag == 12)]
    assert (year.months == 12).all()
    assert year.discount.iloc[0] == pytest.approx(np.log(0.8), abs=1e-3)
    assert year.move.min() == pytest.approx(np.log(0.3 / 0.8 * 0.6), abs=1e-3)


def test_parameters_follow_the_evidence(series: pd.DataFrame) -> None:
    found = parameters.fit_parameters(series, moves.find_moves(histories.observations(series)))
    cut = found[PriceKind.LIST, "family:h100:young"]
    assert 0.1 < cut.changes_per_year < 0.3
    assert 0.2 < cut.change_size < 0.51
    assert found[PriceKind.MARKET, "family:h100"].drift == pytest.approx(-0.22, abs=0.05)
    assert cut.source == "a/list"
    assert cut.fitted_to.isoformat() == "2023-12-31"


def test_where_spot_goes_is_told_by_prices_that_were_set_anew(series: pd.DataFrame) -> None:
    """From 80 to 30 % of on demand, in month 20, and with on demand from 10 to 6: the 28 months
    at 80 % and those at 30 % since tell of no other reset."""
    start = int(moves.find_moves(histories.observations(series)).levels.month.min())
    known = moves.find_moves(histories.observations(series))
    spot, family = PriceKind.SPOT, "family:h100"
    first = fit(known, start + 20).processes[spot, family]
    assert first.usual_discount == pytest.approx(resets.PRIOR_DISCOUNT)  # of tier and family too
    assert first.discount_sd == pytest.approx(resets.PRIOR_SD * np.sqrt(2))  # none of its own
    last = fit(known, start + 48).processes[spot, family]
    # One provider's two years with ends of such moves; in the second of them on demand was cut,
    # and what is left of it is counted against the price before: 30 % of 6 of 10.
    assert np.log(0.18) < last.usual_discount < resets.PRIOR_DISCOUNT / 2
    assert last.discount_sd < first.discount_sd


def test_what_a_reset_moves_is_no_small_move(series: pd.DataFrame) -> None:
    known = moves.find_moves(histories.observations(series))
    found = fit(known, int(known.levels.month.max()) + 1).processes[PriceKind.SPOT, "general"]
    assert found.shock_sd < resets.GENERAL_WIDENING * np.sqrt(12) * resets.RESET


def test_a_fit_sees_nothing_of_the_future(series: pd.DataFrame) -> None:
    known = moves.find_moves(histories.observations(series))
    before_the_cut = int(known.levels.month.min()) + 25
    past = known.levels[known.levels.month < before_the_cut]
    short = moves.find_moves(past)
    assert fit(known, before_the_cut).processes == fit(short, before_the_cut).processes


def test_a_family_held_out_is_not_seen(series: pd.DataFrame) -> None:
    known = moves.find_moves(histories.observations(series))
    last = int(known.levels.month.max()) + 1
    scopes = {scope for _, scope in fit(known, last, "h100").processes}
    assert scopes == {"general"}


@pytest.mark.sweep
def test_the_back_test_scores_every_move_of_a_year(series: pd.DataFrame) -> None:
    known = moves.find_moves(histories.observations(series))
    scores = backtest.rolling_origin(known)
    expected = known.lagged[known.lagged.lag.isin(backtest.SCORED_LAGS)]
    assert len(scores) == len(expected)
    assert scores.mass.between(0, 1).all()
    assert (scores.crps >= 0).all()


def test_a_folder_without_histories_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no price history"):
        read_folder(tmp_path)


def test_a_file_without_its_columns_is_named(tmp_path: Path) -> None:
    (tmp_path / "aws_od.csv").write_text("date,provider\n2024-01-01,aws\n")
    with pytest.raises(InvalidInput, match=r"aws_od\.csv"):
        read_folder(tmp_path)
