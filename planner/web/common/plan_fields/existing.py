"""The boxes of what is there already: commitments, leases, credits, minimum spends."""

from __future__ import annotations

from planner.web.common.plan_fields.field import describe_field as _f

COMMITMENT = (
    _f("existing.commitments.*.label", "Name", kind="text", typical="Reservation of 2026"),
    _f("existing.commitments.*.provider", "Provider", kind="choice", choices="providers"),
    _f("existing.commitments.*.region", "Region", kind="text", typical="any"),
    _f("existing.commitments.*.accelerator", "Accelerator", kind="text", typical="H100"),
    _f("existing.commitments.*.accelerator_count", "Accelerators of a machine", typical="8"),
    _f("existing.commitments.*.units", "Machines", typical="1"),
    _f("existing.commitments.*.price_per_month", "Charge for a machine", unit="money/month",
       help="What was paid upfront is spent: leave it out."),
    _f("existing.commitments.*.ends", "Last month", kind="month", typical="2028-06"),
)  # fmt: skip

LEASED = (
    _f("existing.leased_servers.*.server", "Server on lease", kind="choice", choices="servers"),
    _f("existing.leased_servers.*.units", "Units", typical="1"),
    _f("existing.leased_servers.*.rent_per_month", "Rent of one", unit="money/month"),
    _f("existing.leased_servers.*.ends", "Last month", kind="month", typical="2028-06"),
    _f("existing.leased_servers.*.site", "Site", kind="text", typical="the only one"),
)

CREDIT = (
    _f("existing.credits.*.label", "Name", kind="text", typical="Startup credits"),
    _f("existing.credits.*.amount", "Left", unit="money"),
    _f("existing.credits.*.provider", "Provider", kind="choice", choices="providers"),
    _f("existing.credits.*.expires", "Last month", kind="month", typical="2027-12"),
)

MINIMUM_SPEND = (
    _f("existing.minimum_spend.*.label", "Name", kind="text", typical="EDP, year 2"),
    _f("existing.minimum_spend.*.provider", "Provider", kind="choice", choices="providers"),
    _f("existing.minimum_spend.*.amount", "To spend", unit="money"),
    _f("existing.minimum_spend.*.first", "First month", kind="month", typical="2027-01"),
    _f("existing.minimum_spend.*.last", "Last month", kind="month", typical="2027-12"),
    _f("existing.minimum_spend.*.spent", "Spent before the plan", unit="money", typical="0"),
    _f("existing.minimum_spend.*.discount_rate", "Discount", unit="% of list prices",
       scale="pct", typical="0"),
)  # fmt: skip

EXISTING_ROWS = {
    "existing.commitments": COMMITMENT,
    "existing.leased_servers": LEASED,
    "existing.credits": CREDIT,
    "existing.minimum_spend": MINIMUM_SPEND,
}
