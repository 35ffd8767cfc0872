"""The forms of teams, projects and the plans that they keep."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from django import forms

from planner.models import BudgetPeriod, Project, Role, Scope, ServerQuote, Team, WebhookEvent
from planner.models.project import REASON_LENGTH
from planner.models.team import NAME_LENGTH
from planner.services.teams.teams import INVITATION_DAYS, MAX_INVITATION_DAYS, MAX_TOKEN_DAYS
from planner.web.common.choices import list_choices, list_values
from planner.web.common.forms import BudgetField, Form, LinesField, NumberField
from pricing.discovery import all_providers


def version_field() -> forms.IntegerField:
    return forms.IntegerField(required=False, widget=forms.HiddenInput)


NOTE_LENGTH = 2000
EVENTS = [event for event in WebhookEvent if event != WebhookEvent.TEST]


def _name(label: str, **options: Any) -> forms.CharField:
    return forms.CharField(label=label, max_length=NAME_LENGTH, **options)


def _note(label: str = "Note") -> forms.CharField:
    return LinesField(label=label, required=False, max_length=NOTE_LENGTH)


def _checks(label: str, choices: Any, **options: Any) -> forms.MultipleChoiceField:
    boxes = forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"})
    return forms.MultipleChoiceField(label=label, choices=choices, widget=boxes, **options)


class TeamForm(Form):
    name = _name("Name of the team")
    currency = forms.ChoiceField(
        label="Currency", choices=partial(list_choices, "currencies"), initial="USD"
    )


class TeamSettingsForm(TeamForm):
    """Beside them, which rows of bills and logs belong to which project."""

    project_rules = forms.CharField(
        label="Projects in bills and logs",
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text="a rule a line, the first that matches holds: tag:team:ml-*=Vision, "
        "account:4711=Speech, user:ann=Speech, partition:gpu-dev=Development",
    )

    @classmethod
    def of(cls, typed: Any, team: Team) -> TeamSettingsForm:
        rules = "\n".join(team.project_rules)
        start = {"name": team.name, "currency": team.currency, "project_rules": rules}
        return cls(typed, initial=start)

    def clean_project_rules(self) -> list[str]:
        lines = (line.strip() for line in self.cleaned_data["project_rules"].splitlines())
        return [line for line in lines if line]


class ConfirmForm(Form):
    confirm = forms.CharField(max_length=200)

    def __init__(self, *args: Any, text: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.text = text
        self.fields["confirm"].label = f"Type {text} to confirm"
        self.fields["confirm"].widget.attrs["autocomplete"] = "off"

    def clean_confirm(self) -> str:
        typed: str = self.cleaned_data["confirm"]
        if typed != self.text:
            raise forms.ValidationError(f"{typed[:60]!r} is not {self.text!r}.")
        return typed


class ProjectForm(Form):
    name = _name("Name")
    description = _note("Purpose")
    cost_centre = _name("Cost centre", required=False, help_text="a tag of its rows for finance")
    budget = BudgetField(label="Budget", required=False)
    budget_period = forms.ChoiceField(
        label="Budget period", choices=list_values("budget_period", BudgetPeriod)
    )
    watched = forms.BooleanField(label="Watch prices", required=False)
    watch_threshold = NumberField(
        label="Alert when the plan's cost changes by more than",
        min_value=0,
        max_value=1000,
        help_text="Repriced after every price refresh.",
    )
    version = version_field()
    units: ClassVar = {"budget": "money", "watch_threshold": "%"}

    def values(self) -> dict[str, Any]:
        cleaned = {k: v for k, v in self.cleaned_data.items() if k != "version"}
        cleaned["watch_threshold"] = cleaned["watch_threshold"] / 100
        return cleaned

    @staticmethod
    def of_project(project: Project) -> dict[str, Any]:
        names = ("name", "description", "cost_centre", "budget", "budget_period")
        threshold = round(project.watch_threshold * 100, 6)
        values = {name: getattr(project, name) for name in (*names, "watched", "version")}
        return values | {"watch_threshold": threshold}


class SavePlanForm(Form):
    """Where an answer is kept and what it is called."""

    name = _name("Name of the saved comparison")
    team = forms.ChoiceField(label="Team")
    project = _name("Project", help_text="A name that the team does not have makes a new project.")
    budget = BudgetField(
        label="Budget of a new project",
        required=False,
        help_text="For the whole plan. Change it later on the project.",
    )
    note = _note()
    units: ClassVar = {"budget": "money"}

    def __init__(self, *args: Any, teams: Iterable[Team], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].widget.attrs["list"] = "projects"
        self.fields["team"].choices = [  # type: ignore[attr-defined]
            (team.slug, team.name) for team in teams
        ]


class SavePortfolioForm(Form):
    name = _name("Name of the plan")
    note = _note()
    shown_to_all = forms.BooleanField(
        label="Every member sees the plan",
        required=False,
        help_text="Otherwise you, approvers and owners see the plan.",
    )
    in_background = forms.BooleanField(
        label="Plan in the background",
        required=False,
        help_text="For many projects or months: more work is allowed there.",
    )


class NoteForm(Form):
    name = _name("Name")
    note = _note()
    version = version_field()


class SendBackForm(Form):
    reason = LinesField(
        label="Reason, for whoever submitted it", required=False, max_length=REASON_LENGTH
    )


class UploadForm(Form):
    file = forms.FileField(
        label="Monthly actuals",
        help_text="CSV with the columns month and cost, and if known hours, provider, region, "
        "instance_type, purchase_option, category, currency; or a bill: FOCUS, AWS, Azure, "
        "Google Cloud. hours are accelerator-hours: 1 h on a machine of 8 accelerators is "
        "8 of them. Hours of whole machines go into a column instance_hours instead, beside "
        "instance_type.",
        widget=forms.ClearableFileInput(
            attrs={"accept": ".csv,.gz,.zip,.json,.jsonl,.xlsx,text/csv"}
        ),
        allow_empty_file=True,
    )


class InviteForm(Form):
    button = "Create invitation link"
    role = forms.ChoiceField(label="Role", choices=list_values("role", Role))
    email = forms.EmailField(label="For whom (e-mail)", required=False)
    days = forms.IntegerField(
        label="Valid for", min_value=1, max_value=MAX_INVITATION_DAYS, initial=INVITATION_DAYS
    )
    units: ClassVar = {"days": "days"}


class TokenForm(Form):
    button = "Create token"
    name = _name("Purpose")
    kind = forms.ChoiceField(
        label="Acts", choices=[("personal", "for me"), ("service", "for the team (owners only)")]
    )
    role = forms.ChoiceField(label="At most as", required=False)
    scopes = _checks("May", list_values("scope", Scope), initial=["read"])
    days = forms.IntegerField(label="Valid for", min_value=1, max_value=MAX_TOKEN_DAYS, initial=90)
    units: ClassVar = {"days": "days"}

    def __init__(self, *args: Any, own: Role, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        allowed = [(r.value, r.label) for r in Role if r.rank <= own.rank]
        self.fields["role"].choices = [("", "my own role"), *allowed]  # type: ignore[attr-defined]


class AlertTargetForm(Form):
    button = "Add"
    url = forms.CharField(
        label="Address",
        max_length=500,
        help_text="Of Apprise: slack://…, workflows://… (Teams), mailtos://…, jsons://… It holds "
        "a secret and is not shown again.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    description = forms.CharField(label="What it is", max_length=NAME_LENGTH, required=False)
    events = _checks(
        "Tells of",
        list_values("event", EVENTS),
        initial=[event for event in EVENTS if event != WebhookEvent.PRICES_HELD],
    )


class RefreshForm(Form):
    providers = _checks(
        "Providers",
        lambda: [(name, provider.title) for name, provider in all_providers().items()],
        required=False,
        help_text="None selected means all.",
    )


_SERVER = (
    *("server", "unit_price", "accelerator", "accelerator_count", "power_kw", "idle_power_kw"),
    *("running_cost_per_hour", "max_units"),
)


def _number(label: str, help_text: str = "") -> NumberField:
    return NumberField(label=label, required=False, help_text=help_text)


def _day(label: str, help_text: str = "") -> forms.DateField:
    widget = forms.DateInput(attrs={"type": "date"})
    return forms.DateField(label=label, required=False, widget=widget, help_text=help_text)


class QuoteForm(Form):
    """What the supplier wrote; empty fields take the reference server's value."""

    label = forms.CharField(label="Name in answers", max_length=NAME_LENGTH)
    slug = forms.SlugField(
        label="Short name", max_length=60, help_text="Stands for the quote in requests: our-h100."
    )
    server = forms.ChoiceField(
        label="Server", choices=lambda: [("", "choose a server"), *list_choices("servers")]
    )
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
    quoted_on = _day("Quoted on")
    valid_until = _day("Valid until", "Later comparisons leave it out unless they name it.")
    version = version_field()
    units: ClassVar = {
        "unit_price": "money",
        "power_kw": "kW",
        "idle_power_kw": "kW",
        "running_cost_per_hour": "money/h",
        "max_units": "units",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.initial.get("version"):
            self.fields["slug"].disabled = True

    def values(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        server = {name: cleaned[name] for name in _SERVER if cleaned[name] not in (None, "")}
        details = {n: cleaned[n] for n in ("label", "supplier", "quoted_on", "valid_until")}
        return details | {"server": server}

    @staticmethod
    def of(quote: ServerQuote | None) -> dict[str, Any]:
        if quote is None:
            return {}
        names = ("label", "slug", "supplier", "quoted_on", "valid_until", "version")
        known = {name: getattr(quote, name) for name in names}
        return {**known, **quote.server}
