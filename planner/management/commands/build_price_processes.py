"""`manage.py build_price_processes FOLDER`: fit the price processes anew."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from pricing.common.invalid_input import InvalidInput


class Command(BaseCommand):
    help = (
        "Fit the price processes on a folder of dated price histories. With --check nothing is "
        "written: the processes that come with the program are judged on the folder's prices "
        "that they were not fitted on."
    )
    requires_system_checks = []  # noqa: RUF012

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="folder with CSV files of dated prices")
        parser.add_argument("--check", action="store_true", help="judge only, write nothing")
        parser.add_argument("--out", type=Path, default=None, help="where to write")

    def handle(self, *args: Any, folder: Path, check: bool, out: Path | None, **_: Any) -> None:
        from planner.costing.price_processes.fitting import histories, sources

        try:
            prices = sources.read_folder(folder)
        except InvalidInput as refused:
            raise CommandError(str(refused), returncode=2) from None
        for file, counts in prices.outcomes.items():
            self.stdout.write(f"{file}: {counts['rows']} rows, {counts['prices']} prices used")
        series = histories.compact(prices.table)
        if check:
            self._check(series)
        else:
            self._build(series, out)

    def _check(self, series: Any) -> None:
        from planner.costing.price_processes.fitting import backtest, histories, moves, report

        known = moves.find_moves(histories.observations(histories.read()))
        new = backtest.unseen(known, moves.find_moves(histories.observations(series)))
        for by in ("family", "tier"):
            for line in report.lines(backtest.score(new, backtest.fits_on(known)), by, least=1):
                self.stdout.write(line)

    def _build(self, series: Any, out: Path | None) -> None:
        from planner.costing.price_processes import table
        from planner.costing.price_processes.fitting import histories, moves, parameters

        price_moves = moves.find_moves(histories.observations(series))
        processes = parameters.fit_parameters(series, price_moves)
        target = out or table.TABLE.parent
        target.mkdir(parents=True, exist_ok=True)
        histories.write(series, target / histories.TABLE.name)
        table.write(processes, target / table.TABLE.name)
        self.stdout.write(f"{len(series)} series, {len(processes)} processes written to {target}")
