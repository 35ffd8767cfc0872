"""`make bench`: runs every bench_*.py beside this file, each in a process of its own.

`--short` takes the short forms, whose holds are printed and not judged; a name or several
limit the run: `make bench ARGS="plan publish"`.
"""

import argparse
import importlib
import os
import subprocess
import sys
from pathlib import Path

from tests.bench.row import Row

HERE = Path(__file__).parent
MISSED = 10
"""Exit status of a bench that ran and missed a hold; any other but 0 is a failure."""


def names() -> list[str]:
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def run_one(name: str) -> int:
    """Runs one bench in this process; `MISSED` where a hold is not kept."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
    import django

    django.setup()
    rows: list[Row] = importlib.import_module(f"tests.bench.bench_{name}").bench()
    for row in rows:
        mark = "ok  " if row.ok else "MISS"
        print(
            f"{mark} {row.name:<58} {row.ours:>12,.3f} {row.unit:<8} floor {row.floor:>12,.3f}"
            f"  ratio {row.ratio:>8,.2f}  hold {row.hold}"
        )
    return 0 if all(row.ok for row in rows) else MISSED


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*names(), []], default=[])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--here", action="store_true", help="run in this process")
    asked = parser.parse_args()
    if asked.here:
        return max(run_one(name) for name in asked.names)
    if asked.short:
        os.environ["BENCH_SHORT"] = "1"
    missed = False
    for name in asked.names or names():
        print(f"== {name}", flush=True)
        done = subprocess.run([sys.executable, "-m", "tests.bench", "--here", name], check=False)
        if done.returncode not in (0, MISSED):
            return 2
        missed |= done.returncode == MISSED
    return int(missed and not asked.short)


if __name__ == "__main__":
    sys.exit(main())
