"""`python -m tools.price_processes FOLDER`: fit the price processes anew."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from planner.costing.price_processes.process import TABLE
from pricing.common.invalid_input import InvalidInput
from tools.price_processes import backtest, fit, histories, sources


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.price_processes", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with CSV files of dated prices")
    parser.add_argument("--out", type=Path, default=None, help="where to write both tables")
    parser.add_argument("--test", action="store_true", help="back-test by days, write nothing")
    options = parser.parse_args(arguments)
    try:
        prices = sources.read_folder(options.folder)
    except InvalidInput as refused:
        print(refused, file=sys.stderr)
        return 2
    for file, counts in prices.outcomes.items():
        print(f"{file}: {counts['rows']} rows, {counts['prices']} prices used")
    series = histories.compact(prices.table)
    moves = histories.find_moves(histories.observations(series))
    if options.test:
        scored = backtest.score(backtest.day_moves(prices.table[prices.table.fitted]), moves)
        print(backtest.summarize(scored).round(2).to_string(index=False))
        return 0
    processes = fit.fit_parameters(series, moves)
    parameters, months = TABLE, histories.TABLE
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        parameters, months = options.out / parameters.name, options.out / months.name
    histories.write(series, months)
    fit.write(processes, parameters)
    print(f"{len(series)} series, {len(processes)} processes written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
