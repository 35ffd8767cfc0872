"""Saved plans hold what their page shows; requests no longer name an edition of the rules."""

from typing import Any

from django.db import migrations, models


def _leave_out(request: Any) -> None:
    """What a request may not name any more."""
    request.pop("rules", None)
    own = request.get("on_prem")
    for name in ("payback_margin", "count_on_resale"):
        request.pop(f"on_prem.{name}", None)
        if isinstance(own, dict):
            own.pop(name, None)
    for cost in request.get("other_costs") or ():
        if isinstance(cost, dict) and cost.get("scenarios"):
            cost["scenarios"] = list(dict.fromkeys(map(_four, cost["scenarios"])))


def _four(scenario: Any) -> Any:
    """The one of four scenarios that a scenario of the former six is part of."""
    return "cloud" if scenario in ("spot", "committed", "cloud_mix") else scenario


KEYS = {"scenario", "next_best", "against", "recommended", "cheapest_at_low", "cheapest_at_high"}


def _name_four(part: Any) -> None:
    """Renames scenarios wherever a field of an answer names one."""
    for value in part.values() if isinstance(part, dict) else part:
        if isinstance(value, dict | list):
            _name_four(value)
    if isinstance(part, dict):
        part.update({key: _four(part[key]) for key in KEYS & part.keys() if part[key]})


def _keep_four(answer: Any) -> None:
    """Of an answer's former ways to rent the advised one, else the mix, as the cloud's."""
    advised = (answer.get("recommendation") or {}).get("scenario")
    cloud = advised if _four(advised) == "cloud" else "cloud_mix"
    left_out = {"spot", "committed", "cloud_mix"} - {cloud}
    rows = answer.get("scenarios") or []
    answer["scenarios"] = [row for row in rows if row["key"] not in left_out]
    for row in answer["scenarios"]:
        row["key"] = _four(row["key"])
    risk = answer.get("risk") or {}
    for values in (risk, risk.get("probability_cheapest") or {}, risk.get("regret") or {}):
        for key in left_out & values.keys():
            del values[key]
        if cloud in values:
            values["cloud"] = values.pop(cloud)
    _name_four(answer)


def freeze_plans(apps: Any, schema_editor: Any) -> None:
    """Rows of every answer that is saved; of one that has another form what its summary tells."""
    from pydantic import ValidationError

    from planner.contract.answer.comparison import ComparisonAnswer
    from planner.comparison.shown_rows import shown_rows

    alias = schema_editor.connection.alias
    for saved in apps.get_model("planner", "SavedComparison").objects.using(alias).iterator():
        for row in saved.answer.get("cheaper_if", ()):
            together = row.get("together_with") or ()
            row["together_with"] = {one["field"]: one["value"] for one in together}
        _keep_four(saved.answer)
        try:
            saved.rows = shown_rows(ComparisonAnswer.model_validate(saved.answer))
        except ValidationError:
            facts = [[name.replace("_", " "), str(value), ""] for name, value in saved.summary.items()]
            saved.rows = [{"title": "Summary", "rows": facts}]
        _leave_out(saved.request)
        _leave_out(saved.given)
        saved.save(update_fields=["rows", "request", "given", "answer"])


def drop_rules(apps: Any, schema_editor: Any) -> None:
    """Rules that projects, variants, portfolios and waiting jobs name."""
    alias = schema_editor.connection.alias
    for name, fields in (
        ("Team", ["defaults"]),
        ("Project", ["assumptions"]),
        ("Variant", ["changes"]),
        ("SavedPortfolio", ["request"]),
    ):
        for row in apps.get_model("planner", name).objects.using(alias).iterator():
            for field in fields:
                value = getattr(row, field)
                for part in (value, *(value.get("projects") or ())):
                    _leave_out(part)
            row.save(update_fields=fields)
    jobs = apps.get_model("planner", "Job").objects.using(alias)
    for job in jobs.filter(state="queued").iterator():
        asked = [item.get("request") for item in job.arguments.get("items", ())]
        for request in [job.arguments.get("request"), *asked]:
            if isinstance(request, dict):
                _leave_out(request)
        job.save(update_fields=["arguments"])


class Migration(migrations.Migration):
    dependencies = [("planner", "0001_squashed")]

    operations = [
        migrations.AddField("savedcomparison", "rows", models.JSONField(default=list)),
        migrations.RemoveField("savedcomparison", "rates"),
        migrations.RemoveField("savedcomparison", "assumptions"),
        migrations.RemoveField("savedportfolio", "rates"),
        migrations.RemoveField("savedportfolio", "assumptions"),
        migrations.RunPython(freeze_plans, migrations.RunPython.noop),
        migrations.RunPython(drop_rules, migrations.RunPython.noop),
    ]
