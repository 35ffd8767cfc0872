"""How much work a simulation is, and how many samples so much work allows. PURE."""

from __future__ import annotations

SAMPLE_MONTH_UNITS = 0.01
"""Units of work for a month of one plan in one sample, under edition 1 of the rules."""
DRAWN_MONTH_UNITS = 0.02
"""The same for a month of one price drawn from its process."""
RECOURSE_MONTH_UNITS, PART_MONTH_UNITS, COHORT_MONTH_UNITS = 0.008, 0.002, 0.0005
"""The same for a month of a plan under edition 2; for each price that it rents at; and for all
that it starts later in one month."""
COHORT_UNITS, COHORT_PAIR_UNITS = 0.02, 0.0003
"""The same for one start of a later month, and against each one before it."""
MEASURING_UNITS, MEASURE_SOURCE_UNITS = 500, 4
"""Units of work to see a plan as samples do, and for each source of the comparison."""
MAX_DRAWN_FIGURES = 10_000_000
"""Months of prices and of demand in all samples that are held together: 80 MB, and half as much
again while they are drawn."""
MIN_SAMPLES = 100
"""Fewer samples than that say nothing of a worst tenth."""


def simulation_units(samples: int, plans: int, months: int) -> float:
    """Units of work to cost so many plans in so many samples."""
    return 30 + samples * (plans + 2) * (months + 10) * SAMPLE_MONTH_UNITS


def drawing_units(samples: int, prices: int, months: int) -> float:
    """Units of work to draw so many prices and the demand."""
    return 30 + samples * (prices + 1) * (months + 10) * DRAWN_MONTH_UNITS


def recourse_units(samples: int, parts: int, later: int, months: int) -> float:
    """Units of work to cost a plan that rents at so many prices and starts units in so many
    cohorts after its first month."""
    by_month = RECOURSE_MONTH_UNITS + parts * PART_MONTH_UNITS + later * COHORT_MONTH_UNITS
    by_cohort = later * (COHORT_UNITS + later * COHORT_PAIR_UNITS)
    return 30 + samples * ((months + 10) * by_month + by_cohort)


def measuring_units(plans: int, sources: int) -> float:
    """Units of work to see so many plans as samples do."""
    return plans * (MEASURING_UNITS + sources * MEASURE_SOURCE_UNITS)


def fit_memory(samples: int, prices: int, months: int) -> int:
    """As many of the samples as fit into memory."""
    return min(samples, MAX_DRAWN_FIGURES // ((prices + 2) * (months + 1)))


def fit_samples(samples: int, units_per_1000: float, units: float) -> int:
    """As many of the samples as so many units allow, 0 where that is too few to say anything.

    >>> fit_samples(100_000, simulation_units(1_000, plans=6, months=36), units=20_000)
    5390
    >>> fit_samples(1_000, simulation_units(1_000, plans=6, months=36), units=20_000)
    1000
    """
    most = min(samples, units / units_per_1000 * 1_000)
    return int(most) if most >= MIN_SAMPLES else 0
