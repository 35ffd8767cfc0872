"""Prices of accelerators: how they are read, checked, published and kept."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Before numpy is loaded: the matrices here are so small that a second thread only waits, up to
a second where another process keeps the other core busy."""
