#!/usr/bin/env python
"""Django's command line for the planner."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db.utils import OperationalError, ProgrammingError

    try:
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, OperationalError, ProgrammingError) as failure:
        if "--traceback" in sys.argv:
            raise
        if isinstance(failure, ImproperlyConfigured):
            sys.exit(f"The settings cannot be used: {failure}")
        from pricing.management.database_command import describe_database_error

        sys.exit(describe_database_error(failure))


if __name__ == "__main__":
    main()
