"""The reference of make targets, from the `##` comments of the Makefile."""

from __future__ import annotations

import re
from pathlib import Path

from docs_build.markdown_table import format_table

MAKEFILE = Path(__file__).parent.parent / "Makefile"
_TARGET = re.compile(r"^([a-z][a-z-]*):[^#\n]*?(?:## *(.*))?$", re.MULTILINE)
_VARIABLE = re.compile(r"^([A-Z_]+) \?= (.*)$", re.MULTILINE)


def read_targets(makefile: str | None = None) -> dict[str, str]:
    """target → what it does; empty where the Makefile does not say.

    >>> read_targets("run: a b ## Serve it\\nlint:\\n\\tx\\n")
    {'run': 'Serve it', 'lint': ''}
    """
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
