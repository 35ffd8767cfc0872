"""`manage.py build_catalog FOLDER`: rebuild the catalog that comes with the program."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from pricing.bundled import files, write_files
from pricing.bundled.build import Bundle, build, build_report
from pricing.common.invalid_input import InvalidInput


class Command(BaseCommand):
    help = "Build the bundled catalog from a folder of price lists; records every row."
    requires_system_checks = []  # noqa: RUF012

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="folder with data/prices, data/specs, …")
        parser.add_argument("--out", type=Path, default=files.FOLDER, help="where to write")

    def handle(self, *args: Any, folder: Path, out: Path, **options: Any) -> None:
        try:
            bundle = build(folder)
        except InvalidInput as error:
            raise CommandError(str(error), returncode=2) from None
        write_files.write(bundle, out)
        self._print(bundle)
        self.stdout.write(f"written to {out}")

    def _print(self, bundle: Bundle) -> None:
        totals = build_report(bundle)
        for file, part in bundle.audit.report().items():
            self.stdout.write(f"{file}: {part['rows']} rows")
            outcomes: Any = part["outcomes"]
            for outcome, counts in outcomes.items():
                self.stdout.write(f"  {counts['count']:>6} {outcome}")
        self.stdout.write(f"{totals['input_rows']} rows recorded")
        providers: Any = totals["providers"]
        for name, counts in providers.items():
            self.stdout.write(f"{name}: {counts['offers']} offers, {counts['sold_now']} sold now")
        self.stdout.write(f"{totals['past_prices']} past prices, {totals['regions']} regions")
