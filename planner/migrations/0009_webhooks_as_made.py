"""A webhook is used as it was made until it is deleted; one that was switched off goes."""

from typing import Any

from django.db import migrations


def remove_inactive(apps: Any, schema_editor: Any) -> None:
    endpoints = apps.get_model("planner", "WebhookEndpoint").objects
    endpoints.using(schema_editor.connection.alias).filter(active=False).delete()


class Migration(migrations.Migration):
    dependencies = [("planner", "0008_no_secret_version")]
    operations = [
        migrations.RunPython(remove_inactive, migrations.RunPython.noop),
        migrations.RemoveField("webhookendpoint", "active"),
    ]
