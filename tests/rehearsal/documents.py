"""The commands of a page of the documentation, in their order."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/operations/install.md"
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_NEEDS_NETWORK = ("apt-get", "deploy/install")


def read_blocks(section: str) -> list[str]:
    """What a reader of this section types, block by block."""
    text = PAGE.read_text()
    start = text.index(f"\n## {section}\n")
    end = text.find("\n## ", start + 4)
    return _BLOCK.findall(text[start:end])


def split_by_network(blocks: list[str]) -> tuple[list[str], list[str]]:
    """Blocks that download, which are the first, and the others."""
    downloads = [block for block in blocks if any(word in block for word in _NEEDS_NETWORK)]
    return downloads, blocks[len(downloads) :]
