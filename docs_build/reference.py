"""The generated pages of the documentation: path below docs/ → Markdown."""

from __future__ import annotations

from pydantic import BaseModel

from docs_build.api_reference import render_operations
from docs_build.commands_reference import render_commands
from docs_build.components import render_licences
from docs_build.data_reference import render_defaults, render_servers
from docs_build.models_reference import render_models
from docs_build.settings_reference import render_settings
from docs_build.targets_reference import render_targets
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.estimate import EstimateAnswer
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.portfolio import PortfolioRequest
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
_SETTINGS = """# Settings

Environment variables decide what differs between machines; `planner/settings.py` reads them
once, at the start. A value that cannot be read stops the start. Variables of the providers
(credentials, price lists) are described with each [provider](../providers/index.md)."""
_COMMANDS = """# Commands

Run as `.venv/bin/python manage.py COMMAND`; `compare`, `estimate`, `calibrate`, `portfolio` and
`prices` also as `gpu-cost-planner COMMAND`, [without Django and
database](../guides/command-line.md). The last sections are of commands that only
`gpu-cost-planner` has. `--help` prints the same."""
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
the licence that each package states. `make sbom` writes the same as a bill of materials
([Supply chain](../operations/supply-chain.md))."""
_API = """# API

Every operation of the REST API. `/api/v1/docs/` of a running server is the interactive page,
`/api/v1/schema/` the OpenAPI 3.1 document with every field. [Use the API](../guides/api.md)
explains the conventions."""


def render_pages() -> dict[str, str]:
    """Every generated page."""
    bodies = {
        "request": (_REQUEST, render_models(REQUESTS, "validation")),
        "answer": (_ANSWER, render_models(ANSWERS, "serialization")),
        "settings": (_SETTINGS, render_settings()),
        "commands": (_COMMANDS, render_commands()),
        "make": (_TARGETS, render_targets()),
        "api": (_API, render_operations()),
        "defaults": (_DEFAULTS, render_defaults()),
        "servers": (_SERVERS, render_servers()),
        "licences": (_LICENCES, render_licences()),
    }
    return {f"reference/{name}.md": "\n\n".join(parts) + "\n" for name, parts in bodies.items()}
