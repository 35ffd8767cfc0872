"""What a wheel holds beside the packages: the files that `gpu-cost-planner serve` makes pages from.

Templates, style sheets, scripts and the methodology go along always; the front-end packages where
npm has brought them (`make .make/npm`), else `serve` says that they are missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SITE = "planner/site"
ALWAYS = ("templates", "static")
FRONT_END = (
    *("@tabler/core/dist/css/tabler.min.css", "@tabler/core/dist/css/tabler.min.css.map"),
    "htmx.org/dist/htmx.min.js",
    *("dejavu-fonts-ttf/ttf/DejaVuSans.ttf", "dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf"),
    *("htmx.org/LICENSE", "dejavu-fonts-ttf/LICENSE"),
)


class SiteFiles(BuildHookInterface[Any]):
    """Adds the files of the pages to a wheel; an editable install reads them where they are."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        root = Path(self.root)
        packages = [f"node_modules/{name}" for name in FRONT_END]
        for name in (*ALWAYS, *packages):
            if (root / name).exists():
                build_data["force_include"][str(root / name)] = f"{SITE}/{name}"
