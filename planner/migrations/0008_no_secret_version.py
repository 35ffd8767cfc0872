"""The secret of a webhook is that of its row: a new one comes with a new webhook."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("planner", "0007_alerts_of_projects")]
    operations = [migrations.RemoveField("webhookendpoint", "secret_version")]
