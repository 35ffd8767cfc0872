#!/usr/bin/env python
"""Django's command line for the planner."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as refusal:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"The settings cannot be used: {refusal}")


if __name__ == "__main__":
    main()
