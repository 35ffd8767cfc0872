"""What waits for an operator is a part: the next refresh brings again what waited before."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pricing', '0002_quarantined_batches'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='refreshrun',
            name='quarantined_batch',
        ),
        migrations.RemoveField(
            model_name='quarantinedprice',
            name='revision',
        ),
        migrations.AddField(
            model_name='revision',
            name='absences',
            field=models.JSONField(db_default={}, default=dict),
        ),
        migrations.CreateModel(
            name='QuarantinedPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=64)),
                ('purchase_option', models.CharField(max_length=32)),
                ('region', models.CharField(blank=True, max_length=64)),
                ('family', models.CharField(blank=True, max_length=128)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('released', 'Released'), ('rejected', 'Rejected'), ('superseded', 'Superseded')], default='waiting', max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('seen_again_at', models.DateTimeField(null=True)),
                ('reason', models.TextField()),
                ('moves', models.JSONField(default=list)),
                ('offer_count', models.PositiveIntegerField()),
                ('digest', models.CharField(max_length=64)),
                ('payload', models.BinaryField()),
                ('revision', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='pricing.revision')),
            ],
            options={
                'ordering': ('-id',),
            },
        ),
        migrations.DeleteModel(
            name='QuarantinedBatch',
        ),
        migrations.DeleteModel(
            name='QuarantinedPrice',
        ),
        migrations.AddIndex(
            model_name='quarantinedpart',
            index=models.Index(fields=['provider', 'state'], name='quarantined_parts'),
        ),
    ]
