"""Webhooks keep their signing secret; those that are there keep the one that receivers know."""

from __future__ import annotations

import hmac
from typing import Any

from django.conf import settings
from django.db import migrations, models


def keep_derived_secrets(apps: Any, schema_editor: Any) -> None:
    """The secret that was derived from the server's key, as the versions before did it."""
    for endpoint in apps.get_model("planner", "WebhookEndpoint").objects.filter(secret="").iterator():
        text = f"webhook:{endpoint.pk}:{endpoint.secret_version}"
        key = settings.SECRET_KEY.encode()
        endpoint.secret = "whsec_" + hmac.new(key, text.encode(), "sha256").hexdigest()
        endpoint.save(update_fields=["secret"])


class Migration(migrations.Migration):
    dependencies = (("planner", "0005_name_the_rules"),)
    operations = (
        migrations.AddField(
            "webhookendpoint",
            "secret",
            models.CharField(db_default="", editable=False, max_length=80),
        ),
        migrations.RunPython(keep_derived_secrets, migrations.RunPython.noop),
    )
