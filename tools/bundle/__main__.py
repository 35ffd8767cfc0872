"""`python -m tools.bundle FOLDER`: rebuild the bundled catalog; prints what became of each row."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pricing.bundled.catalog import FOLDER
from pricing.common.invalid_input import InvalidInput
from tools.bundle.build import build, build_report, write


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bundle", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with data/prices, data/specs, …")
    parser.add_argument("--out", type=Path, default=FOLDER, help="where to write")
    options = parser.parse_args(arguments)
    try:
        bundle = build(options.folder)
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return 2
    write(bundle, options.out)
    report: dict[str, Any] = build_report(bundle)
    for file, part in report["files"].items():
        print(f"{file}: {part['rows']} rows")
        for outcome, counts in part["outcomes"].items():
            print(f"  {counts['count']:>6} {outcome}")
    print(f"{report['input_rows']} rows recorded")
    for name, counts in report["providers"].items():
        print(f"{name}: {counts['offers']} offers, {counts['sold_now']} sold now")
    print(f"{report['past_prices']} past prices, {report['regions']} regions, in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
