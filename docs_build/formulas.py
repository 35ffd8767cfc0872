"""A Markdown extension for formulas: LaTeX in the source, MathML in the page, no script.

Shared by the Method page and the documentation site. A block stands between two lines of `$$`,
a symbol in a sentence between $` and `$; GitHub shows both forms too.
"""

from __future__ import annotations

import re

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

_BLOCK = re.compile(r"^\$\$\n(.+?)\n\$\$$", re.MULTILINE | re.DOTALL)
_INLINE = r"\$`([^`]+)`\$"


def render_formula(latex: str, display: str = "inline") -> str:
    """MathML of a formula."""
    return str(convert(latex, display=display))


class _Blocks(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return _BLOCK.sub(self._stash, "\n".join(lines)).split("\n")

    def _stash(self, match: re.Match[str]) -> str:
        formula = render_formula(match[1], "block")
        return self.md.htmlStash.store(f'<div class="formula" tabindex="0">{formula}</div>')


class _Inline(InlineProcessor):
    def handleMatch(  # type: ignore[override]  # noqa: N802 - the name is Markdown's
        self, match: re.Match[str], _data: str
    ) -> tuple[str, int, int]:
        return self.md.htmlStash.store(render_formula(match[1])), match.start(0), match.end(0)


class Formulas(Extension):
    """Blocks are taken out after fenced code (25), symbols before inline code (190)."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name is Markdown's
        md.preprocessors.register(_Blocks(md), "formula_blocks", 24)
        md.inlinePatterns.register(_Inline(_INLINE, md), "formula_symbols", 195)


def makeExtension(**options: object) -> Formulas:  # noqa: N802 - the name is Markdown's
    """The entry point that Markdown looks for."""
    return Formulas(**options)
