"""Variants go, which nothing read since 0004, and so do jobs that read a file of actuals."""

from typing import Any

from django.db import migrations
from django.utils import timezone


def cancel(apps: Any, schema_editor: Any) -> None:
    alias = schema_editor.connection.alias
    jobs = apps.get_model("planner", "Job").objects.using(alias).filter(kind="actuals_upload")
    jobs.filter(state__in=("queued", "running")).update(
        state="cancelled", finished_at=timezone.now()
    )


class Migration(migrations.Migration):
    dependencies = [("planner", "0005_kinds_of_jobs")]
    operations = [
        migrations.RunPython(cancel, migrations.RunPython.noop),
        migrations.RemoveField("savedcomparison", "variant"),
        migrations.DeleteModel("Variant"),
    ]
