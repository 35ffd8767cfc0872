"""What people read for the keys of an answer: titles of scenarios and providers. PURE."""

from __future__ import annotations

SCENARIO_TITLES = {
    "on_demand": "On demand",
    "spot": "Spot",
    "committed": "Committed",
    "cloud_mix": "Cloud mix",
    "on_prem": "On-prem",
    "hybrid": "Hybrid",
}
"""What each scenario is called on a page."""
_BUDGET_TITLES = {"total": "Budget", "capital": "Capital budget", "monthly": "Monthly budget"}

BEFORE_TODAY = ", before today: "
"""Stands in the warning that months of a plan are over, and in no other."""
NOT_COUNTED = " and not counted"
"""Stands in a verdict where contracts cost more after the plan than it counts, and in no other."""
NO_RANGE_HERE = "does not hold here"
"""Stands in the warnings on work far from every published run, and in no other."""
BEYOND_ANY_CLUSTER = "more than the largest known training clusters have"
"""Stands in the warnings on more accelerators than were ever together, and in no other."""
RESERVED_AS_ESTIMATED = "reserved by date holds the hours as estimated"
"""Stands in the warning on a reservation that may be too short, and in no other."""
MISSES_ITS_DEADLINE = "is not done by its deadline"
"""Stands in the warning on a deadline that may be missed, and in no other."""
WITHOUT_SPOT = "hours on demand while spot is not there"
"""Stands in the lines of such hours, and in no other."""
_FIRST = (
    *(BEFORE_TODAY, NO_RANGE_HERE, BEYOND_ANY_CLUSTER, RESERVED_AS_ESTIMATED),
    MISSES_ITS_DEADLINE,
)
PROVIDER_TITLES = {"aws": "Amazon Web Services", "azure": "Microsoft", "gcp": "Google Cloud"}
"""Who issues the invoice of each provider."""
CLOUD_TITLES = {"aws": "AWS", "azure": "Azure", "gcp": "Google Cloud"}
"""What people call each cloud in a sentence."""
OTHER_CLOUD_TITLES = {
    "coreweave": "CoreWeave",
    "crusoe": "Crusoe",
    "denvr": "Denvr",
    "digitalocean": "DigitalOcean",
    "hyperbolic": "Hyperbolic",
    "hyperstack": "Hyperstack",
    "ibm": "IBM Cloud",
    "lambda": "Lambda",
    "massed-compute": "Massed Compute",
    "nebius": "Nebius",
    "oci": "Oracle Cloud",
    "ovhcloud": "OVHcloud",
    "runpod": "RunPod",
    "scaleway": "Scaleway",
    "vast": "Vast.ai",
    "verda": "Verda",
    "voltage-park": "Voltage Park",
    "vultr": "Vultr",
}
"""What people call the other clouds."""
SERVICE_TITLES = {"aws": "Amazon EC2", "azure": "Virtual Machines", "gcp": "Compute Engine"}
"""The service of each provider that rents machines."""
ON_PREM_TITLE = "On premises"
"""What stands for the provider of servers that the team owns."""
CATEGORY_TITLES = {
    "compute": "machines rented",
    "commitment": "commitments",
    "upfront": "paid upfront",
    "capex": "servers",
    "install": "installation",
    "network_storage": "network and storage of servers",
    "storage": "storage of data",
    "egress": "data moved out",
    "spares": "spares",
    "staff": "people",
    "credit": "credits",
    "shortfall": "minimum spend not reached",
    "other": "other costs",
    "residual": "resale of servers",
}
"""What people call the categories of cost whose own name does not say it."""
LIMIT_TITLES = {
    "providers": "the choice of providers",
    "regions": "the choice of regions",
    "geographies": "the choice of places",
    "countries": "the choice of countries",
    "partitions": "the choice of parts of the clouds",
    "purchase_options": "the choice of purchase options",
    "software": "the software that the code runs on",
    "min_accelerator_memory_gib": "the minimum memory of an accelerator",
    "min_accelerators_per_node": "the minimum number of accelerators in a machine",
    "interconnect": "the interconnect asked for",
    "max_term_months": "the longest term",
}
"""Limits on what may be rented, as they begin a sentence on what they rule out."""


def category_title(category: str) -> str:
    """What people call a category of cost.

    >>> category_title("capex"), category_title("power")
    ('servers', 'power')
    """
    return CATEGORY_TITLES.get(category, category.replace("_", " "))


def provider_title(provider: str) -> str:
    """Who issues the invoice; the team itself for what it owns.

    >>> provider_title("aws"), provider_title("lambda"), provider_title("")
    ('Amazon Web Services', 'lambda', 'On premises')
    """
    return PROVIDER_TITLES.get(provider, provider) or ON_PREM_TITLE


def cloud_title(provider: str) -> str:
    """What people call a cloud; the provider's own name where it is none we know.

    >>> cloud_title("gcp"), cloud_title("lambda"), cloud_title("nimbus")
    ('Google Cloud', 'Lambda', 'nimbus')
    """
    return CLOUD_TITLES.get(provider) or OTHER_CLOUD_TITLES.get(provider, provider)


def name_offer(label: str, provider: str) -> str:
    """An offer by its label and its provider, where it has one.

    >>> name_offer("p5.4xlarge in us-east-1, on demand", "aws"), name_offer("Quote 7", "")
    ('p5.4xlarge in us-east-1, on demand at AWS', 'Quote 7')
    """
    return f"{label} at {cloud_title(provider)}" if provider else label


UNNAMED_REGION = "all-regions"
"""Region of an offer whose price list names none (`docs/providers/other-clouds.md`)."""
_NO_REGION = "no region named"


def name_region(region: str, name: str = "", city: str = "") -> str:
    """What people call a region: by its name, else by its id and city.

    >>> name_region("eu-south-2", "Europe (Spain)"), name_region("us-east5", "", "Columbus")
    ('Europe (Spain)', 'us-east5 (Columbus)')
    >>> name_region("eastus2", "eastus2"), name_region("westus3")
    ('eastus2', 'westus3')
    >>> name_region("all-regions")
    'no region named'
    """
    if region == UNNAMED_REGION:
        return _NO_REGION
    if name and name != region:
        return name
    return f"{region} ({city})" if city else region


def join_place(provider: str, region: str) -> str:
    """A region of a cloud by name, which may begin with the cloud's own or be in no list.

    >>> join_place("aws", "Europe (Spain)"), join_place("aws", "AWS GovCloud (US-East)")
    ('AWS Europe (Spain)', 'AWS GovCloud (US-East)')
    >>> join_place("denvr", "all-regions")
    'Denvr (no region named)'
    """
    title = cloud_title(provider)
    if region in (UNNAMED_REGION, _NO_REGION):
        return f"{title} ({_NO_REGION})"
    return region if region.startswith(f"{title} ") else f"{title} {region}".strip()


def service_title(provider: str) -> str:
    """The service that rents the machines of a provider.

    >>> service_title("gcp"), service_title("")
    ('Compute Engine', 'On premises')
    """
    return SERVICE_TITLES.get(provider, provider) or ON_PREM_TITLE


def budget_title(kind: str, fiscal_year: int | None = None) -> str:
    """Which budget: of the whole plan, of capital, of a fiscal year, or of a month.

    >>> budget_title("capital"), budget_title("capital", 2027)
    ('Capital budget', 'Capital budget of fiscal year 2027')
    """
    title = _BUDGET_TITLES[kind]
    return title if fiscal_year is None else f"{title} of fiscal year {fiscal_year}"


def comes_first(warning: str) -> bool:
    """Whether a warning has to be seen before the advice is.

    >>> comes_first("The oldest price used is of 2026-09-10.")
    False
    """
    return any(words in warning for words in _FIRST)
