"""What a job file says of its accelerators, nodes and hours, and what it leaves open. PURE."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from planner.contract.accelerator_names import other_meanings
from planner.contract.models.known_models import find_model
from planner.usage.machines import name_accelerator
from pricing.common.invalid_input import InvalidInput
from pricing.market import accelerators

MAX_ACCELERATORS = 10_000_000
MAX_HOURS = 1_000_000.0


@dataclass
class JobFacts:
    """One piece of work. None where the file does not say it; then a question asks for it."""

    form: str
    name: str = ""
    accelerator: str = ""
    """As the file writes it."""
    accelerators: float | None = None
    """All that the job takes at once."""
    per_node: float | None = None
    nodes: float | None = None
    hours: float | None = None
    """Longest run time that the file allows."""
    runs: float = 1
    """Times that the file starts the work, such as tasks of an array; a part of one where the last
    wave of pods is smaller."""
    at_once: int | None = 1
    """Most of its runs side by side; None where the file does not say it."""
    slices: str = ""
    """What it takes slices of an accelerator by; `accelerators` counts those, not whole ones."""
    provider: str = ""
    region: str = ""
    machine: str = ""
    spot: bool | None = None
    training: dict[str, Any] = field(default_factory=dict)
    """Fields of a training workload that the file states."""
    tokens_per_step: float | None = None
    notes: list[str] = field(default_factory=list)
    questions: dict[str, str] = field(default_factory=dict)
    """Field of the request → what the file leaves open."""

    def ask(self, name: str, why: str) -> None:
        self.questions.setdefault(name, why)

    def ask_count(self, why: str) -> None:
        self.ask("peak_accelerators", why)

    def name_kind(self, name: str) -> None:
        """The accelerator; a second one of another kind is asked for. `A100` and a machine of the
        A100 with 40 GB are one kind."""
        if not name:
            return
        before, after = name_accelerator(self.accelerator), name_accelerator(name)
        if not before or name == after == before or _is_short_for(before, after):
            self.accelerator = name
        elif before != after and not _is_short_for(after, before):
            self.ask("accelerator", f"it takes several kinds: {self.accelerator} and {name}")

    def take_slices(self, name: str, number: str) -> None:
        """Slices such as those of MIG, which are no whole accelerators."""
        self.slices = self.slices or name
        self.ask("accelerator", f"it takes slices ({name}), and of which accelerator how many")
        self.note(f"It takes {number} × {name}: slices, not whole accelerators.")

    def set_runs(self, runs: int, at_once: int | None, what: str) -> None:
        """Times that the work is started, and how many of them go side by side."""
        self.runs = runs
        if runs <= 1:
            return
        self.at_once = None if at_once is None else max(1, min(at_once, runs))
        if self.at_once is None:
            self.note(f"{what} starts the job {runs:,} times.")
            self.ask("at_once", f"how many of the {runs:,} runs go at once is not stated")
        else:
            self.note(f"{what} starts the job {runs:,} times, {self.at_once:,} at once.")

    def note(self, text: str) -> None:
        if text not in self.notes and len(self.notes) < 20:
            self.notes.append(text)

    @property
    def slug(self) -> str:
        """The accelerator's slug; empty where its name is missing, means several or is asked."""
        if "accelerator" in self.questions:
            return ""
        known = accelerators.find(name_accelerator(self.accelerator)) if self.accelerator else None
        return known.slug if known else ""

    def settle(self) -> JobFacts:
        """Fills what follows from the rest, and asks for what is still open."""
        self._settle_count()
        if self.hours is not None and not 0 < self.hours <= MAX_HOURS:
            self.hours = None
        if self.accelerators is None:
            self.ask_count("how many accelerators the job takes is not stated")
        if not self.accelerator:
            self.ask("accelerator", "which accelerator it runs on is not stated")
        elif not self.slug:
            self.ask("accelerator", f"{self.accelerator!r} may mean several accelerators")
        elif others := ", ".join(one.slug for one in other_meanings(self.accelerator)):
            named = f"{self.accelerator!r} is read as {self.slug}"
            self.note(f"{named} and may mean {others} too: check it.")
        if self.hours is None and not self.training:
            self.ask("hours", "how long the job runs is not stated")
        if self.training and "tokens" not in self.training:
            self.ask("tokens", "how many tokens are trained on is not stated")
        self._check_model()
        if self.training and not {"model", "parameters"} & self.training.keys():
            self.ask("model", "which model is trained is not stated")
        return self

    def _settle_count(self) -> None:
        if self.accelerators is None and self.per_node is not None and self.nodes is not None:
            self.accelerators = self.per_node * self.nodes
        if "peak_accelerators" in self.questions:
            self.accelerators = None
        if self.accelerators is None:
            return
        if self.accelerators % 1:
            self.ask_count(f"{self.accelerators:g} is no whole number of accelerators")
            self.accelerators = None
        elif not 0 <= self.accelerators <= MAX_ACCELERATORS:
            self.accelerators = None

    def _check_model(self) -> None:
        model = self.training.get("model")
        if model is None:
            return
        try:
            find_model(model)
        except InvalidInput as refusal:
            del self.training["model"]
            self.ask("model", refusal.message)

    def as_dict(self) -> dict[str, Any]:
        return vars(self) | {"accelerator": self.slug or self.accelerator}

    def request(self, runs_per_month: float) -> dict[str, Any]:
        """The request of a comparison as far as the file fills it; what it asks for is missing."""
        name = {"name": self.name[:100]} if self.name else {}
        if self.training:
            accelerator = {"accelerator": self.slug} if self.slug else {}
            return name | {"workload": {"kind": "training", **accelerator, **self.training}}
        workload: dict[str, Any] = {"kind": "accelerator_hours"}
        if self.slug:
            workload["accelerator"] = self.slug
        if self.accelerators and not self.slices:
            if self.at_once is not None:
                workload["peak_accelerators"] = int(self.accelerators) * self.at_once
            workload["accelerators_per_job"] = int(self.accelerators)
            if self.hours:
                hours = self.accelerators * self.hours * self.runs * runs_per_month
                workload["hours_per_month"] = round(hours, 2)
        if self.spot:
            workload["interruptible"] = True
        return name | {"workload": workload}


def _is_short_for(name: str, slug: str) -> bool:
    if accelerators.find(name) is not None or accelerators.find(slug) is None:
        return False
    models = re.findall(r"[a-z]*\d+[a-z]*", name.lower())
    return bool(models) and models[0] in re.split(r"[-_ ]", slug)


def split_count(text: str) -> tuple[str, float | None]:
    """Name and count of `H100:8`, `gpu:h100:8` without its `gpu:`, or `8`.

    >>> split_count("H100:8"), split_count("8"), split_count("A100-80GB")
    (('H100', 8.0), ('', 8.0), ('A100-80GB', None))
    """
    name, sign, count = text.strip().rpartition(":")
    if sign:
        return name.strip(), float(count) if count.isdecimal() and len(count) < 8 else None
    plain = text.strip()
    if plain.isdecimal() and len(plain) < 8:
        return "", float(plain)
    return plain, None
