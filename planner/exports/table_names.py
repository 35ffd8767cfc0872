"""Names of the tables of an answer, known without loading pandas; `frames` builds them."""

from __future__ import annotations

TABLES = (
    *("scenarios", "lines", "capacity", "purchases", "fiscal_years", "break_even"),
    *("assumptions", "tornado", "risk", "verdict"),
)
