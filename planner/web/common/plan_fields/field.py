"""One field of the plan form: where it stands in the request, its label, unit and help."""

from __future__ import annotations

from dataclasses import dataclass

from planner.web.common.query_codec import SCALE_WORDS


@dataclass(frozen=True)
class Field:
    """One field of the form. `unit` stands behind the box, `typical` inside it while empty."""

    path: str
    label: str
    kind: str = "number"
    """text, number, numbers, words, choices, choice, month, flag."""
    unit: str = ""
    typical: str = ""
    help: str = ""
    choices: str = ""
    """Name of the list of choices in `planner.web.common.choices`."""
    scale: str = ""
    """Suffix of the name in the address: pct, bn, …; see `planner.web.common.query_codec`."""
    default: str = ""
    """Field of the core's defaults, whose value and source are shown."""
    term: str = ""
    """Entry of the glossary that explains the label."""

    @property
    def name(self) -> str:
        return f"{self.path}~{self.scale}" if self.scale else self.path

    def unit_as(self, name: str) -> str:
        """The unit in which a name of the address states it.

        >>> tokens = Field("workload.tokens", "Training tokens", unit="billion", scale="bn")
        >>> tokens.unit_as("workload.tokens~bn"), tokens.unit_as("workload.tokens~mn")
        ('billion', 'million')
        >>> Field("workload.mfu", "MFU", unit="%", scale="pct").unit_as("workload.mfu")
        'as a fraction'
        """
        scale = name.partition("~")[2]
        if scale == self.scale:
            return self.unit
        if not scale:
            return "as a fraction" if self.scale == "pct" else ""
        words = SCALE_WORDS.get(scale, "")
        if self.scale:
            return self.unit.replace(SCALE_WORDS[self.scale], words, 1)
        return f"{words} {self.unit}".strip()


def describe_field(path: str, label: str, **more: str) -> Field:
    """A field with what differs from a plain number."""
    return Field(path, label, **more)
