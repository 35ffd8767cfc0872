"""The site as it is run, for the benches that load it."""
