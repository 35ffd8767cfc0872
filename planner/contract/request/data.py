"""Data that the work holds and moves: where it lives, and what it costs. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from planner.contract.request.fields import Price, entries
from planner.contract.request.workload import Slug
from planner.contract.validation import Number, RequestModel
from pricing.common.invalid_input import InvalidInput

ON_PREMISES = "on_prem"
DataItem = Literal["storage", "egress", "transfer", "ingest"]


class DataPrice(RequestModel):
    """A price of data, of one tier and place; of several that match, those of the region go before
    those of the provider, and those before the ones of all places."""

    item: DataItem
    """`storage` of a GiB for a month; of a GiB `egress` out of the cloud, `transfer` of the data
    set from where it lives to where the work is done (absent: as egress), `ingest` into a place
    (absent: 0)."""
    provider: Slug | None = None
    """Provider that it holds at; absent: all."""
    region: Slug | None = None
    """Region that it holds in; absent: all of the provider's."""
    above_gib: Annotated[Number, Field(ge=0, le=1e12)] = 0.0
    """Volume of a month above which the tier holds, GiB; the first tier of a place begins at 0."""
    price_per_gib: Price
    """Price of a GiB, for a month where it is stored."""


class DataHome(RequestModel):
    """Where the data set lives: it is kept there all the time, and taken to work done elsewhere."""

    provider: Slug
    """Provider, or `on_prem` for one's own premises."""
    region: Slug | None = None
    """Region of the provider."""

    @model_validator(mode="after")
    def _consistent(self) -> DataHome:
        if self.provider == ON_PREMISES and self.region is not None:
            raise InvalidInput("region", f"has no meaning with provider {ON_PREMISES}")
        if self.provider != ON_PREMISES and self.region is None:
            raise InvalidInput("region", f"is required with provider {self.provider}")
        return self

    @property
    def place(self) -> tuple[str, str]:
        """Provider and region, both empty for one's own premises."""
        return ("", "") if self.region is None else (self.provider, self.region)


class Data(RequestModel):
    """Data kept where the work is done and carried out of the cloud, its prices, and where it
    lives."""

    storage_gib: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    """Data kept all the time, GiB."""
    egress_gib_per_month: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    """Data transferred out of the cloud in a month, GiB."""
    checkpoint_gib: Annotated[Number, Field(ge=0, le=1e9)] | None = None
    """Size of one checkpoint, GiB: sets what an interruption costs."""
    storage_per_gib_month: Price | None = None
    """Price of a GiB kept for a month in any cloud; absent: the price lists of each place."""
    egress_per_gib: Price | None = None
    """Price of a GiB transferred out of any cloud; absent: the price lists of each place."""
    on_prem_storage_per_tib_month: Price | None = None
    """Cost of a TiB kept for a month on one's own premises."""
    prices: Annotated[
        tuple[DataPrice, ...], BeforeValidator(entries), Field(strict=False, max_length=200)
    ] = ()
    """Prices by tier and place, before those for any cloud."""
    home: DataHome | None = None
    """Where the data lives; absent: it is stored wherever the work is done and moved for free."""
    transfer_gib_per_month: Annotated[Number, Field(ge=0, le=1e12)] | None = None
    """Data that work away from `home` takes there in a month, GiB; absent: all of `storage_gib`, as
    a burst needs the whole set."""
    transfer_gbit_per_s: Annotated[Number, Field(gt=0, le=1e6)] | None = None
    """Rate at which it is moved: machines wait for it; absent: they do not."""

    @property
    def moved_gib_per_month(self) -> float:
        """Data that work away from the home takes there in a month."""
        if self.transfer_gib_per_month is not None:
            return self.transfer_gib_per_month
        return self.storage_gib or 0.0

    @model_validator(mode="after")
    def _consistent(self) -> Data:
        for refusal in self._refusals():
            raise refusal
        return self

    def _refusals(self) -> Iterator[InvalidInput]:
        if self.home is None:
            for field in ("transfer_gib_per_month", "transfer_gbit_per_s"):
                if getattr(self, field) is not None:
                    yield InvalidInput(field, "has no meaning without home; say where data lives")
        elif not self.storage_gib:
            yield InvalidInput("storage_gib", "is required where the data has a home")
        groups: dict[tuple[str, str | None, str | None], list[float]] = {}
        for i, price in enumerate(self.prices):
            if price.region is not None and price.provider is None:
                yield InvalidInput(f"prices.{i}.provider", "is required with region")
            tiers = groups.setdefault((price.item, price.provider, price.region), [])
            if price.above_gib in tiers:
                yield InvalidInput(
                    f"prices.{i}.above_gib",
                    f"{price.above_gib:g} is given twice for {price.item} there; allowed is once",
                )
            tiers.append(price.above_gib)
        for (item, provider, region), tiers in groups.items():
            if min(tiers) > 0:
                place = " ".join(filter(None, (provider, region))) or "all places"
                yield InvalidInput(
                    "prices",
                    f"the first {min(tiers):g} GiB of {item} at {place} have no price; "
                    "give a tier with above_gib 0",
                )
