"""Record dated prices from before the first revision: `manage.py import_history FILE`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from pricing.common.invalid_input import InvalidInput
from pricing.management.database_command import DatabaseCommand
from pricing.publish import history


class Command(DatabaseCommand):
    help = (
        "Put the dated prices of a CSV file (columns of pricing.market.offer_rows, plain or "
        ".gz, .xz, .zst) in the place of each provider's history. `as_of` is the day a price began."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="CSV of dated prices")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            counts = history.load(options["file"])
        except InvalidInput as error:
            raise CommandError(str(error), returncode=2) from None
        for provider, count in counts.items():
            self.stdout.write(f"{provider}: {count:,} dated prices")
