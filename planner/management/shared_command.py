"""Commands that `manage.py` shares with `gpu-cost-planner`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any, ClassVar

from django.core.management.base import BaseCommand

from planner.commands.command import Command
from pricing import catalog


class SharedCommand(BaseCommand):
    """Runs a command at the published prices. A refusal is `field: message` and exit status 2."""

    shared: ClassVar[Command]
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        self.shared.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        status = self.shared.run(options, catalog.current, self.stdout.write, self.stderr.write)
        if status:
            sys.exit(status)
