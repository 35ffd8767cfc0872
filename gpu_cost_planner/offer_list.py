"""Offers of a catalog in a notebook: found by the API's filters, shown with the API's fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_cost_planner.table import Table
from pricing.market.offer_filters import search_offers
from pricing.market.offer_json import offer_json
from pricing.market.offers import Offer
from pricing.market.snapshot import Catalog

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class OfferList:
    """Some offers of a catalog in order of price; iterate for the offers themselves."""

    catalog: Catalog
    rows: tuple[int, ...]
    """Rows of the catalog's table."""
    count: int
    """Offers that meet the filters, with those beyond `limit`."""

    def to_json(self) -> list[dict[str, Any]]:
        """Each offer with the fields that the API gives, money as decimal text."""
        revisions = {info.provider: info.revision for info in self.catalog.revisions}
        return [offer_json(self.catalog, row, revisions) for row in self.rows]

    def to_frame(self, *, floats: bool = False) -> pd.DataFrame:
        """A row for each offer; money is exact `Decimal`, or `float64` with `floats=True`."""
        return self._table.to_frame(floats=floats)

    def to_csv(self) -> str:
        """The offers as CSV with exact amounts."""
        return self._table.to_csv()

    def __iter__(self) -> Iterator[Offer]:
        return (self.catalog.offers.offer(row) for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<{len(self)} of {self.count} offers; .to_frame() is a pandas frame>"

    def _repr_html_(self) -> str:
        return self._table._repr_html_()

    @property
    def _table(self) -> Table:
        return Table("offers", self._build)

    def _build(self) -> pd.DataFrame:
        from planner.exports.frames import offers_frame

        return offers_frame(self.to_json())


def find_offers(
    catalog: Catalog,
    names: Mapping[str, str | Sequence[str]],
    *,
    limit: int | None = None,
    **limits: Any,
) -> OfferList:
    """The offers of `catalog` that meet every filter (`pricing.market.offer_filters`)."""
    rows, count = search_offers(catalog, names, limit=limit, **limits)
    return OfferList(catalog, rows, count)
