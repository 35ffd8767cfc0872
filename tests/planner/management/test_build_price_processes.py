"""`manage.py build_price_processes`: writes the tables, or only judges."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from planner.costing.price_processes import table
from planner.costing.price_processes.fitting import histories
from planner.costing.price_processes.fitting.sources import read_folder
from tests.planner.costing.price_processes.test_fitting import folder

__all__ = ["folder"]


def test_it_writes_parameters_and_histories(folder: Path, tmp_path: Path) -> None:
    out = StringIO()
    call_command("build_price_processes", folder, out=tmp_path / "built", stdout=out)
    assert (tmp_path / "built" / table.TABLE.name).read_text().startswith("kind,scope,")
    assert len(histories.read(tmp_path / "built" / histories.TABLE.name)) == 4
    assert "aws_od.csv: 96 rows, 96 prices used" in out.getvalue()


@pytest.mark.sweep
def test_a_check_judges_unseen_prices_and_writes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = table.TABLE.read_bytes()
    known = histories.compact(read_folder(folder).table)
    monkeypatch.setattr(histories, "read", lambda: known[known.kind == "list"])
    out = StringIO()
    call_command("build_price_processes", folder, check=True, stdout=out)
    assert "h100" in out.getvalue()
    assert table.TABLE.read_bytes() == before


def test_a_folder_without_prices_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no price history"):
        call_command("build_price_processes", tmp_path)
