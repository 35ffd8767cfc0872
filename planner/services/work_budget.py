"""How much work a request or a job may ask for.

Everything computed for one request shares one meter: a plan and its explanation count against the
same budget.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from planner.costing.optimizer.work import IsCancelled, WorkMeter
from planner.services.observability.measures import WORK_LIMITED, WORK_UNITS


@dataclass
class Budget:
    """What one request or job may spend."""

    is_signed_in: Callable[[], bool]
    is_job: bool = False
    is_cancelled: IsCancelled | None = None
    parts: int = 1
    """Questions of a job that share its budget; each has its part (`renew`)."""
    _meter: WorkMeter | None = None

    @property
    def meter(self) -> WorkMeter:
        """The meter, made when something is first computed: by then it is known who asks."""
        if self._meter is None:
            steps = [settings.WORK_ANONYMOUS, settings.WORK_SIGNED_IN, settings.WORK_JOB]
            limit: int = steps[self.is_signed_in() + self.is_job]
            self._meter = WorkMeter(limit // self.parts, self.is_cancelled)
        return self._meter

    def renew(self) -> None:
        """Gives the next part of a job, a comparison that was saved by itself, the whole anew."""
        self.measure()
        self._meter = None

    def measure(self) -> None:
        """Counts for the operator what was spent, where anything was computed."""
        if self._meter is None:
            return
        origin = "job" if self.is_job else "request"
        WORK_UNITS.labels(origin).observe(self._meter.done)
        if self._meter.left_out:
            WORK_LIMITED.labels(origin).inc()

    @property
    def hint(self) -> str:
        """Who may ask for more, "" where nobody may."""
        if self.is_job:
            return "" if self.is_signed_in() else "A job of somebody signed in may take more."
        if self.is_signed_in():
            return "As a job it may take more."
        return "Signed in you may ask for more, and as a job for more still."


_budget: ContextVar[Budget | None] = ContextVar("work_budget", default=None)


@contextmanager
def spend_from(budget: Budget) -> Iterator[None]:
    """What is compared inside spends from this budget."""
    token = _budget.set(budget)
    try:
        yield
    finally:
        _budget.reset(token)


def current_budget() -> Budget:
    """The budget of the request or job; outside of both that of a job, for each comparison."""
    return _budget.get() or Budget(is_signed_in=lambda: True, is_job=True)


def recognise_token() -> None:
    """Notes that the request came with a valid token."""
    budget = _budget.get()
    if budget is not None:
        budget.is_signed_in = lambda: True


def client_address(meta: Mapping[str, Any]) -> str:
    """The address that limits count for: `192.0.2.7`, of IPv6 the network of a customer.

    Of `X-Forwarded-For` as many entries are believed as there are proxies of ours (NUM_PROXIES).
    """
    proxies: int = settings.NUM_PROXIES
    entries = str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",") if proxies else [""]
    believed = entries[-min(proxies, len(entries))].strip()[:60]
    try:
        address = ipaddress.ip_address(believed or str(meta.get("REMOTE_ADDR", "")))
    except ValueError:
        return "unknown"
    if address.version == 4:
        return str(address)
    # One customer is given 64 bits; the rest of an address is theirs to choose (RFC 6177).
    network = ipaddress.ip_network((address, 64), strict=False)
    return str(address.ipv4_mapped or network.network_address)
