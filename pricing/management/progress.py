"""How a refresh shows what it does: a bar for each provider on a terminal, else plain lines."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from pricing.publish.refresh import Listener, SilentListener
from pricing.publish.refresh_result import RefreshResult

_PLAIN_EVERY_S = 10.0
"""Plain lines come no more often than this for each provider, s."""


@contextmanager
def watch(*, quiet: bool, plain: Any) -> Iterator[Listener]:
    """The listener for where the output goes; `plain` takes the lines without a terminal."""
    if quiet:
        yield SilentListener()
    elif sys.stderr.isatty():
        with _bars(sys.stderr) as bars:
            yield bars
    else:
        yield PlainLines(plain)


class PlainLines:
    """A line when a provider begins, now and then while it goes on, and when it ends."""

    def __init__(self, out: Any) -> None:
        self._out = out
        self._last_line_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def started(self, provider: str) -> None:
        self._write_line(f"{provider}: started")

    def progress(self, provider: str, what: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._last_line_at.setdefault(provider, now) >= _PLAIN_EVERY_S:
            self._last_line_at[provider] = now
            self._write_line(f"{provider}: {what} {done:,}{f' of {total:,}' if total else ''}")

    def finished(self, result: RefreshResult) -> None:
        self._write_line(f"{result.provider}: {result.outcome.replace('_', ' ')}")

    def _write_line(self, line: str) -> None:
        with self._lock:
            self._out.write(line)


@contextmanager
def _bars(stream: IO[str]) -> Iterator[Listener]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} {task.fields[what]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=stream)) as progress:
        yield Bars(progress)


class Bars:
    """A progress bar for each provider."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._tasks: dict[str, Any] = {}

    def started(self, provider: str) -> None:
        self._tasks[provider] = self._progress.add_task(provider, total=None, what="")

    def progress(self, provider: str, what: str, done: int, total: int | None) -> None:
        self._progress.update(self._tasks[provider], completed=done, total=total, what=what)

    def finished(self, result: RefreshResult) -> None:
        task = self._tasks.get(result.provider)
        if task is not None:
            self._progress.update(task, what=result.outcome.replace("_", " "))
            self._progress.stop_task(task)
