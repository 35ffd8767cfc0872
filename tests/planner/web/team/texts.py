"""What a person reads on a page."""

import html
import re
from typing import Any


def text(answer: Any) -> str:
    """The page with entities read and every white space as one plain blank."""
    return re.sub(r"\s+", " ", html.unescape(answer.content.decode()))
