"""Memory that a large question took is given back."""

from __future__ import annotations

import subprocess
import sys

import pytest

from planner.allocator import LARGE_BLOCK_BYTES

GIVEN_BACK = """
import sys
from planner.allocator import map_large_blocks

def megabytes():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * 4096 / 2**20

if not map_large_blocks():
    sys.exit(77)
bytes(int(sys.argv[1]))  # freed once: from here on the heap would be used
before, held = megabytes(), []
large = []
for _ in range(20):
    large.append(bytearray(b"x") * int(sys.argv[1]))
    held.append(bytearray(b"y") * 200_000)
grown = megabytes() - before
large.clear()
print(grown, megabytes() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_large_blocks_are_given_back_when_they_are_freed() -> None:
    command = [sys.executable, "-c", GIVEN_BACK, str(LARGE_BLOCK_BYTES + 4096)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("the C library has no mallopt")
    grown, left = map(float, done.stdout.split())
    assert grown > 40
    assert left < 10
