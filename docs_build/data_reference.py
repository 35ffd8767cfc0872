"""The tables of defaults and reference servers, from the files that the program reads."""

from __future__ import annotations

from docs_build.markdown_table import format_table
from planner.costing.assumptions.assumptions import all_defaults
from planner.costing.assumptions.reference_servers import all_servers


def render_defaults() -> str:
    """Every default of a comparison with its range and source."""
    rows = (
        (
            f"`{name}`",
            f"{one.value:,.10g}",
            f"{one.low:,.10g} to {one.high:,.10g}",
            one.unit,
            str(one.year),
            f"{'assumed; ' if one.assumed else ''}{one.source}",
        )
        for name, one in all_defaults().items()
    )
    return format_table(("field", "default", "range", "unit", "year", "source"), rows)


def render_servers() -> str:
    """Every reference server with its price and power."""
    rows = (
        (
            f"`{one.slug}`",
            one.name,
            f"{one.accelerator_count} × `{one.accelerator}`",
            f"{one.unit_price_usd:,.0f} ({one.price_year})",
            f"{one.power_kw:g}",
            "yes" if one.on_sale else "no",
        )
        for one in all_servers()
    )
    return format_table(("slug", "server", "accelerators", "USD", "kW", "on sale"), rows)
