"""From a folder of price lists to parameters, on histories made for the purpose."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from planner.costing.price_processes.process import TABLE, PriceKind, Tier
from tools.price_processes import __main__ as command
from tools.price_processes import backtest, histories
from tools.price_processes import fit as fitting
from tools.price_processes.fit import fit, fit_parameters
from tools.price_processes.histories import find_moves, observations, read_family
from tools.price_processes.sources import read_folder

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


def test_every_row_is_accounted_for(folder: Path) -> None:
    outcomes = read_folder(folder).outcomes
    assert outcomes["aws_od.csv"] == {"rows": 96, "prices": 96}


def test_moves_know_discount_and_length(series: pd.DataFrame) -> None:
    lagged = find_moves(observations(series)).lagged
    year = lagged[(lagged.kind == "spot") & (lagged.lag == 12)]
    assert (year.months == 12).all()
    assert year.discount.iloc[0] == pytest.approx(np.log(0.8), abs=1e-3)
    assert year.move.min() == pytest.approx(np.log(0.3 / 0.8 * 0.6), abs=1e-3)


def test_parameters_follow_the_evidence(series: pd.DataFrame) -> None:
    found = fit_parameters(series, find_moves(observations(series)))
    cut = found[PriceKind.LIST, "family:h100:young"]
    assert 0.1 < cut.changes_per_year < 0.3
    assert 0.2 < cut.change_size < 0.51
    assert found[PriceKind.MARKET, "family:h100"].drift == pytest.approx(-0.22, abs=0.05)
    assert cut.source == "a/list"
    assert cut.fitted_to.isoformat() == "2023-12-31"


def test_where_spot_goes_is_told_by_prices_that_were_set_anew(series: pd.DataFrame) -> None:
    """From 80 to 30 % of on demand, in month 20, and with on demand from 10 to 6: the 28 months
    at 80 % and those at 30 % since tell of no other reset."""
    start = int(find_moves(observations(series)).levels.month.min())
    known = find_moves(observations(series))
    spot, family = PriceKind.SPOT, "family:h100"
    first = fit(known, start + 20)[spot, family]
    assert first.usual_discount == pytest.approx(fitting.PRIOR_DISCOUNT)
    assert first.discount_sd == pytest.approx(fitting.PRIOR_DISCOUNT_SD * np.sqrt(2))
    last = fit(known, start + 48)[spot, family]
    # One provider's two years with ends of such moves; in the second of them on demand was cut,
    # and what is left of it is counted against the price before: 30 % of 6 of 10.
    assert np.log(0.18) < last.usual_discount < fitting.PRIOR_DISCOUNT / 2
    assert last.discount_sd < first.discount_sd


@pytest.mark.sweep
def test_moves_by_days_are_predicted_from_what_was_seen_before(folder: Path) -> None:
    """On demand is cut once, spot with it and once alone: days on which all prices of a family at
    a provider move are one shock each."""
    table = read_folder(folder).table
    moves = backtest.day_moves(table[table.kind.isin(["list", "spot"])])
    year = moves[(moves.kind == "spot") & (moves.months == 12)]
    assert year.discount.iloc[0] == pytest.approx(np.log(0.8))
    assert year.move.min() == pytest.approx(np.log(0.3 / 0.8 * 0.6))
    assert moves.move[moves.kind == "list"].round(9).nunique() == 2
    known = find_moves(observations(histories.compact(table)))
    seldom = moves[moves.month % 4 == 0]  # each shock lies within six months of one of these
    found = backtest.summarize(backtest.score(seldom, known))
    shocks = found.set_index(["kind", "months"]).shocks
    assert shocks.to_dict() == {("list", 6): 1, ("list", 12): 1, ("spot", 6): 2, ("spot", 12): 2}
    assert found.held.between(0, 1).all()
    assert [backtest.chance_of_few(n) for n in (0, 2, 3)] == [(0, 1), (0, 1), (1 / 3, 1)]


def test_a_provider_that_steps_one_way_has_momentum(series: pd.DataFrame) -> None:
    """A tenth a month for two years, up in one region and down in the other."""
    spot = series[series.kind == "spot"].iloc[[0, 0]].assign(place=["up", "down"])
    spot["start"], spot["on_demand"] = "2022-01", ""
    spot["prices"] = [
        " ".join(f"{np.exp(sign * 0.1 * month):.6f}" for month in range(24)) for sign in (1, -1)
    ]
    known = find_moves(observations(spot.reset_index(drop=True)))
    end = int(known.levels.month.max()) + 1
    steps = fitting._steps(known.levels, end)["aws"]
    calm = fitting._steps(known.levels[known.levels.month < end - 23], end - 23)["general"]
    assert steps[0] > calm[0]
    assert steps[1] > 0.9


def test_a_fit_sees_nothing_of_the_future(series: pd.DataFrame) -> None:
    known = find_moves(observations(series))
    before_the_cut = int(known.levels.month.min()) + 25
    past = known.levels[known.levels.month < before_the_cut]
    short = find_moves(past)
    assert fit(known, before_the_cut) == fit(short, before_the_cut)


@pytest.mark.sweep
def test_the_parameters_that_come_along_are_the_fit_of_the_histories(tmp_path: Path) -> None:
    series = histories.read()
    assert (series["first"] <= series["last"]).all()
    fitting.write(fit_parameters(series, find_moves(observations(series))), tmp_path / "new.csv")
    assert (tmp_path / "new.csv").read_bytes() == TABLE.read_bytes()


def test_the_command_writes_both_tables(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([str(folder), "--out", str(tmp_path / "built")]) == 0
    assert (tmp_path / "built" / TABLE.name).read_text().startswith("kind,scope,")
    assert len(histories.read(tmp_path / "built" / histories.TABLE.name)) == 4
    assert "aws_od.csv: 96 rows, 96 prices used" in capsys.readouterr().out
    assert command.main([str(tmp_path / "built")]) == 2


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
