"""A supplier's quote of a server in boxes."""

from __future__ import annotations

from typing import Any

from django import forms

from planner.models import ServerQuote
from planner.models.team import NAME_LENGTH
from planner.web.common.base_form import Form, NumberField
from planner.web.common.choices import list_choices

_SERVER = (
    "server",
    "unit_price",
    "accelerator",
    "accelerator_count",
    "power_kw",
    "idle_power_kw",
    "running_cost_per_hour",
    "max_units",
)


def _number(label: str, help_text: str = "") -> NumberField:
    return NumberField(label=label, required=False, help_text=help_text)


class QuoteForm(Form):
    """What the supplier wrote; empty fields take the reference server's value."""

    label = forms.CharField(label="Name in answers", max_length=NAME_LENGTH)
    slug = forms.SlugField(
        label="Short name", max_length=60, help_text="Stands for the quote in requests: our-h100."
    )
    server = forms.ChoiceField(label="Server")
    unit_price = _number("Unit price")
    accelerator = forms.CharField(
        label="Accelerator", required=False, max_length=60, help_text="Of a server you describe."
    )
    accelerator_count = _number("Accelerators in it")
    power_kw = _number("Power at load")
    idle_power_kw = _number("Power when idle")
    running_cost_per_hour = _number(
        "All-in running cost", "Replaces power, colocation, support and staff."
    )
    max_units = NumberField(label="At most", required=False, min_value=0)
    supplier = forms.CharField(label="Supplier", required=False, max_length=NAME_LENGTH)
    quoted_on = forms.DateField(
        label="Quoted on", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    valid_until = forms.DateField(
        label="Valid until",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Later comparisons leave it out unless they name it.",
    )
    version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", "choose a server"), *list_choices("servers")]
        self.fields["server"].choices = choices  # type: ignore[attr-defined]
        self.unit(
            unit_price=currency,
            power_kw="kW",
            idle_power_kw="kW",
            running_cost_per_hour=f"{currency}/h",
            max_units="units",
        )
        if self.initial.get("version"):
            self.fields["slug"].disabled = True

    def values(self) -> dict[str, Any]:
        """What the service takes."""
        cleaned = self.cleaned_data
        server = {name: cleaned[name] for name in _SERVER if cleaned[name] not in (None, "")}
        details = {n: cleaned[n] for n in ("label", "supplier", "quoted_on", "valid_until")}
        return details | {"server": server}

    @staticmethod
    def of(quote: ServerQuote) -> dict[str, Any]:
        """The values that the form starts with."""
        names = ("label", "slug", "supplier", "quoted_on", "valid_until", "version")
        known = {name: getattr(quote, name) for name in names}
        return {**known, **quote.server}
