"""`manage.py build_catalog FOLDER`: rebuild the catalog that comes with the program."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from pricing.bundled import files
from pricing.bundled.build import Bundle, build, report
from pricing.common.invalid_input import InvalidInput


class Command(BaseCommand):
    help = "Build the bundled catalog from a folder of price lists; accounts for every row."
    requires_system_checks = []  # noqa: RUF012

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="folder with data/prices, data/specs, …")
        parser.add_argument("--out", type=Path, default=files.FOLDER, help="where to write")

    def handle(self, *args: Any, folder: Path, out: Path, **options: Any) -> None:
        try:
            bundle = build(folder)
        except InvalidInput as refused:
            raise CommandError(str(refused), returncode=2) from None
        files.write(bundle, out)
        self._print(bundle)
        self.stdout.write(f"written to {out}")

    def _print(self, bundle: Bundle) -> None:
        whole = report(bundle)
        for file, part in bundle.account.report().items():
            self.stdout.write(f"{file}: {part['rows']} rows")
            outcomes: Any = part["outcomes"]
            for outcome, found in outcomes.items():
                self.stdout.write(f"  {found['count']:>6} {outcome}")
        self.stdout.write(f"{whole['input_rows']} rows accounted for")
        providers: Any = whole["providers"]
        for name, found in providers.items():
            self.stdout.write(f"{name}: {found['offers']} offers, {found['sold_now']} sold now")
        self.stdout.write(f"{whole['past_prices']} past prices, {whole['regions']} regions")
