"""What a month's data costs in each place, for the plain model."""

from collections.abc import Iterator
from typing import Any

AWS_EGRESS = ((0, 0.09), (10_240, 0.085), (51_200, 0.07))
"""The list price of AWS; of others the default, 0.09."""


class PlainData:
    """Places are "aws", "gcp" and "", one's own premises."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.data = request["data"]
        home = self.data.get("home")
        self.home = None if home is None else home["provider"].replace("on_prem", "")

    def _tiered(self, item: str, place: str, gib: float) -> float:
        """Cost of so many GiB at listed prices."""
        tiers: list[tuple[float, float]] = [(0, 0.08 if item == "storage" else 0.09)]
        if item == "egress" and place == "aws":
            tiers = list(AWS_EGRESS)
        cost = 0.0
        for n, (above, price) in enumerate(tiers):
            end = tiers[n + 1][0] if n + 1 < len(tiers) else float("inf")
            cost += price * max(0.0, min(gib, end) - above)
        return cost

    def _storage(self, place: str, gib: float) -> float:
        if place:
            return self._tiered("storage", place, gib)
        return gib / 1024 * float(self.data["on_prem_storage_per_tib_month"])

    @property
    def at_home(self) -> float:
        """Of a month, whatever is decided."""
        return 0.0 if self.home is None else self._storage(self.home, self.data["storage_gib"])

    def costs_at(self, place: str) -> Iterator[tuple[str, float]]:
        """Of a month whose work is all done there."""
        if self.home is None:
            yield "storage", self._storage(place, self.data["storage_gib"])
        if place:
            yield "egress", self._tiered("egress", place, self.data["egress_gib_per_month"])
        if self.home is not None and place != self.home:
            moved = self.data.get("transfer_gib_per_month", self.data["storage_gib"])
            yield "storage", self._storage(place, moved)
            yield "egress", self._tiered("egress", self.home, moved) if self.home else 0.0
