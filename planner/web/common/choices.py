"""What the boxes of the plan form offer to choose from, and the defaults shown in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from planner.contract.labels import SCENARIO_TITLES, cloud_title
from planner.contract.request.finance import SupportPlan
from planner.contract.request.workload import TRAINERS
from planner.costing.assumptions.assumptions import all_defaults
from planner.costing.assumptions.cloud_support import get as get_support_plan
from planner.costing.assumptions.reference_servers import all_servers
from planner.sizing.evidence.benchmarks import benchmarks
from planner.web.common.query_codec import SCALES
from pricing import catalog
from pricing.market.accelerators import all_accelerators
from pricing.market.clouds import PARTITIONS
from pricing.market.offers import PurchaseOption

Choice = tuple[str, str]


@dataclass(frozen=True)
class Default:
    text: str
    source: str


def provider_title(name: str) -> str:
    """What a page calls a provider, as sentences do; its name in words where nobody declares it."""
    title = cloud_title(name)
    return name.replace("_", " ").title() if title == name else title


def geography_title(name: str) -> str:
    return name.replace("-", " ").title().replace("Us ", "US ")


def _providers() -> list[Choice]:
    return [(name, provider_title(name)) for name in catalog.current().offers.provider.names]


_COUNTRY_GROUPS: tuple[Choice, ...] = (
    ("eu", "European Union"),
    ("eea", "European Economic Area"),
    ("uk", "United Kingdom"),
    ("switzerland", "Switzerland"),
)
_PARTITIONS = {
    "commercial": "Commercial regions",
    "aws-china": "AWS China",
    "aws-us-gov": "AWS GovCloud (US)",
    "aws-us-iso": "AWS for US intelligence",
    "azure-china": "Azure China",
    "azure-us-gov": "Azure for the US government",
    "other-clouds": "Other clouds",
    "marketplaces": "Marketplaces",
}


def _trainers(tuning: str) -> str:
    return ", ".join(TRAINERS[tuning])


def _benchmarks() -> list[Choice]:
    choices = [
        (slug, f"{rows[0].workload} ({rows[0].unit}, {rows[0].year})")
        for slug, rows in benchmarks().items()
        if rows[0].workload_class != "nlp"
    ]
    return sorted(choices, key=lambda pair: pair[1])


def _fixed(*pairs: Choice) -> Callable[[], list[Choice]]:
    return lambda: list(pairs)


_CHOICES: dict[str, Callable[[], list[Choice]]] = {
    "providers": _providers,
    "geographies": lambda: [
        *(
            (name, geography_title(name))
            for name in sorted({one.geography for one in catalog.current().regions.values()})
            if name
        ),
        *_COUNTRY_GROUPS,
    ],
    "currencies": lambda: [
        (code, code) for code in sorted({"USD", *catalog.current().exchange_rates.currencies})
    ],
    "accelerators": lambda: [(one.slug, one.name) for one in all_accelerators() if not one.retired],
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
    "tunings": _fixed(
        ("standard", _trainers("standard")),
        ("benchmark", f"A vendor's recipe for this model and card ({_trainers('benchmark')})"),
        ("hand_tuned", f"Code tuned for speed ({_trainers('hand_tuned')})"),
        ("first_version", "Our own code, never profiled"),
    ),
    "sample_tunings": _fixed(
        ("hand_tuned", "Hand-tuned for speed"),
        ("standard", "Standard framework"),
        ("first_version", "First version, not profiled"),
    ),
    "loaders": _fixed(
        ("hand_tuned", "Tuned for speed (FFCV, DALI)"), ("usual", "The framework's own")
    ),
    "precisions": _fixed(
        *((name, name) for name in ("bf16", "fp16", "fp8", "fp4", "tf32", "fp32"))
    ),
    "serving_engines": _fixed(
        ("tuned", "An engine tuned to model and load"),
        ("default", "An engine as installed (vLLM, SGLang)"),
    ),
    "depreciations": _fixed(
        ("straight_line", "Straight line"), ("macrs_5", "MACRS, 5 years"), ("none", "None")
    ),
    "cash_timings": _fixed(
        ("month_start", "At the start of their month"),
        ("month_middle", "In the middle of their month"),
        ("month_end", "At the end of their month"),
        ("year_end", "At the end of each year of the plan"),
    ),
    "financing": _fixed(
        ("purchase", "Their price at once"),
        ("loan", "A loan"),
        ("hire_purchase", "Hire purchase"),
        ("lease", "A lease: they go back at its end"),
    ),
    "data_homes": lambda: [("on_prem", "Own premises"), *_providers()],
    "instalments": _fixed(
        ("in_arrears", "At the end of their month"), ("in_advance", "At the start of their month")
    ),
    "cloud_support_plans": lambda: [
        (plan, "No plan" if plan == "none" else get_support_plan(plan).label)
        for plan in get_args(SupportPlan)
    ],
    "scenarios": lambda: list(SCENARIO_TITLES.items()),
    "partitions": lambda: [(name, _PARTITIONS.get(name, name)) for name in PARTITIONS],
    "software": _fixed(
        ("cuda", "CUDA (NVIDIA)"),
        ("rocm", "ROCm (AMD)"),
        ("xla", "XLA (TPU)"),
        ("neuron", "Neuron (Trainium)"),
        ("any", "Any of them"),
    ),
    "interruptible": _fixed(
        ("true", "Yes, it can be interrupted"), ("false", "No, it runs until it is done")
    ),
    "partial_nodes": _fixed(
        ("false", "Whole machines only"),
        ("true", "Parts of a machine, at their share of its price"),
    ),
    "any_node": _fixed(
        ("false", "Large enough and joined by a network"),
        ("true", "Any size, interconnect and network"),
    ),
    "term_ends": _fixed(
        ("full", "Every payment counts"), ("within", "None may end after the horizon")
    ),
    "inherits": _fixed(("true", "Apply them"), ("false", "Don't apply, or already included")),
    "use_catalog": _fixed(("true", "Use the catalog"), ("false", "Only my own prices and servers")),
}


def list_choices(name: str) -> list[Choice]:
    return list(_CHOICES[name]())


def find_default(field: str, scale: str = "") -> Default | None:
    default = all_defaults().get(field)
    if default is None:
        return None
    value = default.value / float(SCALES[scale]) if scale else default.value
    text = f"{value:.6g}"
    return Default(text, f"{default.source} ({default.year})")


def server_title(slug: str) -> str:
    """What people call a server of the reference list; the label itself of any other."""
    return next((one.name for one in all_servers() if one.slug == slug), slug)
