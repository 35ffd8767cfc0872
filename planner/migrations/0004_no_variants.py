"""What was asked of a variant is repriced with its own request: a project has no variants now."""

from typing import Any

from django.db import migrations


def part_from_variants(apps: Any, schema_editor: Any) -> None:
    alias = schema_editor.connection.alias
    saved = apps.get_model("planner", "SavedComparison").objects.using(alias)
    saved.exclude(variant=None).update(follows_project=False)


class Migration(migrations.Migration):
    dependencies = [("planner", "0003_sweeps")]
    operations = [migrations.RunPython(part_from_variants, migrations.RunPython.noop)]
