"""A saved comparison is recalculated from what it asked, whatever its project asks by now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("planner", "0010_no_tags")]
    operations = [migrations.RemoveField("savedcomparison", "follows_project")]
