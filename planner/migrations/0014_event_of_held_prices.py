"""Prices that wait for review are an event of webhooks."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("planner", "0013_sources_in_the_answer")]
    operations = [
        migrations.AlterField(
            "webhookdelivery",
            "event",
            models.CharField(
                choices=[
                    ("saved_comparison.approved", "Approved"),
                    ("project.price_moved", "Price Moved"),
                    ("project.budget_overrun", "Budget Overrun"),
                    ("prices.held", "Prices Held"),
                    ("test", "Test"),
                ],
                max_length=40,
            ),
        ),
    ]
