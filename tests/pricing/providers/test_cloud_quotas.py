"""Quotas of a subscription and of a project, as rows of `constraints.quotas`."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command

from pricing.ingest.provider import ProviderUnavailable
from pricing.providers.azure import provider as azure
from pricing.providers.gcp import provider as gcp
from tests.pricing.providers.azure_tools import context
from tests.pricing.servers.azure import AzureServer
from tests.pricing.servers.gcp import GcpServer

A100, H100 = "nvidia-a100-80gb-pcie", "nvidia-h100-80gb-sxm"


def usage(family: str, limit: int) -> dict[str, object]:
    return {
        "unit": "Count",
        "currentValue": 24,
        "limit": limit,
        "name": {"value": family, "localizedValue": family},
    }


def azure_server() -> AzureServer:
    server = AzureServer()
    for sku in server.skus:
        is_a100 = "A100_v4" in sku["name"]
        sku["family"] = "StandardNCADSA100v4Family" if is_a100 else f"family {sku['name']}"
    server.usages = {
        "westeurope": [
            usage("standardNCADSA100v4Family", 100),
            usage("family Standard_ND96isr_H100_v5", 95),
            usage("cores", 350),
        ],
        "westus3": [usage("standardNCADSA100v4Family", 24)],
    }
    return server


def row(provider: str, region: str, accelerator: str, most: int) -> dict[str, object]:
    return {
        "provider": provider,
        "region": region,
        "accelerator": accelerator,
        "max_accelerators": most,
    }


def test_azures_limits_in_vcpus_become_accelerators() -> None:
    with azure_server() as server:
        found = azure.fetch_quotas(context(server.settings_with_subscription))
    assert found == [
        row("azure", "westeurope", A100, 4),
        row("azure", "westeurope", H100, 0),
        row("azure", "westus3", A100, 1),
    ]


def test_azure_without_a_subscription_says_what_to_do() -> None:
    with pytest.raises(ProviderUnavailable, match="Set AZURE_SUBSCRIPTION_ID"):
        azure.fetch_quotas(context({}))


def gcp_server() -> GcpServer:
    server = GcpServer()
    server.regions = [
        {
            "name": "us-central1",
            "quotas": [
                {"metric": "NVIDIA_H100_GPUS", "limit": 8.0, "usage": 2.0},
                {"metric": "NVIDIA_H100_MEGA_GPUS", "limit": 16.0, "usage": 0.0},
                {"metric": "PREEMPTIBLE_NVIDIA_H100_GPUS", "limit": 64.0},
                {"metric": "COMMITTED_NVIDIA_H100_GPUS", "limit": 32.0},
                {"metric": "CPUS", "limit": 2400.0},
            ],
        },
        {"name": "europe-west4", "quotas": [{"metric": "NVIDIA_T4_GPUS"}]},
    ]
    return server


def test_gcps_limits_count_accelerators() -> None:
    with gcp_server() as server:
        found = gcp.fetch_quotas(context(server.settings_with_project))
    assert found == [
        row("gcp", "europe-west4", "nvidia-t4", 0),
        row("gcp", "us-central1", H100, 24),
    ]


def test_gcp_without_a_project_says_what_to_do() -> None:
    with pytest.raises(ProviderUnavailable, match="Set GCP_PROJECT"):
        gcp.fetch_quotas(context({}))


@pytest.mark.django_db
def test_the_command_tells_both_clouds_quotas(monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    with azure_server() as azures, gcp_server() as gcps:
        for name, value in (azures.settings_with_subscription | gcps.settings_with_project).items():
            monkeypatch.setenv(name, value)
        call_command("pull_quotas", "azure", "gcp", "--json", stdout=out)
    found = json.loads(out.getvalue())
    assert [(q["provider"], q["region"], q["max_accelerators"]) for q in found] == [
        ("azure", "westeurope", 4),
        ("azure", "westeurope", 0),
        ("azure", "westus3", 1),
        ("gcp", "europe-west4", 0),
        ("gcp", "us-central1", 24),
    ]


def test_quotas_replay_from_a_recording() -> None:
    pages: dict[str, bytes] = {}
    with gcp_server() as server:
        settings = server.settings_with_project
        live = gcp.fetch_quotas(context(settings, record=pages.__setitem__))
    assert gcp.fetch_quotas(context({}, replay=pages.get)) == live
