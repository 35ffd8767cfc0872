"""The timer of a web process, and how the process ends."""

from __future__ import annotations

import runpy
import threading
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site

from planner.services.jobs import background

HOOKS = runpy.run_path(str(Path(site.BASE_DIR, "gunicorn.conf.py")))


@pytest.mark.parametrize(("backend", "rings"), [("thread", True), ("celery", False)])
def test_a_web_process_looks_after_what_others_left(
    settings: Any, monkeypatch: pytest.MonkeyPatch, backend: str, rings: bool
) -> None:
    settings.JOBS_BACKEND = backend
    timers: list[tuple[float, str]] = []
    monkeypatch.setattr(background, "_set_timer", lambda *timer: timers.append(timer))
    HOOKS["post_worker_init"](None)
    assert timers == ([(5.0, "look_after")] if rings else [])


def test_a_process_that_ends_leaves_what_waits_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    background._executor.cache_clear()
    monkeypatch.setattr(background, "_is_stopping", threading.Event())
    begun, over, done = threading.Event(), threading.Event(), []

    def work(task: str, *arguments: str) -> None:
        begun.set()
        over.wait(5)
        done.append(arguments)

    monkeypatch.setattr(background, "_in_thread", work)
    for job in ("first", "second"):
        background._in_executor("run_job", (job,), "comparisons")
    assert begun.wait(5)
    HOOKS["worker_exit"](None, None)
    over.set()
    background._in_executor("run_job", ("third",), "comparisons")
    background._executor("comparisons").shutdown(wait=True)
    background._executor.cache_clear()
    assert done == [("first",)]
