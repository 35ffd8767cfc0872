"""What the boxes of the plan form offer to choose from, and the defaults shown in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from pathlib import Path
from typing import get_args

from planner.contract.labels import SCENARIO_TITLES, cloud_title
from planner.contract.models.known_models import model_names
from planner.contract.request.finance import SupportPlan
from planner.contract.request.workload import TRAINERS, SampleTuning
from planner.costing.assumptions.assumptions import all_defaults
from planner.costing.assumptions.cloud_support import get as get_support_plan
from planner.costing.assumptions.reference_servers import all_servers
from planner.sizing.evidence.benchmarks import benchmarks
from planner.web.common.query_codec import SCALES
from pricing import catalog
from pricing.common.tables import read_rows
from pricing.market.accelerators import all_accelerators
from pricing.market.clouds import PARTITIONS
from pricing.market.offers import PurchaseOption

Choice = tuple[str, str]


def provider_title(name: str) -> str:
    """What a page calls a provider, as sentences do; its name in words where nobody declares it."""
    title = cloud_title(name)
    return name.replace("_", " ").title() if title == name else title


_COUNTRY_GROUPS: tuple[Choice, ...] = (
    ("eu", "European Union"),
    ("eea", "European Economic Area"),
    ("uk", "United Kingdom"),
    ("switzerland", "Switzerland"),
)
_WORDS = {
    (row["field"], row["value"]): row["words"]
    for row in read_rows(Path(__file__).parent / "choice_words.csv")
}


def value_words(field: str, value: str) -> str:
    """What a page calls a value of a field, or of a list of choices; the value in words where
    nothing is said of it."""
    if field == "purchase_option":
        return value.removeprefix("dws_").replace("_", " ")
    plain = {"true": "Yes", "false": "No"}.get(value, value.replace("_", " ").capitalize())
    words = _WORDS.get((field, value), plain)
    return words.format(trainers=", ".join(TRAINERS[value])) if "{trainers}" in words else words


def list_values(field: str, values: Iterable[str]) -> list[Choice]:
    return [(str(value), value_words(field, value)) for value in values]


_CHOICES: dict[str, Callable[[], list[Choice]]] = {
    "models": lambda: [(name, name) for name in model_names()],
    "providers": lambda: [(p, provider_title(p)) for p in catalog.current().offers.provider.names],
    "geographies": lambda: [
        *_COUNTRY_GROUPS,
        *(
            (name, name.replace("-", " ").title().replace("Us ", "US "))
            for name in sorted({one.geography for one in catalog.current().regions.values()})
            if name
        ),
    ],
    "currencies": lambda: [
        (code, code) for code in sorted({"USD", *catalog.current().exchange_rates.currencies})
    ],
    "accelerators": lambda: [(one.slug, one.name) for one in all_accelerators() if not one.retired],
    "servers": lambda: [
        *((server.slug, server.name) for server in all_servers()),
        ("custom", "Another server (describe it)"),
    ],
    "benchmarks": lambda: sorted(
        (
            (slug, f"{first.workload} ({first.unit}, {first.year})")
            for slug, (first, *_) in benchmarks().items()
            if first.workload_class != "nlp"
        ),
        key=itemgetter(1),
    ),
    "sample_code": lambda: list_values("sample_code", get_args(SampleTuning)),
    "purchase_options": lambda: list_values("purchase_option", PurchaseOption),
    "data_homes": lambda: [("on_prem", "Own premises"), *list_choices("providers")],
    "cloud_support_plans": lambda: [
        (plan, "No plan" if plan == "none" else get_support_plan(plan).label)
        for plan in get_args(SupportPlan)
    ],
    "scenarios": lambda: list(SCENARIO_TITLES.items()),
    "partitions": lambda: list_values("partitions", PARTITIONS),
}


def list_choices(name: str) -> list[Choice]:
    return list(_CHOICES[name]())


def find_default(field: str, scale: str = "") -> tuple[str, str]:
    """The default of a field, in the unit `scale`, and its source; empty where there is none."""
    default = all_defaults().get(field)
    if default is None:
        return "", ""
    value = default.value / float(SCALES[scale]) if scale else default.value
    return f"{value:.6g}", f"{default.source} ({default.year})"


def server_title(slug: str) -> str:
    """What people call a server of the reference list; the label itself of any other."""
    return next((one.name for one in all_servers() if one.slug == slug), slug)
