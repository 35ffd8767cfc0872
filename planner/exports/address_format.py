"""The part of an address that names an export."""

from __future__ import annotations

from collections.abc import Iterable


class AddressFormat:
    """One of the forms that there are; Django's addresses take it as a converter."""

    regex: str

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


def address_format(forms: Iterable[str]) -> type[AddressFormat]:
    """The converter for `forms`; its expression is one group, for documents that anchor it."""

    class OneOfThem(AddressFormat):
        regex = f"(?:{'|'.join(forms)})"

    return OneOfThem
