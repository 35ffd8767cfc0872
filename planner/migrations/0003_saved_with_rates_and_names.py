"""Exchange rates and names that a saved comparison keeps, and one approved plan a project."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models


def name_people(apps: Any, schema_editor: Any) -> None:
    """Who submitted and approved what is there already."""
    saved = apps.get_model("planner", "SavedComparison").objects
    for one in saved.exclude(submitted_by=None).select_related("submitted_by", "approved_by"):
        one.submitted_as = one.submitted_by.username
        one.submitted_key = f"user:{one.submitted_by_id}"
        if one.approved_by_id is not None:
            one.approved_as = one.approved_by.username
        one.save(update_fields=["submitted_as", "submitted_key", "approved_as"])


class Migration(migrations.Migration):
    dependencies = (("planner", "0002_audit_log_append_only"),)
    operations = (
        migrations.AddField("savedcomparison", "rates", models.JSONField(default=list)),
        migrations.AddField(
            "savedcomparison", "submitted_as", models.CharField(blank=True, max_length=120)
        ),
        migrations.AddField(
            "savedcomparison", "submitted_key", models.CharField(blank=True, max_length=60)
        ),
        migrations.AddField(
            "savedcomparison", "approved_as", models.CharField(blank=True, max_length=120)
        ),
        migrations.RunPython(name_people, migrations.RunPython.noop),
        migrations.AddConstraint(
            "savedcomparison",
            models.UniqueConstraint(
                condition=models.Q(("state", "approved")),
                fields=("project",),
                name="one_approved_plan",
            ),
        ),
    )
