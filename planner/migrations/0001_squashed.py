"""All tables, and triggers by which the audit log refuses change below the ORM as well.

A later migration that alters the log's table on SQLite makes it anew, without its triggers: it must
run `protect` again.
"""

from typing import Any

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


TABLE = "planner_auditentry"
REFUSAL = "The audit log is append-only."
SQLITE = (
    f"CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON {TABLE} "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
    f"CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON {TABLE} "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
    # INSERT OR REPLACE takes a row away without a DELETE that a trigger would see.
    f"CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON {TABLE} "
    f"WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id) "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
)
POSTGRESQL = (
    "CREATE FUNCTION refuse_audit_log_change() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$",
    f"CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON {TABLE} "
    "FOR EACH ROW EXECUTE FUNCTION refuse_audit_log_change()",
    f"CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON {TABLE} "
    "FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change()",
)


def protect(apps: Any, schema_editor: Any) -> None:
    by_vendor = {"sqlite": SQLITE, "postgresql": POSTGRESQL}
    with schema_editor.connection.cursor() as cursor:
        for statement in by_vendor[schema_editor.connection.vendor]:
            cursor.execute(statement)


class Migration(migrations.Migration):

    initial = True
    replaces = [
        ("planner", "0001_initial"),
        ("planner", "0002_audit_log_append_only"),
        ("planner", "0003_saved_with_rates_and_names"),
        ("planner", "0004_variants"),
        ("planner", "0005_name_the_rules"),
        ("planner", "0006_webhook_secrets"),
        ("planner", "0007_audit_log_of_the_server"),
        ("planner", "0008_jobs_shared_fairly"),
        ("planner", "0009_request_ids"),
        ("planner", "0010_saved_portfolios"),
        ("planner", "0011_project_rules"),
        ("planner", "0012_watched_portfolios"),
        ("planner", "0013_reason_of_sending_back"),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('name', models.CharField(max_length=120)),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('currency', models.CharField(default='USD', max_length=3)),
                ('price_adjustments', models.JSONField(blank=True, default=list)),
                ('custom_offers', models.JSONField(blank=True, default=list)),
                ('defaults', models.JSONField(blank=True, default=dict)),
                ('project_rules', models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list)),
            ],
            options={
                'ordering': ('name', 'pk'),
            },
        ),
        migrations.CreateModel(
            name='ActualsUpload',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('file_name', models.CharField(blank=True, max_length=200)),
                ('format', models.CharField(max_length=10)),
                ('rows', models.PositiveIntegerField()),
                ('digest', models.CharField(max_length=64)),
                ('currency', models.CharField(max_length=3)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('uploaded_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='ActualLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('month', models.CharField(max_length=7)),
                ('provider', models.CharField(blank=True, max_length=60)),
                ('region', models.CharField(blank=True, max_length=60)),
                ('instance_type', models.CharField(blank=True, max_length=120)),
                ('purchase_option', models.CharField(blank=True, max_length=30)),
                ('category', models.CharField(max_length=30)),
                ('hours', models.FloatField(default=0)),
                ('cost', models.CharField(max_length=40)),
                ('upload', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='planner.actualsupload')),
            ],
            options={
                'ordering': ('month', 'pk'),
            },
        ),
        migrations.CreateModel(
            name='IdempotencyRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.CharField(max_length=60)),
                ('key', models.CharField(max_length=200)),
                ('digest', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('body', models.JSONField(null=True)),
                ('headers', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner', 'key'), name='one_answer_per_key')],
            },
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('description', models.CharField(blank=True, max_length=2000)),
                ('workload', models.JSONField(blank=True, default=dict)),
                ('assumptions', models.JSONField(blank=True, default=dict)),
                ('tags', models.JSONField(blank=True, default=dict)),
                ('budget', models.CharField(blank=True, max_length=40)),
                ('budget_period', models.CharField(choices=[('total', 'Total'), ('yearly', 'Yearly'), ('monthly', 'Monthly')], default='total', max_length=8)),
                ('watched', models.BooleanField(default=False)),
                ('watch_threshold', models.FloatField(default=0.05)),
                ('archived', models.BooleanField(default=False)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.AddField(
            model_name='actualsupload',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uploads', to='planner.project'),
        ),
        migrations.CreateModel(
            name='SavedComparison',
            fields=[
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('note', models.CharField(blank=True, max_length=2000)),
                ('given', models.JSONField()),
                ('follows_project', models.BooleanField(default=True)),
                ('request', models.JSONField()),
                ('inherited', models.JSONField(default=dict)),
                ('revisions', models.JSONField(default=dict)),
                ('rates', models.JSONField(default=list)),
                ('assumptions', models.JSONField(default=list)),
                ('answer', models.JSONField()),
                ('summary', models.JSONField(default=dict)),
                ('answered_on', models.DateField()),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('submitted', 'Submitted'), ('approved', 'Approved'), ('superseded', 'Superseded')], default='draft', max_length=10)),
                ('submitted_as', models.CharField(blank=True, max_length=120)),
                ('submitted_key', models.CharField(blank=True, max_length=60)),
                ('submitted_at', models.DateTimeField(null=True)),
                ('sent_back_as', models.CharField(blank=True, db_default='', default='', max_length=120)),
                ('sent_back_at', models.DateTimeField(null=True)),
                ('sent_back_reason', models.CharField(blank=True, db_default='', default='', max_length=500)),
                ('approved_as', models.CharField(blank=True, max_length=120)),
                ('approved_at', models.DateTimeField(null=True)),
                ('superseded_at', models.DateTimeField(null=True)),
                ('approved_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='saved_comparisons', to='planner.project')),
                ('submitted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('superseded_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='supersedes', to='planner.savedcomparison')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='SavedPortfolio',
            fields=[
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('note', models.CharField(blank=True, max_length=2000)),
                ('request', models.JSONField()),
                ('inherited', models.JSONField(default=dict)),
                ('revisions', models.JSONField(default=dict)),
                ('rates', models.JSONField(default=list)),
                ('assumptions', models.JSONField(default=list)),
                ('answer', models.JSONField()),
                ('headline', models.CharField(blank=True, max_length=1000)),
                ('owners', models.JSONField(default=dict)),
                ('shown_to_all', models.BooleanField(default=False)),
                ('answered_on', models.DateField()),
                ('watched', models.BooleanField(db_default=True, default=True)),
                ('watch_threshold', models.FloatField(db_default=0.05, default=0.05)),
                ('repriced', models.JSONField(null=True)),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('submitted', 'Submitted'), ('approved', 'Approved'), ('superseded', 'Superseded')], default='draft', max_length=10)),
                ('created_key', models.CharField(blank=True, max_length=60)),
                ('approved_as', models.CharField(blank=True, max_length=120)),
                ('approved_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('editor', 'Editor'), ('approver', 'Approver'), ('owner', 'Owner')], max_length=10)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=40)),
                ('arguments', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('succeeded', 'Succeeded'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('done', models.PositiveIntegerField(default=0)),
                ('total', models.PositiveIntegerField(null=True)),
                ('message', models.CharField(blank=True, max_length=200)),
                ('result', models.JSONField(null=True)),
                ('error', models.JSONField(null=True)),
                ('cancel_requested', models.BooleanField(default=False)),
                ('request_id', models.CharField(blank=True, db_default='', default='', max_length=64)),
                ('owner', models.CharField(blank=True, db_default='', max_length=80)),
                ('attempts', models.PositiveSmallIntegerField(db_default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('started_at', models.DateTimeField(null=True)),
                ('heartbeat_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('editor', 'Editor'), ('approver', 'Approver'), ('owner', 'Owner')], max_length=10)),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('invited_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('actor', models.CharField(max_length=120)),
                ('action', models.CharField(max_length=60)),
                ('object_type', models.CharField(max_length=40)),
                ('object_id', models.CharField(max_length=64)),
                ('object_name', models.CharField(blank=True, max_length=120)),
                ('before', models.JSONField(default=dict)),
                ('after', models.JSONField(default=dict)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('-at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('editor', 'Editor'), ('approver', 'Approver'), ('owner', 'Owner')], max_length=10)),
                ('scopes', models.JSONField(default=list)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('hint', models.CharField(max_length=12)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='Alert',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('price_move', 'Price Move'), ('budget_overrun', 'Budget Overrun'), ('not_feasible', 'Not Feasible')], max_length=20)),
                ('message', models.CharField(max_length=500)),
                ('currency', models.CharField(max_length=3)),
                ('before', models.CharField(blank=True, max_length=40)),
                ('after', models.CharField(blank=True, max_length=40)),
                ('revisions', models.JSONField(default=dict)),
                ('causes', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('acknowledged_at', models.DateTimeField(null=True)),
                ('acknowledged_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='alerts', to='planner.project')),
                ('saved_comparison', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='planner.savedcomparison')),
                ('saved_portfolio', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='alerts', to='planner.savedportfolio')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.AddField(
            model_name='actualsupload',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team'),
        ),
        migrations.CreateModel(
            name='Variant',
            fields=[
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('changes', models.JSONField(blank=True, default=dict)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='variants', to='planner.project')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.AddField(
            model_name='savedcomparison',
            name='variant',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='planner.variant'),
        ),
        migrations.CreateModel(
            name='WebhookEndpoint',
            fields=[
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('url', models.URLField(max_length=500)),
                ('description', models.CharField(blank=True, max_length=120)),
                ('events', models.JSONField(default=list)),
                ('active', models.BooleanField(default=True)),
                ('secret', models.CharField(db_default='', editable=False, max_length=80)),
                ('secret_version', models.PositiveIntegerField(default=1)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('event', models.CharField(choices=[('saved_comparison.approved', 'Approved'), ('project.price_moved', 'Price Moved'), ('project.budget_overrun', 'Budget Overrun'), ('portfolio.price_moved', 'Portfolio Moved'), ('test', 'Test')], max_length=40)),
                ('payload', models.JSONField()),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('delivered', 'Delivered'), ('failed', 'Failed')], default='pending', max_length=10)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_attempt_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('response_status', models.PositiveSmallIntegerField(null=True)),
                ('error', models.CharField(blank=True, max_length=300)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('delivered_at', models.DateTimeField(null=True)),
                ('request_id', models.CharField(blank=True, db_default='', default='', max_length=64)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='planner.webhookendpoint')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='ServerQuote',
            fields=[
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(max_length=60)),
                ('label', models.CharField(max_length=120)),
                ('server', models.JSONField(default=dict)),
                ('supplier', models.CharField(blank=True, max_length=120)),
                ('quoted_on', models.DateField(blank=True, null=True)),
                ('valid_until', models.DateField(blank=True, null=True)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='planner.team')),
            ],
            options={
                'ordering': ('slug', 'id'),
                'constraints': [models.UniqueConstraint(fields=('team', 'slug'), name='one_quote_per_slug')],
            },
        ),
        migrations.AddIndex(
            model_name='savedportfolio',
            index=models.Index(fields=['team', '-created_at'], name='portfolio_by_team'),
        ),
        migrations.AddConstraint(
            model_name='savedportfolio',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'approved')), fields=('team',), name='one_approved_portfolio'),
        ),
        migrations.AddIndex(
            model_name='project',
            index=models.Index(fields=['team', '-created_at'], name='project_by_team'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('team', 'user'), name='one_membership_per_team'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('state__in', ('queued', 'running'))), fields=['state', 'created_at'], name='open_jobs'),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['team', '-at'], name='audit_by_team'),
        ),
        migrations.AddConstraint(
            model_name='alert',
            constraint=models.CheckConstraint(condition=models.Q(('project', None), ('saved_portfolio', None), _connector='XOR'), name='alert_of_project_or_portfolio'),
        ),
        migrations.AddConstraint(
            model_name='actualsupload',
            constraint=models.UniqueConstraint(fields=('project', 'digest'), name='one_upload_per_file'),
        ),
        migrations.AddConstraint(
            model_name='variant',
            constraint=models.UniqueConstraint(fields=('project', 'name'), name='one_variant_per_name'),
        ),
        migrations.AddIndex(
            model_name='savedcomparison',
            index=models.Index(fields=['team', '-created_at'], name='saved_by_team'),
        ),
        migrations.AddConstraint(
            model_name='savedcomparison',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'approved')), fields=('project',), name='one_approved_plan'),
        ),
        migrations.AddIndex(
            model_name='webhookdelivery',
            index=models.Index(fields=['state', 'next_attempt_at'], name='delivery_due'),
        ),
        migrations.RunPython(protect),
    ]
