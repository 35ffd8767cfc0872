"""Building a catalog: every row accounted for, files that read back, the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pricing.bundled import catalog
from pricing.common.invalid_input import InvalidInput
from tests.pricing.bundled.price_lists import PriceLists, made, price
from tools.bundle.__main__ import main
from tools.bundle.build import build, write
from tools.bundle.rows import Row, RowAudit


@pytest.fixture
def lists(tmp_path: Path) -> PriceLists:
    return PriceLists(tmp_path)


def test_every_row_read_has_one_outcome(lists: PriceLists) -> None:
    lists.prices(price("aws", "us-east-1", "p2.xlarge", "0.9"))
    audit = made(lists).audit
    assert sum(audit.totals().values()) == sum(audit.rows_read.values())


def test_an_account_that_does_not_balance_is_refused() -> None:
    audit = RowAudit()
    audit.count_read(Row("a.csv", 2, {}))
    with pytest.raises(ValueError, match=r"differ: \{'a\.csv': \(1, 0\)\}"):
        audit.check_complete()


def test_a_missing_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"gcp_machine_type_region_availability\.csv is missing"):
        build(tmp_path)


def test_the_tool_writes_files_that_read_back(lists: PriceLists, tmp_path: Path) -> None:
    lists.prices(price("aws", "us-east-1", "p5.48xlarge", "55.04"))
    out = tmp_path / "out"
    assert main([str(lists.write()), "--out", str(out)]) == 0
    report = json.loads((out / catalog.REPORT).read_text())
    assert report["providers"]["aws"]["offers"] == 1
    assert catalog.read_regions(out)["aws", "us-east-1"].country == "US"
    assert [rate.currency for rate in catalog.read_exchange_rates(out)] == ["CNY"]


def test_the_same_lists_give_the_same_bytes(lists: PriceLists, tmp_path: Path) -> None:
    bundle = made(lists.prices(price("aws", "us-east-1", "p5.48xlarge", "55.04")))
    for name in ("one", "two"):
        write(bundle, tmp_path / name)
    first, second = (
        {p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two")
    )
    assert first == second


def test_the_tool_refuses_a_folder_without_lists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert "is missing" in capsys.readouterr().err
