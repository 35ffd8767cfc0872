"""How a process that answers requests gets its memory from the system.

glibc puts a block on its heap as soon as one of that size was freed once, and a heap gives back
nothing below the last block in use: after a few large models a process would hold a hundred
megabytes that nobody uses. Large blocks are therefore mapped by themselves and given back when
they are freed. What simulated outcomes take at a time stays on the heap, which is quicker.
"""

from __future__ import annotations

import ctypes

_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
"""M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of glibc's malloc.h."""
LARGE_BLOCK_BYTES = 2 * 2**20
SPARE_HEAP_BYTES = 16 * 2**20
"""What may be free at the end of the heap before it is given back."""


def map_large_blocks() -> bool:
    """Has blocks of `LARGE_BLOCK_BYTES` and more mapped by themselves; False where the C library
    cannot be told, as on macOS or with musl."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    wanted = ((_MMAP_THRESHOLD, LARGE_BLOCK_BYTES), (_TRIM_THRESHOLD, SPARE_HEAP_BYTES))
    return all(mallopt(name, value) == 1 for name, value in wanted)
