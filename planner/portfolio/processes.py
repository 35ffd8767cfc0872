"""Lanes of a sampling, the first in this process and each other in one of its own.

The one module of the portfolio that is not pure: it starts processes. They are new programs and
no copies of this one, so that threads, database connections and daemons (a web server, a worker
of Celery) are as safe as a terminal. A process ends with who reads from it, however that ends:
what it writes next finds no reader. Where one dies, its lane is walked here from the beginning,
with the same figures.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import IO

from planner.portfolio.shares import LANES, Lane, OpenLanes, Sampling, Step, open_here
from pricing.common.invalid_input import InvalidInput

MOST_PROCESSES = LANES


def open_in_processes(count: int | None = None) -> OpenLanes:
    """Lanes on so many processes, this one among them; None: as many as there are processors. More
    than there are lanes are of no use. Raises `InvalidInput` below 1."""
    if count is not None and count < 1:
        raise InvalidInput("processes", f"{count} is not allowed; must be at least 1")
    wanted = min(count or os.cpu_count() or 1, MOST_PROCESSES)
    return open_here if wanted < 2 else partial(_open, processes=wanted)


def _open(sampling: Sampling, processes: int) -> list[Lane]:
    return [
        _RemoteLane(sampling, number) if 0 < number < processes else sampling.lane(number)
        for number in range(LANES)
    ]


class _RemoteLane:
    """A lane that another process walks."""

    def __init__(self, sampling: Sampling, number: int) -> None:
        self._sampling, self._number = sampling, number
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(  # noqa: S603 - no shell, this very program
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
        )
        with suppress(OSError):
            assert self._process.stdin is not None
            pickle.dump((sampling, number), self._process.stdin)
            self._process.stdin.close()
        self._steps = self._walk()

    def __iter__(self) -> Iterator[Step]:
        return self

    def __next__(self) -> Step:
        return next(self._steps)

    def _walk(self) -> Generator[Step]:
        """What the process writes; where it ends before its lane does, the rest from here."""
        assert self._process.stdout is not None
        read = 0
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                step = pickle.load(self._process.stdout)  # noqa: S301 - what this program wrote
                if step is None:
                    return
                read += 1
                yield step
        yield from islice(self._sampling.lane(self._number), read, None)

    def close(self) -> None:
        """End the process."""
        self._steps.close()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def serve(source: IO[bytes], target: IO[bytes]) -> None:
    """In a process of its own: walks the lane that it reads, and writes its steps, then None."""
    sampling, number = pickle.load(source)  # noqa: S301 - what this program wrote
    for step in sampling.lane(number):
        pickle.dump(step, target)
        target.flush()
    pickle.dump(None, target)


if __name__ == "__main__":
    with suppress(BrokenPipeError), os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # nothing else gets between the steps
        serve(sys.stdin.buffer, out)
