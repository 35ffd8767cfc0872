"""A disk that is full: said in words, with nothing half-written left behind."""

from __future__ import annotations

import errno

from planner.services.teams.errors import WrongStateError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class DiskFullError(WrongStateError):
    """The server has no room for a file (507)."""

    def __init__(self) -> None:
        super().__init__("The server's disk is full, so nothing was stored; tell its operator.")


def is_disk_full(failure: BaseException) -> bool:
    """Whether this error of the system says that there is no room."""
    return isinstance(failure, OSError) and failure.errno in _FULL


def raise_if_disk_is_full(failure: BaseException) -> None:
    if is_disk_full(failure):
        raise DiskFullError from failure
