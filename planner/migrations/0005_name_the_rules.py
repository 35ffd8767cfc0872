"""What is stored names the edition of its rules, so that a new default changes no figure of it."""

from __future__ import annotations

from typing import Any

from django.db import migrations

FIRST = 1
"""Edition in force when these rows were made."""


def name_rules(apps: Any, schema_editor: Any) -> None:
    """Edition 1 for every project, kept comparison and waiting job that names none."""
    for project in apps.get_model("planner", "Project").objects.exclude(workload={}).iterator():
        if "rules" not in project.assumptions:
            project.assumptions["rules"] = FIRST
            project.save(update_fields=["assumptions"])
    for saved in apps.get_model("planner", "SavedComparison").objects.iterator():
        saved.request.setdefault("rules", FIRST)
        saved.given.setdefault("rules", FIRST)
        saved.save(update_fields=["request", "given"])
    for job in apps.get_model("planner", "Job").objects.filter(state="queued").iterator():
        asked = [item.get("request") for item in job.arguments.get("items", ())]
        for request in [job.arguments.get("request"), *asked]:
            if isinstance(request, dict):
                request.setdefault("rules", FIRST)
        job.save(update_fields=["arguments"])


class Migration(migrations.Migration):
    dependencies = (("planner", "0004_variants"),)
    operations = (migrations.RunPython(name_rules, migrations.RunPython.noop),)
