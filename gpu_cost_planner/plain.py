"""Values of a notebook as those of a file: numbers and arrays of NumPy and pandas as plain ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def plain_values(value: Any) -> Any:
    """The value with every number, array and series of NumPy or pandas as Python has it.

    >>> import numpy as np
    >>> plain_values({"horizon_months": np.int64(12), "hours": np.array([1.5, 2.0])})
    {'horizon_months': 12, 'hours': [1.5, 2.0]}
    """
    if isinstance(value, Mapping):
        return {name: plain_values(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(one) for one in value]
    to_list = getattr(value, "tolist", None)
    return value if to_list is None else to_list()
