"""The answer of a joint plan says itself which price lists and settings it used."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("planner", "0011_own_request")]
    operations = [
        migrations.RemoveField("savedportfolio", "headline"),
        migrations.RemoveField("savedportfolio", "inherited"),
        migrations.RemoveField("savedportfolio", "revisions"),
    ]
