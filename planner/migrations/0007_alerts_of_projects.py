"""Joint plans are no longer watched, repriced or shown in parts; alerts say when they ended."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def carry_over(apps: Any, schema_editor: Any) -> None:
    """Alerts of joint plans go; what the audit log says of an end, the alert says itself."""
    alias = schema_editor.connection.alias
    alerts = apps.get_model("planner", "Alert").objects.using(alias)
    alerts.filter(project=None).delete()
    entries = apps.get_model("planner", "AuditEntry").objects.using(alias)
    for pk, moment in entries.filter(action="alert.ended").values_list("object_id", "at"):
        alerts.filter(pk=pk).update(ended_at=moment)
    jobs = apps.get_model("planner", "Job").objects.using(alias)
    jobs.filter(kind="portfolio_reprice").delete()
    for endpoint in apps.get_model("planner", "WebhookEndpoint").objects.using(alias).all():
        endpoint.events = [name for name in endpoint.events if name != "portfolio.price_moved"]
        endpoint.save(update_fields=["events"])


class Migration(migrations.Migration):
    dependencies = [("planner", "0006_no_variant_table")]
    operations = [
        migrations.AddField("alert", "ended_at", models.DateTimeField(null=True)),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.RemoveConstraint("alert", "alert_of_project_or_portfolio"),
        migrations.RemoveField("alert", "saved_portfolio"),
        migrations.AlterField(
            "alert",
            "project",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="alerts",
                to="planner.project",
            ),
        ),
        migrations.AlterField(
            "webhookdelivery",
            "event",
            models.CharField(
                choices=[
                    ("saved_comparison.approved", "Approved"),
                    ("project.price_moved", "Price Moved"),
                    ("project.budget_overrun", "Budget Overrun"),
                    ("test", "Test"),
                ],
                max_length=40,
            ),
        ),
        migrations.RemoveField("savedportfolio", "owners"),
        migrations.RemoveField("savedportfolio", "repriced"),
        migrations.RemoveField("savedportfolio", "watched"),
        migrations.RemoveField("savedportfolio", "watch_threshold"),
    ]
