# What somebody does with the installation once it runs. Ends at the first thing that fails.
site=https://planner.example.com
ask() { curl --silent --show-error --fail --insecure --resolve planner.example.com:443:127.0.0.1 "$@"; }
ready() { curl --silent "http://127.0.0.1:8000/readyz?strict=1"; }
manage=/srv/planner/deploy/manage
python=/srv/planner/.venv/bin/python

echo "== Ready, with broker and cache"
ready | $python -c 'import json, sys; r = json.load(sys.stdin); print(r)
assert r["database"] == r["broker"] == r["cache"] == "ok"'

echo "== Pages, their files and plain http"
page=$(ask $site/)
for file in $(echo "$page" | grep -o '/static/[^"]*' | sort -u); do ask -o /dev/null "$site$file"; done
echo "$page" | grep -o '/static/[^"]*' | sort -u | wc -l
test "$(ask -o /dev/null -w '%{http_code}' "$site/plan/?workload.kind=accelerator_hours&workload.accelerator=H100&workload.hours_per_month=100")" = 200
test "$(curl -s -o /dev/null -w '%{http_code}' -H 'Host: planner.example.com' http://127.0.0.1/)" = 301
for probe in livez readyz metrics; do
    test "$(curl -s -k -o /dev/null -w '%{http_code}' --resolve planner.example.com:443:127.0.0.1 $site/$probe)" = 404
done

echo "== Measures for who holds the token, of both web processes together"
measure() { curl --silent --fail -H "Authorization: Bearer $(cat /etc/planner/secrets/metrics_token)" http://127.0.0.1:8000/metrics; }
measure | grep -c '^planner_'
for _ in $(seq 40); do ask -o /dev/null $site/method/; done
for _ in $(seq 6); do
    measure | grep 'planner_request_seconds_count{method="GET",route="/method/",status="200"} 40.0'
done

echo "== A comparison over the API, and one as a job that the worker does"
body='{"start": "2027-01", "horizon_months": 12, "workload": {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}}'
ask -H 'Content-Type: application/json' -d "$body" $site/api/v1/comparisons/ | $python -c 'import json, sys; print(json.load(sys.stdin)["verdict"]["sentence"])'
cat >/tmp/fill.py <<'PYTHON'
from django.contrib.auth import get_user_model
from planner.models import Role, Team, access_of
from planner.services.projects import projects
from planner.services.jobs import jobs
from planner.services.teams import teams
user = get_user_model().objects.get(username="operator")
team = teams.create_team(access_of(user), "Rehearsed")
access = access_of(user)
work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 1000}
project = projects.create_project(access, team, {"name": "P", "workload": work, "assumptions": {"horizon_months": 12}})
for n in range(50):
    request = {"start": "2027-01", "horizon_months": 6 + n, "workload": work | {"hours_per_month": 100 * (n + 1)}}
    projects.save_comparison(access, project, name=f"Plan {n}", request=request)
jobs.start(access, "comparison", {"request": projects.compose(project)}, team)
print("50 comparisons saved, a job queued")
PYTHON
chmod 0644 /tmp/fill.py
$manage shell --no-imports -c "exec(open('/tmp/fill.py').read())" || $manage shell -c "exec(open('/tmp/fill.py').read())"
for _ in $(seq 60); do
    state=$($manage shell -c "from planner.models import Job; print(Job.objects.get().state)" | tail -n 1)
    [ "$state" = succeeded ] && break
    sleep 1
done
echo "The job $state."
test "$state" = succeeded
grep -c 'beat: Starting' /var/log/planner-beat.log

cat >/tmp/open.py <<'PYTHON'
import hashlib
from planner.models import SavedComparison
for saved in SavedComparison.objects.order_by("name"):
    print(saved.name, hashlib.sha256(saved.read_plan().model_dump_json().encode()).hexdigest())
PYTHON
chmod 0644 /tmp/open.py
open_plans() { "$1" shell --no-imports -c "exec(open('/tmp/open.py').read())" | grep '^Plan '; }

echo "== Backed up and copied away by the units, restored on another machine"
open_plans $manage >/tmp/before
systemctl start planner-backup
install -d -o planner /srv/elsewhere
printf '#!/bin/sh\nexec rsync -a "$1/" /srv/elsewhere/\n' >/etc/planner/copy-backups
chmod 0755 /etc/planner/copy-backups
systemctl start planner-copy
cp -a /srv/planner /srv/second
runuser -u postgres -- createdb -O planner planner_restored
cp -a /etc/planner/secrets /etc/planner/restored
sed -i 's#/planner$#/planner_restored#' /etc/planner/restored/database_url
chgrp planner /etc/planner/restored/* && chmod 0440 /etc/planner/restored/*
sed 's#/etc/planner/secrets#/etc/planner/restored#' /etc/planner/planner.env >/etc/planner/restored.env
chgrp planner /etc/planner/restored.env
export PLANNER_ENV=/etc/planner/restored.env
/srv/second/deploy/manage restore "$(ls /srv/elsewhere/*.dump)"
/srv/second/deploy/manage prices verify --all
open_plans /srv/second/deploy/manage >/tmp/after
test "$(wc -l </tmp/after)" = 50
cmp /tmp/before /tmp/after
echo "50 saved plans open as they were."
