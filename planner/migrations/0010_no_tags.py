"""Tags of projects go, which nothing read: files of FOCUS name team and project."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("planner", "0009_webhooks_as_made")]
    operations = [migrations.RemoveField("project", "tags")]
