"""`manage.py load_catalog`: put the catalog that comes with the program into the database."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from pricing.bundled import catalog
from pricing.bundled.load import load, load_latest, load_other_clouds
from pricing.bundled.package import PACKAGE, find_prices
from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import ProviderUnavailable
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Publish the bundled catalog; a second call changes nothing."
    requires_system_checks = []  # noqa: RUF012

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "folder", nargs="?", type=Path, default=catalog.FOLDER, help="of another catalog"
        )
        parser.add_argument(
            "--latest",
            nargs="?",
            const=PACKAGE,
            metavar="FILE",
            help="then newer prices too: of a Parquet file that `prices export` wrote, or without "
            f"one of the package {PACKAGE} (pip install --upgrade {PACKAGE})",
        )
        parser.add_argument("--force", action="store_true", help="publish it over newer prices")
        parser.add_argument(
            "--other-clouds",
            action=BooleanOptionalAction,
            default=True,
            help="also the dated list prices of clouds that have no adapter: for the market, and "
            "for a plan where other clouds are ticked",
        )

    def handle(
        self,
        *args: Any,
        folder: Path,
        force: bool,
        other_clouds: bool,
        latest: str | None = None,
        **options: Any,
    ) -> None:
        try:
            newer = latest and find_prices(latest)
            parts = load(folder, force=force)
            if other_clouds:
                parts += load_other_clouds(folder, force=force)
            if newer:
                parts += load_latest(newer, force=force)
        except ProviderUnavailable as error:
            raise CommandError(str(error)) from None
        except (InvalidInput, FileNotFoundError) as error:
            raise CommandError(str(error), returncode=2) from None
        for part in parts:
            status = "loaded" if part.changed else "unchanged"
            note = f" ({part.note})" if part.note else ""
            self.stdout.write(f"{part.part}: {part.count} {status}{note}")
