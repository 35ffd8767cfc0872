"""Refusals of a team's operations that are about state, not about a field."""

from __future__ import annotations


class WrongStateError(Exception):
    """The thing is not in a state that allows this (409)."""


class StaleError(Exception):
    """The thing was changed since the caller read it (412)."""

    def __init__(self) -> None:
        super().__init__("It has changed since you read it; reload it and repeat your change.")
