"""What people read for the keys of an answer. PURE."""

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
