"""Folders and archives of bills, logs and declarations: the portfolio, the question, the pack."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from gpu_cost_planner.command_line import main
from tests.planner.usage.make import read, sacct
from tests.planner.web.team.texts import text


def job(number: int, month: int, account: str, tres: str) -> dict[str, str]:
    start, end = f"2026-{month:02d}-02T00:00:00", f"2026-{month:02d}-27T00:00:00"
    return {"JobIDRaw": str(number), "Account": account, "Start": start, "End": end,
            "Submit": start, "ElapsedRaw": str(25 * 86400), "AllocTRES": tres}  # fmt: skip


TEN_MINUTES = {"End": "2026-10-02T00:10:00", "ElapsedRaw": "600"}
LOG = sacct(
    *(job(month, month, "speech", "gres/gpu:h100=8,gres/gpu=8") for month in range(1, 11)),
    *(job(20 + month, month, "vision", "gres/gpu:a100=4,gres/gpu=4") for month in range(1, 11)),
    job(41, 10, "short", "gres/gpu:h100=8") | TEN_MINUTES,
)
GROUP = {"type": "google_compute_instance", "address": "a", "mode": "managed", "values": {
    "machine_type": "n1-standard-8", "project": "search",
    "guest_accelerator": [{"type": "zones/a/types/nvidia-tesla-t4", "count": 2}]}}  # fmt: skip
STATE = {"terraform_version": "1.9", "values": {"root_module": {"resources": [
    {"type": "aws_instance", "address": "b", "mode": "managed",
     "values": {"instance_type": "p5.48xlarge", "tags": {"Team": "serving"}}},
    {"type": "aws_s3_bucket", "address": "c", "values": {}}],
    "child_modules": [{"resources": [GROUP]}]}}}  # fmt: skip


def pod(name: str, **more: object) -> dict[str, object]:
    box = {"resources": {"limits": {"nvidia.com/gpu": "4"}}}
    return {"kind": "Pod", "metadata": {"name": name, "namespace": "chat", "uid": name, **more},
            "spec": {"nodeName": "n1", "containers": [box]}}  # fmt: skip


LABELS = {"nvidia.com/gpu.product": "NVIDIA-L40S"}
PODS = {"apiVersion": "v1", "kind": "List", "items": [
    {"kind": "Node", "metadata": {"name": "n1", "labels": LABELS}, "spec": {}},
    pod("p"), pod("owned", ownerReferences=[{"uid": "p"}]),
    *({**pod(name), "status": {"phase": name}} for name in ("Succeeded", "Pending"))]}  # fmt: skip
FILES = {"sacct.txt": LOG, "main.json": json.dumps(STATE), "k8s/pods.json": json.dumps(PODS),
         "README.txt": "hello there\n", ".hidden": "x"}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path / "in"


def works(path) -> dict[str, tuple[str, float, int]]:
    found = {}
    for one in json.loads(path.read_text())["projects"]:
        work = one["workload"]
        hours, peak = work["hours_per_month"], work["peak_accelerators"]
        mean = sum(hours) / 12 if isinstance(hours, list) else hours
        most = max(peak) if isinstance(peak, list) else peak
        found[one["name"]] = (work["accelerator"], mean, most)
    return found


def test_a_folder_becomes_a_plan_and_its_pack_with_one_question(folder, capsys):
    asks = ["usage", "in", "--portfolio", "--growth", "0.5", "--start", "2026-11",
            "--request", "plan.json", "--pack", "board.xlsx"]  # fmt: skip
    assert main(asks) == 2
    asked = capsys.readouterr().err
    assert "Is a100 nvidia-a100-40gb-sxm or nvidia-a100-80gb-sxm? Say it once, such as" in asked
    assert main([*asks, "--name", "a100=80 GB"]) == 0
    assert "README.txt: hello there belongs to no form" in capsys.readouterr().out
    assert works(folder.parent / "plan.json") == {
        "chat": ("nvidia-l40s", 2920, 4),
        "search": ("nvidia-t4", 1460, 2),
        "serving": ("nvidia-h100-80gb-sxm", 5840, 8),
        "short": ("nvidia-h100-80gb-sxm", pytest.approx(2), 8),
        "speech": ("nvidia-h100-80gb-sxm", pytest.approx(7200), 12),
        "vision": ("nvidia-a100-80gb-sxm", pytest.approx(3600), 6),
    }
    projects = {one["name"]: one for one in json.loads(Path("plan.json").read_text())["projects"]}
    assert projects["speech"]["job_hours"] == 600
    assert projects["speech"]["workload"]["accelerators_per_job"] == 8
    short = projects["short"]["workload"]
    assert short["accelerators_per_job"] == 8
    assert set(short["peak_accelerators"]) == {8}, "room for a job that fills no hour"
    assert "job_hours" not in projects["chat"]
    assert zipfile.is_zipfile("board.xlsx")
    assert main([*asks, "--json"]) == 0, "the answer is remembered"
    assert {one["name"] for one in json.loads(capsys.readouterr().out)["projects"]} == {
        *("chat", "search", "serving", "short", "speech", "vision")
    }


@pytest.mark.parametrize("odd", ["x", ["x"], [[]], 5, {"type": ["x"], "count": "NaN"}])
def test_a_card_that_is_no_object_is_as_good_as_none(odd):
    group = {**GROUP, "values": {**GROUP["values"], "guest_accelerator": odd}}
    state = {"terraform_version": "1.9", "values": {"root_module": {"resources": [group]}}}
    assert not read(json.dumps(state).encode()).ledger.declared


def test_a_template_counts_by_its_group_and_is_named_without_one():
    machines = [
        {"type": "aws_launch_template", "values": {"id": name, "instance_type": name}}
        for name in ("p5.48xlarge", "t3.micro")
    ]
    state = {"terraform_version": "1.9", "values": {"root_module": {"resources": machines}}}
    [problem] = read(json.dumps(state).encode()).ledger.problems
    assert "how many accelerators p5.48xlarge has, or how many stand, is not known" in problem
    group = {"desired_capacity": 3, "launch_template": [{"id": "p5.48xlarge"}]}
    tags = {"tag": [{"key": "team", "value": "serving"}]}
    machines.append({"type": "aws_autoscaling_group", "values": group | tags})
    declared = read(json.dumps(state).encode()).ledger.declared
    assert declared == {("nvidia-h100-80gb-sxm", "serving"): 24}


def test_the_page_plans_an_archive_and_gives_the_pack(client, work):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    sent = {"file": SimpleUploadedFile("in.zip", packed.getvalue()), "growth": "50"}
    page = client.post("/usage/", sent)
    assert "What is a100?" in text(page)
    portfolio = json.dumps(page.context["fleet"].request)
    answered = {"portfolio": portfolio, "name": "a100", "meaning": "nvidia-a100-80gb-sxm"}
    plan = text(client.post("/usage/plan/", answered))
    assert "What does each project pay" in plan
    assert "no price of A100 SXM4 80 GB is in the catalog" in plan, "these prices are of H100"
    pack = client.post("/usage/plan/", {"portfolio": portfolio, "form": "xlsx"})
    assert zipfile.is_zipfile(io.BytesIO(pack.content))
    for wrong in ("", "[1]", "{}", '{"projects": [3]}'):
        assert client.post("/usage/plan/", {"portfolio": wrong}).status_code == 400
