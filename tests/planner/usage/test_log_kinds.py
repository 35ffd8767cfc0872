"""Logs of clusters and monitors in every form that people have: the same hours of each."""

import io
import json
import tarfile

import pytest

from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import SACCT, hours_by, read, reasons, sacct, table

H100 = "nvidia-h100-80gb-sxm"
JOB = {"job_id": 7, "association": {"account": "lab", "user": "ann"}, "partition": "gpu",
       "state": {"current": ["COMPLETED"]},
       "time": {"submission": 1_746_514_800, "start": 1_746_518_400, "elapsed": 7200,
                "end": {"set": True, "number": 1_746_525_600}},
       "tres": {"allocated": [{"type": "cpu", "name": "", "count": 8},
                              {"type": "gres", "name": "gpu", "count": 4},
                              {"type": "gres", "name": "gpu:h100", "count": 4}]}}  # fmt: skip
NAMES, CELLS = zip(*((f"{a:>60}", f"{b:>60}") for a, b in SACCT.items()), strict=True)
FIXED = "\n".join((" ".join(NAMES), " ".join(["-" * 60] * len(NAMES)), " ".join(CELLS), ""))
TITLE = "Cluster/Account/User Utilization 2025-05-01T00:00:00 - 2025-05-31T23:59:59 (2678400 secs)"
REPORT = f"""{"-" * 80}
{TITLE}
Usage reported in TRES Minutes
{"-" * 80}
Cluster|Account|Login|Proper Name|TRES Name|Used
c|root|||gres/gpu|480
c|lab|||gres/gpu|480
c|lab|ann|Ann|cpu|9
c|lab|ann|Ann|gres/gpu|480(2.0%)
c|lab|ann|Ann|gres/gpu:h100|480
"""
TIMES = [f"2025-05-06 {hour:02d}:{minute:02d}:00" for hour in (8, 9) for minute in (0, 30)]
GPU = '{{gpu="{}", Hostname="n", modelName="H100", namespace="lab", pod="p"}}'
SERIES = table([{"Time": time, **{GPU.format(n): "90%" for n in range(4)}} for time in TIMES])
MS = [1_746_518_400_000 + 1_800_000 * step for step in range(4)]
FIELDS = [{"name": "Time", "type": "time"}] + [
    {"name": "Value", "type": "number", "labels": {"gpu": str(n), "modelName": "H100",
     "namespace": "lab", "pod": "p"}} for n in range(4)]  # fmt: skip
FRAME = {"schema": {"fields": FIELDS}, "data": {"values": [MS, *[[90] * 4] * 4]}}
DCGM = table([{"timestamp": time, "gpu": n, "modelName": "H100", "namespace": "lab", "pod": "p",
               "DCGM_FI_DEV_GPU_UTIL": 88} for time in TIMES for n in range(4)])  # fmt: skip


def tar(content: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name in ("log.txt", "._log.txt"):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        sacct({}).replace(b"|", b";"),
        sacct({"AllocTRES": "gpu:h100:4(S:0-1)"}).replace(b"AllocTRES", b"AllocGRES"),
        "Nutzung 2025\nLab;Grafikkarte;März;Mai;Summe\nlab;H100;;8,0;8,0\nSumme;;;8,0;8,0".encode(),
        FIXED.encode(),
        json.dumps({"jobs": [JOB], "meta": {}}, indent=1).encode(),
        tar(sacct({})),
        REPORT.encode(),
        SERIES,
        b"sep=,\n" + SERIES,
        json.dumps({"results": {"A": {"frames": [FRAME]}}}).encode(),
        DCGM,
    ],
    ids=["semi", "gres", "own", "fixed", "json", "tar", "report", "csv", "sep", "panel", "dcgm"],
)
def test_each_form_holds_the_same_hours(content):
    ledger = read(content).ledger
    assert hours_by(ledger, "accelerator") == {H100: 8.0}
    assert hours_by(ledger, "month") == {"2025-05": 8.0}
    assert {key.project or key.account for key in ledger.uses} == {"lab"}


def smi(*used: int) -> bytes:
    """A line each ten minutes."""
    times = (f"2026/05/06 {n // 6:02d}:{n % 6}0:00.250" for n in range(len(used)))
    lines = (f"{time}, 0, H100, {one} %\n" for time, one in zip(times, used, strict=True))
    return ("timestamp, index, name, utilization.gpu [%]\n" + "".join(lines)).encode()


def test_a_log_without_pods_is_use_while_work_is_done_and_in_short_pauses():
    usage = read(smi(90, 90, 0, 0, 0, 90, 90))
    assert hours_by(usage.ledger, "accelerator") == {H100: pytest.approx(4 / 6)}
    assert reasons(usage) == {"accelerator_use": 4, "idle": 3}
    minutes = read(smi(90, 0, 90).replace(b":10:", b":05:").replace(b":20:", b":10:"))
    assert reasons(minutes) == {"accelerator_use": 3}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (smi(90), "one moment of a monitor"),
        (b"index, utilization.gpu [%]\n0, 90 %\n", "timestamp: is missing, .*--query-gpu="),
        (REPORT.replace("Minutes", "Percent").encode(), "states percents"),
        (REPORT.replace("gres/gpu", "mem").encode(), "run: sreport -P -t hours -T gres/gpu"),
        (REPORT.partition("Name|Used\n")[2].encode(), "run without -n"),
        (json.dumps({"jobs": [JOB, JOB]})[:-9].encode(), "is not JSON to its end"),
        (b'Time,a\n1,2\n[{"datapoints"', "belongs to no form"),
        (b'{"data": {"resultType": "matrix", "result": [{"metric": {}}]}}', "a sum or a mean"),
        (b'[{"target": "cpu", "datapoints": []}]', "no series that names a GPU; export"),
    ],
)
def test_what_states_no_hours_says_what_to_send(content, problem):
    with pytest.raises(InvalidInput, match=problem):
        read(content)


def test_two_logs_of_one_cluster_are_named():
    [note] = read(sacct({}), REPORT.encode()).warnings()
    assert note.startswith("Slurm accounting (sacct), Slurm report (sreport) are read tog")
