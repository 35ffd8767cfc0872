"""What a person reads on a page."""

from __future__ import annotations

import html
from typing import Any


def text(answer: Any) -> str:
    """The page with entities read and no-break spaces as plain ones."""
    return html.unescape(answer.content.decode()).replace("\u00a0", " ")
