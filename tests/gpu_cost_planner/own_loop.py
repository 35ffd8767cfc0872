"""Coroutines in tests, also beside a browser whose driver holds this thread's event loop."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_own_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """What `work` comes to, in a loop and a thread of its own."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, work).result()
