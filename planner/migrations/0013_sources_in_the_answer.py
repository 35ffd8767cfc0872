"""The answer of a saved comparison says itself what came from the team's settings."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("planner", "0012_portfolios_as_answered")]
    operations = [migrations.RemoveField("savedcomparison", "inherited")]
