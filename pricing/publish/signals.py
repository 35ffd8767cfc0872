"""What others may wait for. A receiver that fails is logged; it never fails a refresh."""

from __future__ import annotations

from django.dispatch import Signal

revision_published = Signal()
"""Sent once a revision is committed, with `revision`."""

refresh_ended = Signal()
"""Sent once a refresh that may publish has ended, with `results`: what each provider came to."""
