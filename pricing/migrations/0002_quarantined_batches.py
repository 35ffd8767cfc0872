"""One word for what waits for an operator: batches are quarantined, as prices are."""

from typing import Any

from django.db import migrations, models


def rename_outcome(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("pricing", "RefreshRun").objects.using(schema_editor.connection.alias)
    runs.filter(outcome="held").update(outcome="quarantined")


class Migration(migrations.Migration):
    dependencies = [("pricing", "0001_squashed")]
    operations = [
        migrations.RenameModel("HeldBatch", "QuarantinedBatch"),
        migrations.AlterModelOptions(
            "quarantinedbatch",
            {"ordering": ("-id",), "verbose_name_plural": "quarantined batches"},
        ),
        migrations.RenameField("refreshrun", "held_batch", "quarantined_batch"),
        migrations.AlterField(
            "refreshrun",
            "outcome",
            models.CharField(
                choices=[
                    ("running", "Running"),
                    ("published", "Published"),
                    ("quarantined", "Quarantined"),
                    ("failed", "Failed"),
                    ("interrupted", "Interrupted"),
                ],
                default="running",
                max_length=16,
            ),
        ),
        migrations.RunPython(rename_outcome, migrations.RunPython.noop),
    ]
