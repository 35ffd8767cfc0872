"""Prices that a plan waits for are watched."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("planner", "0014_event_of_held_prices")]
    operations = [
        migrations.AlterField(
            "alert",
            "kind",
            models.CharField(
                choices=[
                    ("price_move", "Price Move"),
                    ("budget_overrun", "Budget Overrun"),
                    ("not_feasible", "Not Feasible"),
                    ("trigger_crossed", "Trigger Crossed"),
                ],
                max_length=20,
            ),
        ),
    ]
