"""The family of an instance type: the machines that differ in size alone. PURE."""

from __future__ import annotations

import re
from functools import lru_cache

_SIZE_SUFFIX = re.compile(r"-\d+[a-z]*$")
_FIRST_NUMBER = re.compile(r"\d+(-\d+)?")


@lru_cache(maxsize=65_536)
def instance_family(instance_type: str) -> str:
    """The instance type without its size, by the way each cloud writes it.

    >>> [instance_family(name) for name in ("p5.48xlarge", "a2-highgpu-8g", "v5litepod-16")]
    ['p5', 'a2-highgpu', 'v5litepod']
    >>> instance_family("Standard_NC24ads_A100_v4"), instance_family("Standard_NC48ads_A100_v4")
    ('Standard_NC#ads_A100_v4', 'Standard_NC#ads_A100_v4')
    """
    if "." in instance_type:
        return instance_type.split(".", 1)[0]
    if _SIZE_SUFFIX.search(instance_type):
        return _SIZE_SUFFIX.sub("", instance_type)
    return _FIRST_NUMBER.sub("#", instance_type, count=1)
