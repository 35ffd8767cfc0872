"""The boxes of limits: places, options, providers, room, budgets, quotas."""

from __future__ import annotations

from planner.web.common.plan_fields.field import describe_field as _f

LIMITS = (
    _f("constraints.providers", "Providers", kind="choices", choices="providers"),
    _f("constraints.geographies", "Geographies", kind="choices", choices="geographies"),
    _f("constraints.countries", "Countries", kind="words", typical="DE, FR",
       help="Two-letter codes; empty means every country. Within the geographies chosen."),
    _f("constraints.regions", "Regions", kind="words", typical="us-east-1, westeurope",
       help="Within the geographies and countries chosen."),
    _f("constraints.accelerators", "Only these accelerators", kind="words",
       typical="H100, nvidia-h200-141gb-sxm", help="Names or slugs; empty means any that fits."),
    _f("constraints.purchase_options", "Purchase options", term="commitment", kind="choices",
       choices="purchase_options"),
    _f("constraints.min_accelerator_memory_gib", "Minimum accelerator memory", unit="GiB",
       typical="80"),
    _f("constraints.min_accelerators_per_node", "Minimum accelerators per machine", typical="8"),
    _f("constraints.max_spot_share", "Maximum spot share", term="spot",
       unit="%", scale="pct", typical="100"),
    _f("constraints.undated_price_margin", "Undated prices must be lower by",
       unit="%", scale="pct", typical="5",
       help="A price of unknown age is used only where no dated one is about as low."),
    _f("constraints.max_term_months", "Longest commitment", term="commitment", unit="months",
       typical="any", help="No longer commitment is signed."),
    _f("constraints.max_provider_share", "Largest share of one provider", unit="% of the work",
       scale="pct", typical="100",
       help="Of each month's work. Own servers do not count as a provider."),
    _f("constraints.min_providers", "Minimum number of providers", typical="1",
       help="Side by side in every month; own servers count as one."),
    _f("constraints.min_provider_share", "Least work for a provider to count", unit="% of the work",
       scale="pct", typical="10"),
    _f("constraints.power_kw", "Power for own servers", unit="kW", typical="any",
       help="Nameplate power of all servers in service, without cooling."),
    _f("constraints.rack_units", "Rack units for own servers", unit="rack units", typical="any",
       help="All in service; a rack has about 42."),
    _f("constraints.capex_budget", "Capital budget", term="capex",
       unit="money", typical="1000000",
       help="All purchases over the horizon."),
    _f("constraints.monthly_budget", "Monthly budget", unit="money", typical="250000"),
    _f("constraints.total_budget", "Total budget", unit="money", typical="5000000",
       help="All payments of the plan, including those owed after the horizon."),
)  # fmt: skip

QUOTA = (
    _f("constraints.quotas.*.provider", "Provider", kind="choice", choices="providers"),
    _f("constraints.quotas.*.region", "Region", kind="text", typical="any"),
    _f("constraints.quotas.*.accelerator", "Accelerator", kind="text", typical="H100"),
    _f("constraints.quotas.*.max_accelerators", "At most", typical="64"),
)

SITE = (
    _f("constraints.sites.*.site", "Site", kind="text", typical="Frankfurt"),
    _f("constraints.sites.*.power_kw", "Power", unit="kW", typical="any"),
    _f("constraints.sites.*.rack_units", "Height", unit="rack units", typical="any"),
)
