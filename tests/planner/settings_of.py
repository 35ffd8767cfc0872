"""The settings that an environment gives, read in this process: another takes seconds to start."""

import os
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from django.conf import settings
from django.test import override_settings

OF_THE_PROCESS = {"CACHES", "DATABASES", "INSTALLED_APPS", "LOGGING"}
"""Read once, when a process starts."""


@contextmanager
def environment_of(**variables: str) -> Iterator[None]:
    """These variables alone, and what `planner/settings.py` says under them."""
    with mock.patch.dict(os.environ, variables, clear=True):
        read = runpy.run_path(str(settings.BASE_DIR / "planner" / "settings.py"))
        changed = {
            name: value
            for name, value in read.items()
            if name.isupper()
            and name not in OF_THE_PROCESS
            and value != getattr(settings, name, None)
        }
        with override_settings(**changed):
            yield
