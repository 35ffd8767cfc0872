"""The generated pages of the documentation: path below docs/ → Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from docs_build.commands_reference import render_commands
from docs_build.components import render_licences
from docs_build.markdown_table import format_table
from docs_build.models_reference import render_models
from planner.api.views.documents import document
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.portfolio import PortfolioRequest
from planner.costing.assumptions.assumptions import all_defaults
from planner.costing.assumptions.reference_servers import all_servers
from planner.sizing.estimate import EstimateRequest

REQUESTS: tuple[type[BaseModel], ...] = (ComparisonRequest, EstimateRequest, PortfolioRequest)
ANSWERS: tuple[type[BaseModel], ...] = (ComparisonAnswer, EstimateAnswer, PortfolioAnswer)

_REQUEST = """# Request

What a comparison, an estimate or a portfolio takes, in JSON or TOML. The same models judge a
page's form, a file and an API call: unknown fields are refused by name, and every refusal names
its field. Months are written `YYYY-MM`, rates are fractions per year, and money is in the
request's `currency` unless the field's name says otherwise. For defaults that depend on
published figures see [Defaults](defaults.md); for examples see [Getting
started](../getting-started.md)."""
_ANSWER = """# Answer

What a comparison, an estimate or a portfolio gives. The command line (`--json`), the API and
the JSON export give the same object. Money is text in decimal notation, in the answer's
`currency`; months count from `start`."""
_COMMANDS = """# Commands

`manage.py` is for operators of a server, run as `.venv/bin/python manage.py COMMAND`;
`gpu-cost-planner` answers questions, [without Django and
database](../guides/command-line.md). `--help` prints the same."""
_TARGETS = """# Make targets

Each target installs what it needs first."""
_DEFAULTS = """# Defaults

Figures that a comparison uses where neither the request nor the team gives one. Read from
`planner/costing/assumptions/defaults.csv`; the answer lists each one it used."""
_SERVERS = """# Reference servers

Servers that `on_prem.servers` takes by slug. Read from
`planner/costing/assumptions/reference_servers.csv`, which also holds the range of prices seen,
idle power, sources and notes."""
_LICENCES = """# Licences

What an installation of the server holds beside the program itself, as the lock files pin it, with
the licence that each package states. `make sbom` writes bills of materials
([Supply chain](../operations/install.md#supply-chain))."""
_API = """# API

Every operation of the REST API. `/api/v1/docs/` of a running server is the interactive page,
`/api/v1/schema/` the OpenAPI 3.1 document with every field. [Use the API](../guides/api.md)
explains the conventions."""


def render_pages() -> dict[str, str]:
    """Every generated page."""
    bodies = {
        "request": (_REQUEST, render_models(REQUESTS, "validation")),
        "answer": (_ANSWER, render_models(ANSWERS, "serialization")),
        "commands": (_COMMANDS, render_commands()),
        "make": (_TARGETS, render_targets()),
        "api": (_API, render_operations()),
        "defaults": (_DEFAULTS, render_defaults()),
        "servers": (_SERVERS, render_servers()),
        "licences": (_LICENCES, render_licences()),
    }
    return {f"reference/{name}.md": "\n\n".join(parts) + "\n" for name, parts in bodies.items()}


METHODS = ("get", "post", "put", "patch", "delete")


def render_operations() -> str:
    """A table of operations for each first part of the address."""
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for row in _operations():
        first = row[0].strip("`").split("/api/v1/")[-1].split("/")[0]
        groups.setdefault(first, []).append(row)
    return "\n\n".join(
        f"## {group}\n\n{format_table(('operation', 'what it does', 'parameters'), rows)}"
        for group, rows in sorted(groups.items())
    )


def _operations() -> Iterator[tuple[str, str, str]]:
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                operation = item[method]
                text = operation.get("summary") or operation.get("description", "")
                names = (
                    one["name"]
                    for one in operation.get("parameters", ())
                    if one["in"] in ("query", "header")
                )
                yield (
                    f"`{method.upper()} {path}`",
                    text.split("\n\n")[0],
                    ", ".join(f"`{name}`" for name in sorted(names)),
                )


def render_defaults() -> str:
    """Every default of a comparison with its range and source."""
    rows = (
        (
            f"`{name}`",
            f"{one.value:,.10g}",
            f"{one.low:,.10g} to {one.high:,.10g}",
            one.unit,
            str(one.year),
            f"{'assumed; ' if one.assumed else ''}{one.source}",
        )
        for name, one in all_defaults().items()
    )
    return format_table(("field", "default", "range", "unit", "year", "source"), rows)


def render_servers() -> str:
    """Every reference server with its price and power."""
    rows = (
        (
            f"`{one.slug}`",
            one.name,
            f"{one.accelerator_count} × `{one.accelerator}`",
            f"{one.unit_price_usd:,.0f} ({one.price_year})",
            f"{one.power_kw:g}",
            "yes" if one.on_sale else "no",
        )
        for one in all_servers()
    )
    return format_table(("slug", "server", "accelerators", "USD", "kW", "on sale"), rows)


MAKEFILE = Path(__file__).parent.parent / "Makefile"
_TARGET = re.compile(r"^([a-z][a-z-]*):[^#\n]*?(?:## *(.*))?$", re.MULTILINE)
_VARIABLE = re.compile(r"^([A-Z_]+) \?= (.*)$", re.MULTILINE)


def read_targets(makefile: str | None = None) -> dict[str, str]:
    """target → what it does; empty where the Makefile does not say."""
    text = MAKEFILE.read_text() if makefile is None else makefile
    return {target: meaning or "" for target, meaning in _TARGET.findall(text)}


def read_make_variables() -> dict[str, str]:
    """Variables that the command line may set → their defaults."""
    return dict(_VARIABLE.findall(MAKEFILE.read_text()))


def render_targets() -> str:
    """The tables of the reference page."""
    targets = ((f"`make {name}`", meaning) for name, meaning in read_targets().items() if meaning)
    variables = ((f"`{name}`", f"`{value}`") for name, value in read_make_variables().items())
    return "\n\n".join(
        [
            format_table(("target", "what it does"), targets),
            "`ARGS` passes arguments on: `make test ARGS=tests/planner/api`, "
            '`make bench ARGS="compare risk"`. Other variables, such as `make run PORT=8001`:',
            format_table(("variable", "default"), variables),
        ]
    )
