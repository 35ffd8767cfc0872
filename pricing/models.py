"""What the market was, revision by revision.

A *listing* is what is sold: identity and machine type, never changed once written. A *price*
says what a listing cost from one revision of its provider to another, both included, so that a
price which did not change adds no row. The day on which each price was seen is kept with the
revision.
"""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from pricing.money_field import ExactMoneyField

OPEN = 2**31 - 1
"""`last_revision` of a price that is still in force."""


class Revision(models.Model):
    """One published state of one provider's prices. Never changed afterwards."""

    provider = models.CharField(max_length=64)
    number = models.PositiveIntegerField()
    published_at = models.DateTimeField()
    as_of = models.DateField()
    """Day on which the provider was read."""
    origin = models.CharField(max_length=16)
    """live or bundled."""
    offer_count = models.PositiveIntegerField()
    sold_count = models.PositiveIntegerField()
    oldest_price_as_of = models.DateField(null=True)
    undated_prices = models.PositiveIntegerField(default=0)
    dates = models.BinaryField(default=b"")
    """Days of the prices where they are not all `as_of`; see `pricing.storage.store`."""
    digest = models.CharField(max_length=64)
    """SHA-256 of the content, to prove that it reads back exactly."""
    added = models.PositiveIntegerField(default=0)
    gone = models.PositiveIntegerField(default=0)
    dearer = models.PositiveIntegerField(default=0)
    cheaper = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    """Same price, but another machine type, SKU, source or availability."""
    moves = models.JSONField(default=list)
    """The ten largest moves: offer id, before, after, ratio."""
    skipped = models.JSONField(default=dict)
    """reason → {count, examples}: rows that the adapter could not make an offer of."""
    withheld = models.JSONField(default=dict)
    """reason → {count, examples}: offers that the checks rejected."""
    warnings = models.JSONField(default=list)
    absences = models.JSONField(default=dict, db_default={})
    """offer id → [day of the first list without it, complete lists without it since]."""

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["provider", "number"], name="one_revision_a_number"),
        )
        ordering = ("provider", "-number")

    def __str__(self) -> str:
        return f"{self.provider} revision {self.number}"


class Listing(models.Model):
    """What is sold: an offer without its price. Another machine type or SKU is another listing."""

    id = models.IntegerField(primary_key=True)
    """Given by `pricing.storage.store`, not by the database: bulk writes need not read it back."""
    provider = models.CharField(max_length=64)
    offer_id = models.CharField(max_length=255)
    """`Offer.id`: the same for every listing of one offer over time."""
    region = models.CharField(max_length=64)
    zone = models.CharField(max_length=64, blank=True)
    instance_type = models.CharField(max_length=128)
    accelerator = models.CharField(max_length=64)
    count_numerator = models.PositiveIntegerField()
    count_denominator = models.PositiveIntegerField()
    purchase_option = models.CharField(max_length=32)
    term_months = models.PositiveSmallIntegerField()
    payment_option = models.CharField(max_length=32, blank=True)
    currency = models.CharField(max_length=3)
    vcpus = models.FloatField(null=True)
    memory_gib = models.FloatField(null=True)
    network_gbps = models.FloatField(null=True)
    sku = models.CharField(max_length=255, blank=True)
    source = models.CharField(max_length=500, blank=True)

    class Meta:
        indexes = (models.Index(fields=["provider", "offer_id"], name="listing_offer"),)

    def __str__(self) -> str:
        return self.offer_id


class Price(models.Model):
    """What a listing cost from `first_revision` to `last_revision` of its provider."""

    pk = models.CompositePrimaryKey("listing_id", "first_revision")
    listing = models.ForeignKey(
        Listing,
        on_delete=models.PROTECT,
        related_name="prices",
        db_index=False,
        db_constraint=False,
    )
    """Listings are never deleted; checking 100,000 of them would double the time to publish."""
    first_revision = models.PositiveIntegerField()
    last_revision = models.PositiveIntegerField(default=OPEN)
    price_per_hour = ExactMoneyField()
    upfront = ExactMoneyField()
    sold_now = models.BooleanField()

    def __str__(self) -> str:
        return f"{self.price_per_hour} from revision {self.first_revision}"


class PastPrice(models.Model):
    """A dated price from before the first revision, from a published history."""

    listing = models.ForeignKey(Listing, on_delete=models.PROTECT, related_name="past_prices")
    date = models.DateField()
    price_per_hour = ExactMoneyField()
    upfront = ExactMoneyField()
    sold_now = models.BooleanField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["listing", "date"], name="one_past_price_a_day"),
        )

    def __str__(self) -> str:
        return f"{self.price_per_hour} on {self.date}"


class QuarantinedPart(models.Model):
    """New prices of a part that an operator has to decide on; what is published of it stays."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RELEASED = "released"
        REJECTED = "rejected"
        SUPERSEDED = "superseded"

    provider = models.CharField(max_length=64)
    purchase_option = models.CharField(max_length=32)
    region = models.CharField(max_length=64, blank=True)
    """Empty for every region."""
    family = models.CharField(max_length=128, blank=True)
    """Family of machines; empty for all of them."""
    state = models.CharField(max_length=16, choices=State.choices, default=State.WAITING)
    created_at = models.DateTimeField(default=timezone.now)
    seen_again_at = models.DateTimeField(null=True)
    """When a later refresh brought the very same prices."""
    reason = models.TextField()
    """The part and why it waits, in words."""
    moves = models.JSONField(default=list)
    """The ten largest moves: offer id, before, after, ratio."""
    offer_count = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    payload = models.BinaryField()
    """The offers themselves; see `pricing.publish.batch`."""
    revision = models.ForeignKey(Revision, null=True, on_delete=models.PROTECT)
    """The revision that published it when it was released."""

    class Meta:
        indexes = (models.Index(fields=["provider", "state"], name="quarantined_parts"),)
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.provider} {self.reason} ({self.state})"


class RefreshRun(models.Model):
    """One attempt to bring one provider up to date, whatever came of it."""

    class Outcome(models.TextChoices):
        RUNNING = "running"
        PUBLISHED = "published"
        QUARANTINED = "quarantined"
        FAILED = "failed"
        INTERRUPTED = "interrupted"

    provider = models.CharField(max_length=64)
    outcome = models.CharField(max_length=16, choices=Outcome.choices, default=Outcome.RUNNING)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    message = models.TextField(blank=True)
    remedy = models.TextField(blank=True)
    offer_count = models.PositiveIntegerField(default=0)
    skipped_count = models.PositiveIntegerField(default=0)
    revision = models.ForeignKey(Revision, null=True, on_delete=models.PROTECT)

    class Meta:
        indexes = (models.Index(fields=["provider", "-id"], name="runs_of_provider"),)
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.provider} {self.outcome} ({self.started_at:%Y-%m-%d %H:%M})"


class ExchangeRate(models.Model):
    """What one US dollar was worth in another currency on a day."""

    currency = models.CharField(max_length=3)
    date = models.DateField()
    units_per_usd = ExactMoneyField()
    source = models.CharField(max_length=500, blank=True)
    updated_at = models.DateTimeField(auto_now=True, db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["currency", "date"], name="one_rate_a_day"),)
        ordering = ("currency", "-date")

    def __str__(self) -> str:
        return f"{self.units_per_usd} {self.currency} on {self.date}"


class Region(models.Model):
    """Where a provider's region is and how clean its electricity is."""

    provider = models.CharField(max_length=64)
    region = models.CharField(max_length=64)
    name = models.CharField(max_length=128, blank=True)
    geography = models.CharField(max_length=64)
    country = models.CharField(max_length=2, blank=True)
    city = models.CharField(max_length=128, blank=True)
    latitude = models.FloatField(null=True, blank=True)
    longitude = models.FloatField(null=True, blank=True)
    g_co2e_per_kwh = models.FloatField(null=True, blank=True)
    carbon_source = models.CharField(max_length=500, blank=True)
    updated_at = models.DateTimeField(auto_now=True, db_index=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["provider", "region"], name="one_region_a_provider"),
        )
        ordering = ("provider", "region")

    def __str__(self) -> str:
        return f"{self.provider} {self.region}"
