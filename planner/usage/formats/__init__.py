"""One module a format: what it is told by, and how its rows are read."""
