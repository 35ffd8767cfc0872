"""What every form of the pages shares."""

from __future__ import annotations

from typing import Any

from django import forms


class Form(forms.Form):
    """Fields with a unit behind the box, ids that stay apart on a page with several forms."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        kwargs.setdefault("auto_id", f"{type(self).__name__.removesuffix('Form').lower()}-%s")
        super().__init__(*args, **kwargs)

    def unit(self, **units: str) -> None:
        for name, unit in units.items():
            self.fields[name].unit = unit  # type: ignore[attr-defined]
