"""What the boxes of the plan form offer to choose from, and the defaults shown in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from planner.costing.assumptions.defaults import all_defaults
from planner.costing.assumptions.reference_servers import all_servers
from planner.sizing.evidence.measured_throughput import benchmarks
from planner.web.common.query_codec import SCALES
from pricing import catalog, discovery
from pricing.market.accelerators import all_accelerators
from pricing.market.offers import PurchaseOption

Choice = tuple[str, str]

PROVIDER_TITLES = {"aws": "AWS", "azure": "Azure", "gcp": "GCP"}
"""Short titles of the providers we know; another one goes by the title of its adapter."""


@dataclass(frozen=True)
class Default:
    """A default of the core as the form shows it, in the unit of its box."""

    text: str
    source: str


def provider_title(name: str) -> str:
    """What a page calls a provider; its name in words where its adapter is gone."""
    title = PROVIDER_TITLES.get(name) or discovery.provider_title(name)
    return name.replace("_", " ").title() if title == name else title


def geography_title(name: str) -> str:
    return name.replace("-", " ").title().replace("Us ", "US ")


def _providers() -> list[Choice]:
    return [(name, provider_title(name)) for name in catalog.current().offers.provider.names]


def _geographies() -> list[Choice]:
    names = {region.geography for region in catalog.current().regions.values() if region.geography}
    return [(name, geography_title(name)) for name in sorted(names)]


def _currencies() -> list[Choice]:
    return [(code, code) for code in sorted({"USD", *catalog.current().exchange_rates.currencies})]


@lru_cache(maxsize=1)
def _accelerators() -> tuple[Choice, ...]:
    return tuple((one.slug, one.name) for one in all_accelerators() if not one.retired)


def _benchmarks() -> list[Choice]:
    """Measured workloads counted in samples; language models have their own way to be sized."""
    choices = [
        (slug, f"{rows[0].workload} ({rows[0].unit}, {rows[0].year})")
        for slug, rows in benchmarks().items()
        if rows[0].workload_class != "nlp"
    ]
    return sorted(choices, key=lambda pair: pair[1])


def _fixed(*pairs: Choice) -> Callable[[], list[Choice]]:
    return lambda: list(pairs)


_CHOICES: dict[str, Callable[[], list[Choice] | tuple[Choice, ...]]] = {
    "providers": _providers,
    "geographies": _geographies,
    "currencies": _currencies,
    "accelerators": _accelerators,
    "servers": lambda: [
        *((server.slug, server.name) for server in all_servers()),
        ("custom", "Another server (describe it)"),
    ],
    "benchmarks": _benchmarks,
    "purchase_options": lambda: [
        (option.value, option.value.removeprefix("dws_").replace("_", " "))
        for option in PurchaseOption
    ],
    "optimizers": _fixed(
        ("adamw", "Train all weights (AdamW)"),
        ("sgd", "Train all weights (SGD)"),
        ("lora", "Fine-tune with LoRA"),
        ("qlora", "Fine-tune with QLoRA (4-bit)"),
    ),
    "precisions": _fixed(
        ("bf16", "bf16"), ("fp16", "fp16"), ("fp8", "fp8"), ("tf32", "tf32"), ("fp32", "fp32")
    ),
    "depreciations": _fixed(
        ("straight_line", "Straight line"), ("macrs_5", "MACRS, 5 years"), ("none", "None")
    ),
    "inherits": _fixed(("true", "Apply them"), ("false", "Don't apply, or already included")),
    "use_catalog": _fixed(("true", "Use the catalog"), ("false", "Only my own prices")),
}


def list_choices(name: str) -> list[Choice]:
    """Values and words of a list of choices."""
    return list(_CHOICES[name]())


def find_default(field: str, scale: str = "") -> Default | None:
    """The core's default of a field, in the unit that its box shows."""
    default = all_defaults().get(field)
    if default is None:
        return None
    value = default.value / float(SCALES[scale]) if scale else default.value
    text = f"{value:.6g}"
    return Default(text, f"{default.source} ({default.year})")
