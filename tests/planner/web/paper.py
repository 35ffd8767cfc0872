"""What stands on a printed page."""

import re
from io import BytesIO

from pypdf import PdfReader


def read_paper(paper: bytes) -> tuple[list[str], str]:
    """The text of each page, and all of it with white space collapsed."""
    pages = [page.extract_text() for page in PdfReader(BytesIO(paper)).pages]
    return pages, re.sub(r"\s+", " ", " ".join(pages))
