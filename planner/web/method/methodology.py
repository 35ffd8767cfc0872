"""The pages of `docs/methodology` as HTML for the Method page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

from django.conf import settings
from django.utils.text import slugify
from markdown import Markdown

from planner.web.method.formulas import Formulas
from planner.web.method.tables import name_columns

ORDER = (
    "index",
    "sizing",
    "memory",
    "goodput",
    "demand",
    "costing",
    "plan",
    "portfolio",
    "break-even",
    "risk",
    "energy",
)
"""Pages in reading order, by file name."""
_LINK = re.compile(r"\]\((?:methodology/)?([a-z-]+)\.md(?:#[a-z0-9-]+)?\)")
_TABLE = re.compile(r"<table>(.*?)</table>", re.DOTALL)


@dataclass(frozen=True)
class Section:
    """One page of the methodology; `html` comes from a file of the repository."""

    slug: str
    title: str
    html: str


@cache
def read_sections() -> tuple[Section, ...]:
    """Every page of the methodology, read once per process."""
    folder = Path(settings.BASE_DIR) / "docs" / "methodology"
    return tuple(render_section(name, (folder / f"{name}.md").read_text()) for name in ORDER)


def render_section(name: str, text: str) -> Section:
    """A page whose first line is its title, with links between pages as anchors.

    >>> render_section("risk", "# Risk\\n\\nSee [costs](costing.md#tax).")
    Section(slug='risk', title='Risk', html='<p>See <a href="#costing">costs</a>.</p>')
    """
    title, _, body = text.partition("\n")
    title = title.removeprefix("# ").strip()
    html = _markdown(name).convert(_LINK.sub(r"](#\1)", body.strip()))
    number = count(1)
    return Section(name, title, _TABLE.sub(lambda m: _scroll(m[1], title, next(number)), html))


def _markdown(name: str) -> Markdown:
    toc = {"baselevel": 2, "slugify": lambda text, _: f"{name}-{slugify(text)}"}
    return Markdown(
        extensions=["tables", "fenced_code", "toc", Formulas()], extension_configs={"toc": toc}
    )


def _scroll(rows: str, title: str, number: int) -> str:
    """A table that is read downwards where the window is narrow; each label is unique."""
    named, columns = name_columns(rows)
    css = "stacked short" if columns > 2 else "stacked"
    return (
        f'<div class="table-responsive" tabindex="0" role="region" aria-label="{title}, table '
        f'{number}"><table class="table table-sm wide-heads {css}">{named}</table></div>'
    )
