"""Webhooks become URLs of Apprise: an https address that took JSON takes it from there."""

from typing import Any

from django.db import migrations, models


def rewrite(apps: Any, schema_editor: Any) -> None:
    endpoints = apps.get_model("planner", "WebhookEndpoint").objects
    for one in endpoints.using(schema_editor.connection.alias).all():
        scheme, _, rest = one.url.partition("://")
        one.url = f"{'jsons' if scheme == 'https' else 'json'}://{rest}"[:500]
        one.save(update_fields=["url"])
    deliveries = apps.get_model("planner", "WebhookDelivery").objects
    deliveries.using(schema_editor.connection.alias).filter(state="pending").delete()


class Migration(migrations.Migration):
    dependencies = [("planner", "0003_one_engine")]
    operations = [
        migrations.AlterField(
            "webhookendpoint", "url", models.CharField(max_length=500, editable=False)
        ),
        migrations.AddField(
            "webhookendpoint",
            "service",
            models.CharField(max_length=60, default="JSON", db_default="JSON"),
        ),
        migrations.RunPython(rewrite, migrations.RunPython.noop),
        migrations.RemoveField("webhookendpoint", "secret"),
        migrations.RemoveField("webhookdelivery", "response_status"),
    ]
