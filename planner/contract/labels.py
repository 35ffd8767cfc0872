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

PROVIDER_TITLES = {"aws": "Amazon Web Services", "azure": "Microsoft", "gcp": "Google Cloud"}
"""Who issues the invoice of each provider."""
SERVICE_TITLES = {"aws": "Amazon EC2", "azure": "Virtual Machines", "gcp": "Compute Engine"}
"""The service of each provider that rents machines."""
ON_PREM_TITLE = "On premises"
"""What stands for the provider of servers that the team owns."""


def provider_title(provider: str) -> str:
    """Who issues the invoice; the team itself for what it owns.

    >>> provider_title("aws"), provider_title("lambda"), provider_title("")
    ('Amazon Web Services', 'lambda', 'On premises')
    """
    return PROVIDER_TITLES.get(provider, provider) or ON_PREM_TITLE


def service_title(provider: str) -> str:
    """The service that rents the machines of a provider.

    >>> service_title("gcp"), service_title("")
    ('Compute Engine', 'On premises')
    """
    return SERVICE_TITLES.get(provider, provider) or ON_PREM_TITLE
