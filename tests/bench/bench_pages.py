"""The pages in a real Chromium on the bundled catalog: paint, weight, layout shift, an edit.

Served by gunicorn as `make run` does, with DEBUG off, so that files come compressed and with
their far expiry. The floor of each page is the barest one in the same
layout: that nothing is there.
"""

import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, Response, sync_playwright

from tests.bench.row import SHORT, Row
from tests.bench.site.served import serve, unlimited
from tests.planner.web.browser import launch

PLAN = (
    "/plan/?workload.kind=accelerator_hours&workload.accelerator=nvidia-h100-80gb-sxm"
    "&workload.hours_per_month=5840&horizon_months=36&risk.samples=10000"
)
PAGES = {
    "start": "/",
    "plan form": "/plan/",
    "answer": PLAN,
    "market": "/market/?accelerator=H100",
    "method": "/method/",
}
FLOOR = "/nowhere/"
PAINT_MS, PAGE_KB, EDIT_MS, SHIFT = 1000.0, 350.0, 500.0, 0.01
EDITS = 3 if SHORT else 12
OPENINGS = 2 if SHORT else 5

_WATCH = """
window.painted = 0; window.shifted = 0;
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.painted = entry.startTime;
}).observe({ type: "largest-contentful-paint", buffered: true });
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
_EDIT = """async value => {
  const box = document.getElementById("a-on-prem-electricity-per-kwh");
  const figures = document.getElementById("figures");
  const frame = () => new Promise(requestAnimationFrame);
  const began = performance.now();
  box.value = value;
  box.dispatchEvent(new Event("change", { bubbles: true }));
  while (document.getElementById("figures") === figures) await frame();
  await frame();
  await frame();
  return performance.now() - began;
}"""


@contextmanager
def served() -> Iterator[str]:
    """The planner with its bundled catalog in a database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = unlimited(folder) | {
            "DEBUG": "0",
            "SECRET_KEY": "only-for-this-measurement-" + "x" * 40,
            "ALLOWED_HOSTS": "127.0.0.1",
        }
        for command in ("migrate", "load_catalog", "collectstatic --noinput"):
            run = [sys.executable, "manage.py", *command.split(), "--verbosity", "0"]
            subprocess.run(run, env=environment, check=True, stdout=subprocess.DEVNULL)
        with serve(environment, workers=1) as (port, _):
            yield f"http://127.0.0.1:{port}"


def _opened(browser: Browser, address: str) -> tuple[Page, float]:
    """A page opened afresh, and the kilobytes that came over the wire without charts."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(_WATCH)
    page = context.new_page()
    answers: list[Response] = []
    page.on("response", lambda one: answers.append(one))
    page.goto(address, wait_until="networkidle")
    sizes = [one.request.sizes()["responseBodySize"] for one in answers]
    return page, sum(sizes) / 1e3


def _measured(browser: Browser, address: str) -> dict[str, float]:
    """Medians of largest paint and weight over a few openings."""
    found = []
    for _ in range(OPENINGS):
        page, kilobytes = _opened(browser, address)
        found.append((float(page.evaluate("window.painted")), kilobytes))
        page.context.close()
    paints, weights = zip(*found, strict=True)
    return {"paint": statistics.median(paints), "weight": statistics.median(weights)}


def _edits(browser: Browser, base: str) -> tuple[list[float], float]:
    """Time from each edit to its painted answer, ms, and how far the page shifted meanwhile."""
    page, _ = _opened(browser, base + PLAN)
    page.get_by_role("link", name="Rests on").click()
    page.locator("#a-on-prem-electricity-per-kwh").scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    before = float(page.evaluate("window.shifted"))
    taken = [page.evaluate(_EDIT, str(round(0.1 + i / 100, 2))) for i in range(EDITS + 1)]
    page.wait_for_timeout(300)
    shifted = float(page.evaluate("window.shifted")) - before
    page.context.close()
    return taken[1:], shifted


def _server_ms(base: str, plan: str) -> float:
    """Median time of a fragment without a browser: the floor of an edit."""
    request: Any = urllib.request.Request(base + plan, headers={"HX-Request": "true"})
    taken = []
    for _ in range(EDITS):
        began = time.perf_counter()
        urllib.request.urlopen(request, timeout=30).read()
        taken.append((time.perf_counter() - began) * 1e3)
    return statistics.median(taken)


def bench() -> list[Row]:
    rows = []
    with served() as base, sync_playwright() as playwright:
        browser = launch(playwright)
        floor = _measured(browser, base + FLOOR)
        for name, path in PAGES.items():
            found = _measured(browser, base + path)
            paint, weight = found["paint"], found["weight"]
            rows += [
                Row(f"largest paint, {name}", paint, floor["paint"] or 1.0,
                    f"<= {PAINT_MS:g} ms", paint <= PAINT_MS),
                Row(f"weight without charts, {name}", weight, floor["weight"],
                    f"<= {PAGE_KB:g} kB", weight <= PAGE_KB, "kB"),
            ]  # fmt: skip
        answers, shifted = _edits(browser, base)
        edit = statistics.median(answers)
        server = _server_ms(base, PLAN)
        browser.close()
    rows += [
        Row("an edit to the whole answer, median", edit, server,
            f"<= {EDIT_MS:g} ms", edit <= EDIT_MS),
        Row("an edit to the whole answer, worst", max(answers), server,
            f"<= {EDIT_MS:g} ms", max(answers) <= EDIT_MS),
        Row("layout shift of an edit", shifted, 0.0, f"<= {SHIFT}", shifted <= SHIFT, "score"),
    ]  # fmt: skip
    return rows
