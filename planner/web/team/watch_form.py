"""The form of a watch: whether a plan is priced again after each refresh, and what is told."""

from __future__ import annotations

from typing import Any

from django import forms

from planner.models import Project, SavedPortfolio
from planner.web.common.base_form import Form, NumberField


def version_field() -> forms.IntegerField:
    """The version that the person saw: an edit of a later one is refused."""
    return forms.IntegerField(required=False, widget=forms.HiddenInput)


class WatchForm(Form):
    """Whether a plan is priced again after each refresh, and which move raises an alert."""

    watched = forms.BooleanField(label="Watch prices", required=False)
    watch_threshold = NumberField(
        label="Alert when the plan's cost changes by more than",
        min_value=0,
        max_value=1000,
        help_text="Repriced after every price refresh.",
    )
    version = version_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.unit(watch_threshold="%")

    def values(self) -> dict[str, Any]:
        """What the service takes: the threshold as a fraction."""
        cleaned = {k: v for k, v in self.cleaned_data.items() if k != "version"}
        cleaned["watch_threshold"] = cleaned["watch_threshold"] / 100
        return cleaned

    @staticmethod
    def of(watch: Project | SavedPortfolio) -> dict[str, Any]:
        """The values that the form starts with."""
        threshold = round(watch.watch_threshold * 100, 6)
        return {
            "watched": watch.watched,
            "watch_threshold": threshold,
            "version": watch.version,
        }
