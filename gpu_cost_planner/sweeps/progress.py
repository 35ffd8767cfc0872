"""The bar of a sweep, in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[int], object]
"""Takes how many more comparisons are done."""


@contextmanager
def show_progress(is_wanted: bool, total: int) -> Iterator[Report]:
    """Gives what is to be told of each comparison that is done; shows nothing unless wanted."""
    if not is_wanted:
        yield lambda _count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("Comparing", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=total)
        yield lambda count: progress.advance(task, count)
