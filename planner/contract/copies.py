"""What frozen dataclasses work out once, and copies of them with some fields changed. PURE."""

from __future__ import annotations

import functools
from contextlib import nullcontext
from dataclasses import fields
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property", "replace"]

if TYPE_CHECKING:  # so that names and types of fields are checked
    from dataclasses import replace
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - as of functools
        """As Python has it from 3.12 on. Before, all instances of a class share a lock: a short
        comparison waited until a long one of the same process was solved."""

        def __init__(self, func):
            super().__init__(func)
            self.lock = nullcontext()

    def replace(instance, /, **changes):
        """What `dataclasses.replace` gives of a class that computes nothing when it is made, some
        five times as fast: `__init__` of a frozen class sets each field by a call.

        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Offer:
        ...     price: float
        ...     region: str = ""
        >>> replace(Offer(2.0, "eu"), price=3.0)
        Offer(price=3.0, region='eu')
        >>> replace(Offer(2.0), prize=3.0)
        Traceback (most recent call last):
        TypeError: Offer has no field prize
        """
        kind = type(instance)
        names, values = _field_names(kind), instance.__dict__
        copy = object.__new__(kind)
        held = copy.__dict__
        for name in names:
            held[name] = values[name]
        held.update(changes)
        if len(held) > len(names):
            raise TypeError(f"{kind.__name__} has no field {', '.join(held.keys() - {*names})}")
        return copy


@functools.cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    if hasattr(kind, "__post_init__") or "__slots__" in vars(kind):
        raise TypeError(f"{kind.__name__} is more than its fields; take dataclasses.replace")
    return tuple(field.name for field in fields(kind))
