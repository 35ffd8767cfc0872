"""A cost centre for each project."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("planner", "0004_messages_of_apprise")]
    operations = [
        migrations.AddField(
            "project",
            "cost_centre",
            models.CharField(blank=True, db_default="", default="", max_length=120),
        ),
    ]
