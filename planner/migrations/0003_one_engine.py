"""Work has one engine: variants, watched joint plans and jobs of kinds that are no more go."""

from typing import Any

from django.db import migrations, models
from django.db.models.deletion import CASCADE
from django.utils import timezone

GONE = ("comparison_batch", "project_reprice", "actuals_upload")
OPEN = ("queued", "running")
KINDS = (
    ("price_move", "Price Move"),
    ("budget_overrun", "Budget Overrun"),
    ("not_feasible", "Not Feasible"),
    ("trigger_crossed", "Trigger Crossed"),
)
EVENTS = (
    ("saved_comparison.approved", "Approved"),
    ("project.price_moved", "Price Moved"),
    ("project.budget_overrun", "Budget Overrun"),
    ("prices.held", "Prices Held"),
    ("test", "Test"),
)
FIELDS_GONE = {
    "savedcomparison": ("variant", "follows_project", "inherited"),
    "savedportfolio": (
        *("owners", "repriced", "watched", "watch_threshold"),
        *("headline", "inherited", "revisions"),
    ),
    "webhookendpoint": ("secret_version", "active"),
    "project": ("tags",),
    "alert": ("saved_portfolio",),
}


def carry_over(apps: Any, schema_editor: Any) -> None:
    """Jobs that nobody does are cancelled; alerts of joint plans go; what the audit log says of an
    end, the alert says itself."""
    alias = schema_editor.connection.alias
    jobs = apps.get_model("planner", "Job").objects.using(alias)
    left = jobs.filter(kind__in=GONE, state__in=OPEN)
    left.update(state="cancelled", finished_at=timezone.now())
    jobs.filter(kind="portfolio_reprice").delete()
    alerts = apps.get_model("planner", "Alert").objects.using(alias)
    alerts.filter(project=None).delete()
    entries = apps.get_model("planner", "AuditEntry").objects.using(alias)
    for pk, moment in entries.filter(action="alert.ended").values_list("object_id", "at"):
        alerts.filter(pk=pk).update(ended_at=moment)
    endpoints = apps.get_model("planner", "WebhookEndpoint").objects.using(alias)
    endpoints.filter(active=False).delete()
    for endpoint in endpoints.all():
        endpoint.events = [name for name in endpoint.events if name != "portfolio.price_moved"]
        endpoint.save(update_fields=["events"])


def _to_job(name: str, **options: Any) -> models.ForeignKey:
    return models.ForeignKey("planner.job", CASCADE, related_name=name, **options)


class Migration(migrations.Migration):
    dependencies = [("planner", "0002_frozen_plans")]
    replaces = [("planner", name) for name in (
        "0003_sweeps", "0004_no_variants", "0005_kinds_of_jobs", "0006_no_variant_table",
        "0007_alerts_of_projects", "0008_no_secret_version", "0009_webhooks_as_made",
        "0010_no_tags", "0011_own_request", "0012_portfolios_as_answered",
        "0013_sources_in_the_answer", "0014_event_of_held_prices", "0015_alerts_of_triggers",
    )]  # fmt: skip
    operations = [
        migrations.AddField("alert", "ended_at", models.DateTimeField(null=True)),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.RemoveConstraint("alert", "alert_of_project_or_portfolio"),
        *(migrations.RemoveField(m, name) for m, names in FIELDS_GONE.items() for name in names),
        migrations.DeleteModel("Variant"),
        migrations.AlterField(
            "alert", "project", models.ForeignKey("planner.project", CASCADE, related_name="alerts")
        ),
        migrations.AlterField("alert", "kind", models.CharField(choices=KINDS, max_length=20)),
        migrations.AlterField(
            "webhookdelivery", "event", models.CharField(choices=EVENTS, max_length=40)
        ),
        migrations.CreateModel("Schedule", [
            ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
            ("started_at", models.DateTimeField()),
        ]),
        migrations.CreateModel("SweepRow", [
            ("id", models.BigAutoField(
                auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ("index", models.PositiveIntegerField()),
            ("row", models.JSONField(null=True)),
            ("errors", models.JSONField(null=True)),
            ("sweep", _to_job("rows")),
        ], {"ordering": ("index",)}),
        migrations.AddConstraint(
            "sweeprow", models.UniqueConstraint(fields=("sweep", "index"), name="one_row_each")
        ),
        migrations.RemoveIndex("job", "open_jobs"),
        migrations.AddField("job", "parent", _to_job("parts", null=True)),
        migrations.AddField("job", "part", models.PositiveIntegerField(db_default=0)),
        migrations.AddIndex("job", models.Index(
            fields=["state", "part", "created_at"], name="open_jobs",
            condition=models.Q(state__in=OPEN),
        )),
    ]  # fmt: skip
