from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("planner", "0012_watched_portfolios"),
    ]

    operations = [
        migrations.AddField(
            model_name="savedcomparison",
            name="sent_back_as",
            field=models.CharField(blank=True, db_default="", default="", max_length=120),
        ),
        migrations.AddField(
            model_name="savedcomparison",
            name="sent_back_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="savedcomparison",
            name="sent_back_reason",
            field=models.CharField(blank=True, db_default="", default="", max_length=500),
        ),
    ]
