"""Many comparisons of one request, over a grid of values."""
