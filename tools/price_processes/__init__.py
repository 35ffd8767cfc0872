"""Fits the price processes: `python -m tools.price_processes FOLDER [--out FOLDER]`.

`sources` reads dated price lists, `histories` keeps them by month and finds their moves, `fit`
makes parameters of these, `backtest` predicts moves by days (`--test`); the back-test by
month-ends is `tests/bench/bench_prices.py`.
"""
