"""Where the files of the pages are, and where what the server writes goes.

In a checkout both are its root. An installed wheel has the files of the pages in `planner/site`;
its database and collected files are kept in the user's data folder.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent
IS_INSTALLED = (_PACKAGE / "site").is_dir()
"""Whether this is a wheel's package rather than a checkout."""
BASE_DIR = _PACKAGE / "site" if IS_INSTALLED else _CHECKOUT
"""Holds templates, static, docs and node_modules."""


def find_data_dir(environment: dict[str, str] | os._Environ[str], *, is_installed: bool) -> Path:
    """Folder of the database and of what is collected.

    >>> find_data_dir({"XDG_DATA_HOME": "/data"}, is_installed=True).as_posix()
    '/data/gpu-cost-planner'
    """
    if not is_installed:
        return _CHECKOUT
    home = environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "gpu-cost-planner"


DATA_DIR = find_data_dir(os.environ, is_installed=IS_INSTALLED)
