"""Requests that name nearly every field: whatever one of them says can be made wrong."""

from __future__ import annotations

from typing import Any

from tests.golden.answers import BLOCK, H100

_HOURS = {
    "kind": "accelerator_hours",
    "accelerator": "H100",
    "hours_per_month": [4000.0] * 12,
    "peak_accelerators": [8] * 12,
    "accelerators_per_job": 8,
    "software": "cuda",
    "interruptible": False,
}
_RUNS = [{"start": "2027-01", "deadline": "2027-06", "count": 2}]
WORKLOADS: dict[str, dict[str, Any]] = {
    "training by its shape": {
        "kind": "training",
        "parameters": 7e9,
        "active_parameters": 2e9,
        "tokens": 1e11,
        "sequence_length": 4096,
        "layers": 32,
        "hidden_size": 4096,
        "attention_width": 4096,
        "vocabulary_size": 128_000,
        "experts": 8,
        "experts_per_token": 2,
        "feed_forward_size": 14_336,
        "is_gated": True,
        "cached_values_per_layer": 2048,
        "sliding_window": 1024,
        "sliding_layers": 8,
        "precision": "bf16",
        "optimizer": "adamw",
        "stage": "pretraining",
        "code": "hand_tuned",
        "global_batch_tokens": 4e6,
        "layout": {"tensor": 2, "pipeline": 2, "context": 1, "expert": 1},
        "zero_stage": 1,
        "activation_checkpointing": "selective",
        "micro_batch_size": 1,
        "goodput": 0.9,
        "accelerator": "H100",
        "experiments_factor": 1.5,
        "sweep": {"trials": 10, "share": 0.05},
        "runs": _RUNS,
    },
    "training as measured": {
        "kind": "training",
        "model": "Llama-3.1-8B",
        "tokens": 1e10,
        "tokens_per_second_per_accelerator": 4000,
        "accelerator": "H100",
    },
    "reinforcement": {
        "kind": "training",
        "parameters": 7e9,
        "tokens": 1e9,
        "mfu": 0.4,
        "padding": 0.1,
        "tokens_per_example": 800,
        "trainable_parameters": 2e7,
        "optimizer": "lora",
        "rollouts": {
            "response_tokens": 1000,
            "prompt_tokens": 300,
            "per_step": 512,
            "engine": "tuned",
            "has_reference": True,
            "critic_parameters": 1e9,
        },
    },
    "samples": {
        "kind": "samples",
        "samples": 1.28e6,
        "epochs": 90,
        "forward_gflops_per_sample": 8.2,
        "parameters": 25e6,
        "loader": "usual",
        "architecture": "convolutional",
        "code": "hand_tuned",
        "precision": "bf16",
        "goodput": 0.95,
        "accelerator": "A100",
        "runs": _RUNS,
    },
    "samples of a benchmark": {"kind": "samples", "samples": 1e7, "epochs": 3,
                               "benchmark": "resnet50-lambda"},
}  # fmt: skip
_FINANCING = {
    "method": "loan",
    "months": 36,
    "interest_rate_per_year": 0.06,
    "deposit_rate": 0.1,
    "balloon_rate": 0.1,
    "payments": "in_advance",
}
_SERVERS: dict[str, Any] = {
    "servers": [
        {
            "server": "hgx-h100-8",
            "label": "quoted",
            "unit_price": 190_000,
            "max_units": 4,
            "rack_units": 8,
            "lead_time_months": 2,
            "late_delivery": {"probability": 0.3, "months": 2},
            "useful_life_months": 48,
            "price_trend_per_year": -0.1,
            "financing": _FINANCING,
        },
        {
            "server": "custom",
            "accelerator": "H100",
            "accelerator_count": 8,
            "power_kw": 10,
            "typical_power_kw": 8,
            "idle_power_kw": 3,
            "running_cost_per_hour": 0.5,
            "quotes": [{"unit_price": 210_000, "quoted": "2026-09", "seller": "A"}],
        },
    ],
    "electricity_per_kwh": 0.2,
    "pue": 1.4,
    "colocation_per_kw_month": 150,
    "support_rate_per_year": 0.03,
    "network_storage_rate": 0.1,
    "install_cost_rate": 0.05,
    "staff_fte_per_server": 0.1,
    "staff_cost_per_year": 120_000,
    "spare_rate": 0.03,
    "insurance_rate_per_year": 0.01,
    "useful_life_months": 60,
    "residual_rate": 0.2,
    "resale_cost_rate": 0.05,
    "lead_time_months": 3,
    "workstation_lead_time_months": 1,
    "late_delivery_probability": 0.2,
    "late_delivery_months": 2,
    "server_price_spread": 0.1,
    "utilisation_ceiling": 0.9,
    "financing": _FINANCING,
    "already_owned": [{"server": "dgx-h100", "units": 1, "bought": "2025-06"}],
    "g_co2e_per_kwh": 300,
}
_COMMITMENT = {
    "label": "kept",
    "provider": "aws",
    "region": "us-east-1",
    "accelerator": "H100",
    "accelerator_count": 8,
    "units": 1,
    "price_per_month": 20_000,
    "ends": "2027-09",
}
_LEASE = {"server": "dgx-h100", "units": 1, "rent_per_month": 9000, "ends": "2027-10"}
_CREDIT = {"label": "grant", "provider": "aws", "amount": 100_000, "expires": "2027-09"}
_SPEND = {
    "label": "deal",
    "provider": "aws",
    "amount": 300_000,
    "first": "2027-01",
    "last": "2027-12",
    "spent": 1000,
}
_QUOTA = {"provider": "aws", "region": "us-east-1", "accelerator": "H100", "max_accelerators": 64}
_YEAR = {"fiscal_year": 2027, "amount": 2_000_000}
_DATA = {
    "storage_gib": 10_000,
    "egress_gib_per_month": 100,
    "checkpoint_gib": 500,
    "storage_per_gib_month": 0.02,
    "home": {"provider": "aws", "region": "us-east-1"},
    "transfer_gib_per_month": 1000,
}
_OFFER = {k: v for k, v in BLOCK.items() if k != "accelerator"} | {
    "accelerator": H100, "available_from": "2027-03", "available_until": "2027-05",
}  # fmt: skip
_SHARED: dict[str, Any] = {
    "start": "2027-01",
    "horizon_months": 12,
    "currency": "EUR",
    "custom_offers": [_OFFER],
    "price_adjustments": [
        {"provider": "aws", "family": "p5", "region": "us-east-1", "purchase_option": "on_demand",
         "multiplier": 0.9}
    ],
    "exchange_rates": {"EUR": {"units_per_usd": 0.9, "as_of": "2026-10"}},
    "term_end": "full",
    "on_prem": _SERVERS,
    "finance": {
        "discount_rate_per_year": 0.08,
        "cloud_price_trend_per_year": -0.1,
        "electricity_trend_per_year": 0.02,
        "staff_cost_trend_per_year": 0.03,
        "colocation_trend_per_year": 0.02,
        "support_trend_per_year": 0.02,
        "server_price_trend_per_year": -0.1,
        "cloud_support_rate": 0.03,
        "cloud_staff_fte_per_accelerator": 0.01,
        "depreciation": "macrs_5",
        "tax_rate": 0.25,
        "upfront_deduction_spread": 0.5,
        "cash_timing": "year_end",
        "payment_terms_days": 30,
        "fiscal_year_start_month": 4,
    },
}  # fmt: skip
COMPARISONS: dict[str, dict[str, Any]] = {
    "rented and bought": _SHARED
    | {
        "name": "All",
        "workload": _HOURS,
        "constraints": {
            "providers": ["aws"],
            "regions": ["us-east-1"],
            "allow_partial_nodes": True,
            "accelerators": ["H100"],
            "purchase_options": ["on_demand", "reserved", "capacity_block"],
            "min_accelerator_memory_gib": 40,
            "min_accelerators_per_node": 8,
            "interconnect": "nvlink",
            "max_spot_share": 0.2,
            "quotas": [_QUOTA],
            "max_term_months": 36,
            "power_kw": 200,
            "rack_units": 80,
            "capex_budget": 1_000_000,
            "capex_by_fiscal_year": [_YEAR],
            "monthly_budget": 400_000,
            "total_budget": 4_000_000,
        },
        "existing": {
            "commitments": [_COMMITMENT],
            "leased_servers": [_LEASE],
            "credits": [_CREDIT],
            "minimum_spend": [_SPEND],
        },
        "data": _DATA,
        "other_costs": [
            {"label": "move", "days": 10, "per_day": 800, "month": 2, "scenarios": ["on_prem"]},
            {"label": "tool", "per_accelerator_hour": 0.1},
        ],
        "risk": {
            "samples": 200,
            "seed": 3,
            "demand_growth_sd": 0.2,
            "price_sd": 0.2,
            "spot_interruptions_per_month": 2,
            "slip_months_sd": 1,
            "residual_sd": 0.2,
            "spot_goodput": 0.9,
            "checkpoint_save_hours": 0.05,
            "restart_hours": 0.2,
        },
    },
    "several clouds": _SHARED
    | {
        "workload": _HOURS,
        "constraints": {
            "geographies": ["europe"],
            "countries": ["NL", "US"],
            "near_country": "NL",
            "place_order": 1,
            "max_provider_share": 0.8,
            "min_providers": 2,
            "min_provider_share": 0.2,
        },
    },
    **{
        name: {"start": "2027-01", "horizon_months": 9, "workload": work}
        for name, work in WORKLOADS.items()
    },
}
PORTFOLIO = _SHARED | {
    "on_prem": {k: v for k, v in _SERVERS.items() if k != "already_owned"},
    "projects": [
        {
            "name": "A",
            "priority": 2,
            "workload": _HOURS,
            "start": "2027-01",
            "constraints": {"providers": ["aws"]},
            "window": {"start": "2027-02", "deadline": "2027-11", "max_accelerators": 32},
            "already_owned": [{"server": "dgx-h100", "units": 1, "bought": "2025-06"}],
            "commitments": [_COMMITMENT],
            "leased_servers": [_LEASE],
        },
        {"name": "B", "included": True, "workload": _HOURS},
    ],
    "limits": {
        "quotas": [_QUOTA],
        "capex_budget": 1_000_000,
        "capex_by_fiscal_year": [_YEAR],
        "monthly_budget": 400_000,
        "total_budget": 4_000_000,
    },
}
