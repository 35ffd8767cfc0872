"""A real Chromium for tests: found on the machine, or Playwright's own."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from playwright.sync_api import Browser, Page, Playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
AXE = Path(settings.NODE_MODULES) / "axe-core/axe.min.js"
PHONE, DESK = 390, 1440


def launch(playwright: Playwright) -> Browser:
    """Debian's Chromium if there is one, else the one that Playwright installed."""
    found = shutil.which("chromium") or shutil.which("google-chrome")
    return playwright.chromium.launch(executable_path=found, args=FLAGS)


@dataclass
class Visit:
    """A page open in the browser, with everything it complained about."""

    page: Page
    base: str
    problems: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path, wait_until="load")
        return self.page

    def overflow(self) -> int:
        """Pixels by which the page is wider than the window."""
        wide: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return wide

    def violations(self, *rules: str) -> list[str]:
        """What axe finds wrong, one line each; by these rules alone where some are named."""
        if not self.page.evaluate("Boolean(window.axe)"):
            self.page.evaluate(_axe())
        only = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
        asked = only | {"resultTypes": ["violations"]}
        found: dict[str, Any] = self.page.evaluate("asked => axe.run(asked)", asked)
        return [
            f"{one['id']}: {node['html'][:160]} ({node['failureSummary'][:200]})"
            for one in found["violations"]
            for node in one["nodes"][:3]
        ]


@cache
def _axe() -> str:
    return AXE.read_text()


@contextmanager
def visit(
    browser: Browser,
    base: str,
    *,
    width: int = DESK,
    theme: str = "light",
    scripts: bool = True,
    cookies: list[dict[str, Any]] | None = None,
) -> Iterator[Visit]:
    """A fresh context: its own cookies, a window of `width`, with or without JavaScript."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        java_script_enabled=scripts,
        bypass_csp=False,
        reduced_motion="reduce",
    )
    chosen = [{"name": "theme", "value": theme, "url": base}] if theme else []
    context.add_cookies([*chosen, *(cookies or [])])  # type: ignore[list-item]
    here = Visit(context.new_page(), base)
    here.page.on(
        "console",
        lambda message: (
            here.problems.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    here.page.add_init_script(
        "document.addEventListener('securitypolicyviolation', e =>"
        " console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`))"
    )
    here.page.on("pageerror", lambda error: here.problems.append(str(error)))
    here.page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((base, "data:", "blob:"))
            else here.problems.append(f"third party: {request.url}")
        ),
    )
    try:
        yield here
    finally:
        context.close()
