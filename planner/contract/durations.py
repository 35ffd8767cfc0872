"""How long something works, in words. PURE."""

from __future__ import annotations

_MINUTES = 60
_FEW = 10
"""Hours below which a tenth of one counts; a matter of style, 2026."""


def format_duration(hours: float) -> str:
    """Hours with a tenth below ten of them, minutes where there is not one hour.

    >>> format_duration(1676.2), format_duration(1.74), format_duration(1.0)
    ('1,676 hours', '1.7 hours', '1 hour')
    >>> format_duration(0.21), format_duration(1 / 60), format_duration(0.001)
    ('13 minutes', '1 minute', 'less than a minute')
    """
    minutes = round(hours * _MINUTES)
    if minutes < 1:
        return "less than a minute"
    if minutes < _MINUTES:
        return f"{minutes} {'minute' if minutes == 1 else 'minutes'}"
    shown = f"{hours:,.0f}" if round(hours, 1) >= _FEW else f"{hours:.1f}".removesuffix(".0")
    return f"{shown} {'hour' if shown == '1' else 'hours'}"
