"""Saved plans hold what their page shows; requests no longer name an edition of the rules."""

from typing import Any

from django.db import migrations, models


def freeze_plans(apps: Any, schema_editor: Any) -> None:
    """Rows of every answer that is saved; of one that has another form what its summary tells."""
    from pydantic import ValidationError

    from planner.contract.answer.comparison import ComparisonAnswer
    from planner.services.projects.saved_comparisons import shown_rows

    alias = schema_editor.connection.alias
    for saved in apps.get_model("planner", "SavedComparison").objects.using(alias).iterator():
        try:
            saved.rows = shown_rows(ComparisonAnswer.model_validate(saved.answer))
        except ValidationError:
            facts = [[name.replace("_", " "), str(value), ""] for name, value in saved.summary.items()]
            saved.rows = [{"title": "Summary", "rows": facts}]
        saved.request.pop("rules", None)
        saved.given.pop("rules", None)
        saved.save(update_fields=["rows", "request", "given"])


def drop_rules(apps: Any, schema_editor: Any) -> None:
    """Rules that projects, variants, portfolios and waiting jobs name."""
    alias = schema_editor.connection.alias
    for name, fields in (
        ("Team", ["defaults"]),
        ("Project", ["assumptions"]),
        ("Variant", ["changes"]),
        ("SavedPortfolio", ["request"]),
    ):
        for row in apps.get_model("planner", name).objects.using(alias).iterator():
            for field in fields:
                value = getattr(row, field)
                for part in (value, *(value.get("projects") or ())):
                    part.pop("rules", None)
            row.save(update_fields=fields)
    jobs = apps.get_model("planner", "Job").objects.using(alias)
    for job in jobs.filter(state="queued").iterator():
        asked = [item.get("request") for item in job.arguments.get("items", ())]
        for request in [job.arguments.get("request"), *asked]:
            if isinstance(request, dict):
                request.pop("rules", None)
        job.save(update_fields=["arguments"])


class Migration(migrations.Migration):
    dependencies = [("planner", "0001_squashed")]

    operations = [
        migrations.AddField("savedcomparison", "rows", models.JSONField(default=list)),
        migrations.RemoveField("savedcomparison", "rates"),
        migrations.RemoveField("savedcomparison", "assumptions"),
        migrations.RemoveField("savedportfolio", "rates"),
        migrations.RemoveField("savedportfolio", "assumptions"),
        migrations.RunPython(freeze_plans, migrations.RunPython.noop),
        migrations.RunPython(drop_rules, migrations.RunPython.noop),
    ]
