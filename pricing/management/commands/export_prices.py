"""Write every price with the days on which it held: `manage.py export_prices FILE`."""

from __future__ import annotations

import datetime as dt
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from pricing.common.invalid_input import InvalidInput, check_known_day
from pricing.common.pluralize import pluralize
from pricing.management.database_command import DatabaseCommand
from pricing.publish.history import write_prices


class Command(DatabaseCommand):
    help = (
        "Write prices to a Parquet file for notebooks: one row for each offer and price, with the "
        "days from which and until which it held. `--on DAY` gives the list of that day alone."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="Parquet file to write")
        parser.add_argument(
            "--provider", action="append", default=[], metavar="P", help="only this; repeatable"
        )
        parser.add_argument("--on", metavar="DAY", help="only the list in force on it, 2026-10-31")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            day = _parse_day(options["on"]) if options["on"] else None
            count = write_prices(options["file"], options["provider"], day)
        except InvalidInput as error:
            raise CommandError(str(error), returncode=2) from None
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be written: {error.strerror}") from None
        self.stdout.write(f"{options['file']}: {pluralize(count, 'price')}")


def _parse_day(text: str) -> dt.date:
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        raise InvalidInput("--on", f"{text[:40]!r} is not a day such as 2026-10-31") from None
    check_known_day("--on", day, timezone.now().date())
    return day
