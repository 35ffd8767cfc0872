"""Pages of a team: projects, saved comparisons, settings, refreshes."""
