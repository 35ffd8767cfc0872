"""A team's what-ifs are variants; a scenario is one of the six ways to buy."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("planner", "0003_saved_with_rates_and_names"),
    ]

    operations = [
        migrations.RenameModel("Scenario", "Variant"),
        migrations.RenameField("savedcomparison", "scenario", "variant"),
        migrations.RenameField("job", "heard_at", "heartbeat_at"),
        migrations.AlterField(
            model_name="variant",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="variants",
                to="planner.project",
            ),
        ),
        migrations.RemoveConstraint("variant", "one_scenario_per_name"),
        migrations.AddConstraint(
            "variant",
            models.UniqueConstraint(fields=("project", "name"), name="one_variant_per_name"),
        ),
    ]
