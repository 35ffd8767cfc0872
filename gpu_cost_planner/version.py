"""Which version of the planner this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def read_version() -> str:
    try:
        return version("gpu-cost-planner")
    except PackageNotFoundError:
        return "not installed: run from the repository"
