"""Jobs of kinds that are no more are done by nobody: those that wait or run are cancelled."""

from typing import Any

from django.db import migrations
from django.utils import timezone

GONE = ("comparison_batch", "project_reprice")


def cancel(apps: Any, schema_editor: Any) -> None:
    alias = schema_editor.connection.alias
    jobs = apps.get_model("planner", "Job").objects.using(alias)
    left = jobs.filter(kind__in=GONE, state__in=("queued", "running"))
    left.update(state="cancelled", finished_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [("planner", "0004_no_variants")]
    operations = [migrations.RunPython(cancel, migrations.RunPython.noop)]
