"""The boxes of data: how much, what it costs, where it lives."""

from __future__ import annotations

from planner.web.common.plan_fields.field import describe_field as _f

DATA = (
    _f("data.storage_gib", "Data kept", unit="GiB", typical="0"),
    _f("data.egress_gib_per_month", "Egress", unit="GiB/month", typical="0"),
    _f("data.checkpoint_gib", "Size of a checkpoint", unit="GiB", typical="from the model"),
    _f("data.storage_per_gib_month", "Cloud storage costs", unit="money/GiB/month",
       typical="price lists"),
    _f("data.egress_per_gib", "Egress costs", unit="money/GiB", typical="price lists"),
    _f("data.on_prem_storage_per_tib_month", "Storage of your own costs", unit="money/TiB/month",
       default="on_prem_storage_per_tib_month"),
    _f("data.home.provider", "The data lives at", kind="choice", choices="data_homes",
       help="Work done elsewhere pays for moving it. If empty, it is kept where the work is."),
    _f("data.home.region", "In the region", kind="text", typical="us-east-1"),
    _f("data.transfer_gib_per_month", "Moved to work elsewhere", unit="GiB/month",
       typical="all of it"),
    _f("data.transfer_gbit_per_s", "Moved at", unit="Gbit/s", typical="no wait",
       help="Machines wait for it and are paid for."),
)  # fmt: skip

DATA_PRICE = (
    _f("data.prices.*.item", "Price of", kind="choice", choices="data_items"),
    _f("data.prices.*.provider", "Provider", kind="choice", choices="providers"),
    _f("data.prices.*.region", "Region", kind="text", typical="any"),
    _f("data.prices.*.above_gib", "Above", unit="GiB", typical="0"),
    _f("data.prices.*.price_per_gib", "Price per GiB", unit="money", typical="0.05"),
)  # fmt: skip
