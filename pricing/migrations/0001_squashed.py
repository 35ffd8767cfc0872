"""All tables; on SQLite a price lies in the index of its key, so that one tree is written for each
price instead of two. The models do not know the difference.
"""

from typing import Any

import django.db.models.deletion
import django.utils.timezone
import pricing.money_field
from django.db import migrations, models


def keep_within_key(apps: Any, schema_editor: Any) -> None:
    """Makes the empty table of prices anew without row numbers."""
    if schema_editor.connection.vendor != "sqlite":
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = 'pricing_price'")
        (made,) = cursor.fetchone()
        cursor.execute("DROP TABLE pricing_price")
        cursor.execute(f"{made} WITHOUT ROWID")


class Migration(migrations.Migration):

    initial = True
    replaces = [
        ("pricing", "0001_initial"),
        ("pricing", "0002_prices_within_their_key"),
        ("pricing", "0003_quarantined_prices"),
    ]

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='ExchangeRate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('currency', models.CharField(max_length=3)),
                ('date', models.DateField()),
                ('units_per_usd', pricing.money_field.ExactMoneyField()),
                ('source', models.CharField(blank=True, max_length=500)),
                ('updated_at', models.DateTimeField(auto_now=True, db_index=True)),
            ],
            options={
                'ordering': ('currency', '-date'),
                'constraints': [models.UniqueConstraint(fields=('currency', 'date'), name='one_rate_a_day')],
            },
        ),
        migrations.CreateModel(
            name='Listing',
            fields=[
                ('id', models.IntegerField(primary_key=True, serialize=False)),
                ('provider', models.CharField(max_length=64)),
                ('offer_id', models.CharField(max_length=255)),
                ('region', models.CharField(max_length=64)),
                ('zone', models.CharField(blank=True, max_length=64)),
                ('instance_type', models.CharField(max_length=128)),
                ('accelerator', models.CharField(max_length=64)),
                ('count_numerator', models.PositiveIntegerField()),
                ('count_denominator', models.PositiveIntegerField()),
                ('purchase_option', models.CharField(max_length=32)),
                ('term_months', models.PositiveSmallIntegerField()),
                ('payment_option', models.CharField(blank=True, max_length=32)),
                ('currency', models.CharField(max_length=3)),
                ('vcpus', models.FloatField(null=True)),
                ('memory_gib', models.FloatField(null=True)),
                ('network_gbps', models.FloatField(null=True)),
                ('sku', models.CharField(blank=True, max_length=255)),
                ('source', models.CharField(blank=True, max_length=500)),
            ],
            options={
                'indexes': [models.Index(fields=['provider', 'offer_id'], name='listing_offer')],
            },
        ),
        migrations.CreateModel(
            name='Price',
            fields=[
                ('pk', models.CompositePrimaryKey('listing_id', 'first_revision', blank=True, editable=False, primary_key=True, serialize=False)),
                ('first_revision', models.PositiveIntegerField()),
                ('last_revision', models.PositiveIntegerField(default=2147483647)),
                ('price_per_hour', pricing.money_field.ExactMoneyField()),
                ('upfront', pricing.money_field.ExactMoneyField()),
                ('sold_now', models.BooleanField()),
                ('listing', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='prices', to='pricing.listing')),
            ],
        ),
        migrations.CreateModel(
            name='Region',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=64)),
                ('region', models.CharField(max_length=64)),
                ('name', models.CharField(blank=True, max_length=128)),
                ('geography', models.CharField(max_length=64)),
                ('country', models.CharField(blank=True, max_length=2)),
                ('city', models.CharField(blank=True, max_length=128)),
                ('latitude', models.FloatField(blank=True, null=True)),
                ('longitude', models.FloatField(blank=True, null=True)),
                ('g_co2e_per_kwh', models.FloatField(blank=True, null=True)),
                ('carbon_source', models.CharField(blank=True, max_length=500)),
                ('updated_at', models.DateTimeField(auto_now=True, db_index=True)),
            ],
            options={
                'ordering': ('provider', 'region'),
                'constraints': [models.UniqueConstraint(fields=('provider', 'region'), name='one_region_a_provider')],
            },
        ),
        migrations.CreateModel(
            name='Revision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=64)),
                ('number', models.PositiveIntegerField()),
                ('published_at', models.DateTimeField()),
                ('as_of', models.DateField()),
                ('origin', models.CharField(max_length=16)),
                ('offer_count', models.PositiveIntegerField()),
                ('sold_count', models.PositiveIntegerField()),
                ('oldest_price_as_of', models.DateField(null=True)),
                ('undated_prices', models.PositiveIntegerField(default=0)),
                ('dates', models.BinaryField(default=b'')),
                ('digest', models.CharField(max_length=64)),
                ('added', models.PositiveIntegerField(default=0)),
                ('gone', models.PositiveIntegerField(default=0)),
                ('dearer', models.PositiveIntegerField(default=0)),
                ('cheaper', models.PositiveIntegerField(default=0)),
                ('changed', models.PositiveIntegerField(default=0)),
                ('moves', models.JSONField(default=list)),
                ('skipped', models.JSONField(default=dict)),
                ('withheld', models.JSONField(default=dict)),
                ('warnings', models.JSONField(default=list)),
            ],
            options={
                'ordering': ('provider', '-number'),
                'constraints': [models.UniqueConstraint(fields=('provider', 'number'), name='one_revision_a_number')],
            },
        ),
        migrations.CreateModel(
            name='HeldBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=64)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('released', 'Released'), ('discarded', 'Discarded'), ('superseded', 'Superseded')], default='waiting', max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('seen_again_at', models.DateTimeField(null=True)),
                ('reasons', models.JSONField()),
                ('offer_count', models.PositiveIntegerField()),
                ('digest', models.CharField(max_length=64)),
                ('payload', models.BinaryField()),
                ('revision', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='pricing.revision')),
            ],
            options={
                'verbose_name_plural': 'held batches',
                'ordering': ('-id',),
            },
        ),
        migrations.CreateModel(
            name='PastPrice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('date', models.DateField()),
                ('price_per_hour', pricing.money_field.ExactMoneyField()),
                ('upfront', pricing.money_field.ExactMoneyField()),
                ('sold_now', models.BooleanField()),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='past_prices', to='pricing.listing')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('listing', 'date'), name='one_past_price_a_day')],
            },
        ),
        migrations.CreateModel(
            name='RefreshRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=64)),
                ('outcome', models.CharField(choices=[('running', 'Running'), ('published', 'Published'), ('held', 'Held'), ('failed', 'Failed'), ('interrupted', 'Interrupted')], default='running', max_length=16)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(null=True)),
                ('message', models.TextField(blank=True)),
                ('remedy', models.TextField(blank=True)),
                ('offer_count', models.PositiveIntegerField(default=0)),
                ('skipped_count', models.PositiveIntegerField(default=0)),
                ('held_batch', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='pricing.heldbatch')),
                ('revision', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='pricing.revision')),
            ],
            options={
                'ordering': ('-id',),
                'indexes': [models.Index(fields=['provider', '-id'], name='runs_of_provider')],
            },
        ),
        migrations.CreateModel(
            name='QuarantinedPrice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=64)),
                ('offer_id', models.CharField(max_length=255)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('released', 'Released'), ('rejected', 'Rejected'), ('superseded', 'Superseded')], default='waiting', max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('seen_again_at', models.DateTimeField(null=True)),
                ('before', models.JSONField()),
                ('after', models.JSONField()),
                ('ratio', models.FloatField()),
                ('revision', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='pricing.revision')),
            ],
            options={
                'ordering': ('-id',),
                'indexes': [models.Index(fields=['provider', 'state'], name='quarantined_by_state'), models.Index(fields=['provider', 'offer_id'], name='quarantined_offer')],
            },
        ),
        migrations.RunPython(keep_within_key),
    ]
