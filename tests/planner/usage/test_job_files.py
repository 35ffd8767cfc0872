"""Job files of every kind: accelerators, nodes and hours as stated, and questions for the rest."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_cost_planner.command_line import main
from planner.contract.request.comparison import read_request
from planner.usage.job_files import read_job_file
from pricing.common.invalid_input import InvalidInput


def slurm(*options: str, body: str = "srun train\n"):
    lines = "".join(f"#SBATCH {option}\n" for option in options)
    return read_job_file(f"#!/bin/bash\n{lines}{body}", "job.sbatch")


@pytest.mark.parametrize(
    ("time", "hours"),
    [
        ("90", 1.5),
        ("90:00", 1.5),
        ("500:00:00", 500),
        ("2-12", 60),
        ("1-00:30:00", 24.5),
        ("UNLIMITED", None),
        ("0", None),
    ],
)
def test_time_limits(time, hours):
    facts = slurm("--gres=gpu:1", f"--time={time}")
    assert facts.hours == hours
    assert ("hours" in facts.questions) == (hours is None)


def manifests(kind, spec, *more):
    documents = [{"apiVersion": "v1", "kind": kind, "spec": spec}, *more]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})
    return read_job_file(text, "job.yaml")


def pod_of(*counts, resource="nvidia.com/gpu", **more):
    containers = [{"resources": {"limits": {resource: count}}} for count in counts]
    return {"containers": containers, **more}


def pod(count, **more):
    return {"spec": pod_of(count, **more)}


@pytest.mark.parametrize(
    ("kind", "spec", "accelerators"),
    [
        ("Pod", pod(2)["spec"], 2),
        ("Deployment", {"replicas": 3, "template": pod("2")}, 6),
        ("Job", {"parallelism": 4, "completions": 8, "template": pod(1)}, 4),
        ("CronJob", {"jobTemplate": {"spec": {"template": pod(4)}}}, 4),
        (
            "PyTorchJob",
            {
                "pytorchReplicaSpecs": {
                    "Master": {"replicas": 1, "template": pod(8)},
                    "Worker": {"replicas": 3, "template": pod(8)},
                }
            },
            32,
        ),
        ("LeaderWorkerSet", {"replicas": 2}, None),
        ("Pod", pod("$GPU_PER_NODE")["spec"], None),
        ("Deployment", {"replicas": "$N", "template": pod(1)}, None),
        ("DaemonSet", {"template": pod(1)}, None),
    ],
)
def test_accelerators_of_a_manifest(kind, spec, accelerators):
    facts = manifests(kind, spec)
    assert facts.accelerators == accelerators
    assert ("peak_accelerators" in facts.questions) == (accelerators is None)


def test_labels_of_nodes_name_the_accelerator_and_deadlines_the_hours():
    labels = {"cloud.google.com/gke-accelerator": "nvidia-l4"}
    facts = manifests(
        "Job", {"activeDeadlineSeconds": 7200, "template": pod(1, nodeSelector=labels)}
    )
    assert (facts.slug, facts.hours) == ("nvidia-l4", 2.0)
    labels = {"node.kubernetes.io/instance-type": "p5.48xlarge"}
    assert manifests("Pod", pod(8, nodeSelector=labels)["spec"]).slug == "nvidia-h100-80gb-sxm"


CONFIGURATIONS = [
    (
        "base_model: x/Llama-3.1-8B\nsequence_len: 2048\nmicro_batch_size: 1\nadapter: qlora\n"
        "load_in_4bit: true\n",
        "a.yml",
    ),
    ("model_name_or_path: x/Llama-3.1-8B\ncutoff_len: 1024\nfinetuning_type: lora\n", "a.yaml"),
    (
        "per_device_batch_size: 2\nmax_target_length: 1024\nici_fsdp_parallelism: 8\n"
        "dcn_data_parallelism: 4\nmodel_name: llama2-7b\nsteps: 10\n",
        "a.yml",
    ),
    (
        "[model]\nname = 'llama3'\n[training]\nseq_len = 512\nsteps = 100\n"
        "global_batch_size = 16\n[parallelism]\ntensor_parallel_degree = 1\n",
        "a.toml",
    ),
]


BOMB = "a: &a [x]\n" + "".join(f"b{n}: [{', '.join(['*a'] * 50)}]\n" for n in range(10))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("hello: world\n", "is none of the forms"),
        ('resource "aws_instance" "a" {}', "is none of the forms"),
        ("a: [", "is not YAML"),
        (BOMB, "too many aliases"),
        ("a\0b", "holds a NUL"),
        ("x" * 2_000_000, "is larger than"),
    ],
)
def test_other_files_are_refused(text, problem):
    with pytest.raises(InvalidInput, match=problem):
        read_job_file(text, "a.yaml")


@given(st.text(max_size=300), st.sampled_from(["a.yaml", "a.tf", "a.toml", "a.sh"]))
def test_any_text_is_read_or_refused(text, name):
    for whole in (text, f"#SBATCH {text}"):
        try:
            facts = read_job_file(whole, name)
        except InvalidInput:
            continue
        json.dumps(facts.as_dict(), allow_nan=False)


def test_the_command_writes_a_request_once_nothing_is_open(tmp_path, capsys):
    script, request = tmp_path / "job.sbatch", tmp_path / "plan.json"
    script.write_text("#SBATCH --nodes=2 --gres=gpu:8 --time=10:00:00\n")
    assert main(["jobfile", str(script), "--request", str(request)]) == 2
    assert "accelerator: which accelerator it runs on is not stated" in capsys.readouterr().err
    answered = ["--accelerator", "H100", "--runs-per-month", "4"]
    assert main(["jobfile", str(script), *answered, "--request", str(request)]) == 0
    workload = read_request(json.loads(request.read_text())).workload
    assert list(workload.hours_per_month) == [640.0]
    capsys.readouterr()
    assert main(["jobfile", str(script)]) == 0
    assert json.loads(capsys.readouterr().out)["accelerators"] == 16


ARRAYS = {
    "0-9%4": (10, 4, 16),
    "0-20:4%2": (6, 2, 8),
    "0-1%4": (2, 2, 8),
    "0-9": (10, None, None),
    "7": (1, 1, 4),
}


@pytest.mark.parametrize("array", ARRAYS)
def test_the_peak_of_an_array_is_that_of_the_jobs_at_once(array):
    facts = slurm("--gpus=h100:4 --time=60", f"--array={array}")
    runs, at_once, peak = ARRAYS[array]
    workload = facts.request(1.0)["workload"]
    assert (facts.runs, facts.at_once, workload.get("peak_accelerators")) == (runs, at_once, peak)
    assert ("at_once" in facts.questions) == (at_once is None)
    assert workload["hours_per_month"] == 4 * runs
    assert workload["accelerators_per_job"] == 4


A100 = "nvidia-a100-40gb-sxm"
ASKED = None


def job(*counts, pod_deadline=None, **spec):
    more = {"activeDeadlineSeconds": pod_deadline} if pod_deadline else {}
    return spec | {"template": {"spec": pod_of(*counts, **more)}}


def planned_hours(facts):
    """Accelerator-hours of a month in which the file runs once."""
    return facts.request(1.0)["workload"].get("hours_per_month")


SLURM = {
    "--gpus=8 --gres=gpu:4 --nodes=4": ASKED,
    "--gpus=8 --gres=gpu:4 --nodes=2": 8,
    "--gpus=8 --gres=gpu:4": 8,
    "--gpus-per-node=8 --gres=gpu:4": ASKED,
    "--gpus=16 --gpus-per-task=2 --ntasks=4": ASKED,
    "--gpus=16 --gpus-per-task=2": 16,
    "--ntasks=16 --ntasks-per-node=8 --gres=gpu:8": 16,
    "--ntasks=17 --ntasks-per-node=8 --gpus-per-node=8": 24,
    "--ntasks=8 --ntasks-per-gpu=2": ASKED,
    "--gpus=4\n#SBATCH hetjob\n#SBATCH --gpus=2": ASKED,
    "--nodes=2 --gpus-per-socket=2 --sockets-per-node=2": ASKED,
    "--nodes=2-4 --gpus=8": 8,
    "--nodes=1-3:2 --gres=gpu:2": ASKED,
    "--gres=gpu:0.5": ASKED,
    "--gres=shard:2": ASKED,
    "--gres=mps:50": ASKED,
    "--tres-per-node=gres/gpu:4 --nodes=2": 8,
    "--tres-per-task=cpu=4,gres/gpu:a100=2 --ntasks=3": 6,
    "--gres=gpu:a100:2(S:0-1)": 2,
    "-w gpu[01-08] --gres=gpu:8": ASKED,
    "--nodelist=a1,a2 --nodes=4 --gres=gpu:2": 8,
    "--nodelist=a1,a2 --gpus=8": 8,
    "-F hosts.txt --gres=gpu:2": ASKED,
}


@pytest.mark.parametrize("options", SLURM, ids=lambda options: options[:60])
def test_counts_of_a_batch_script_are_right_or_asked_for(options):
    facts = slurm(options)
    assert facts.accelerators == SLURM[options]
    assert ("peak_accelerators" in facts.questions) == (SLURM[options] is ASKED)
    assert ("peak_accelerators" in facts.request(1.0)["workload"]) == (SLURM[options] is not ASKED)


SLICES = {
    "--gres=gpu:1g.5gb:2": 2,
    "--gres=gpu:a100_1g5gb:2": 2,
    "--gres=gpu:a100-mig-3g:1": 1,
    "--gres=gpu:nvidia_a100_80gb_pcie_1g.10gb:1": 1,
}


@pytest.mark.parametrize("option", SLICES)
def test_slices_are_no_whole_accelerators(option):
    facts = slurm(option, "--time=60")
    assert facts.accelerators == SLICES[option]
    assert facts.slices
    assert facts.request(1.0)["workload"] == {"kind": "accelerator_hours"}


GKE = "cloud.google.com/gke-accelerator"
SHARES = {
    "resource": pod_of(2, resource="nvidia.com/mig-1g.5gb", nodeSelector={GKE: "nvidia-h100-80gb"}),
    "partition": pod_of(
        1, nodeSelector={GKE: "nvidia-l4", "cloud.google.com/gke-gpu-partition-size": "1g.5gb"}
    ),
    "product": pod_of(
        1, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}
    ),
    "sharing": pod_of(
        1, nodeSelector={"cloud.google.com/gke-gpu-sharing-strategy": "time-sharing"}
    ),
    "shared": pod_of(1, resource="nvidia.com/gpu.shared"),
    "memory": pod_of(3000, resource="nvidia.com/gpumem"),
    "a half and two": pod_of(0.5, 2),
    "two parts that make a whole": pod_of("0.5", "1.5"),
}


@pytest.mark.parametrize("name", SHARES)
def test_shares_of_accelerators_in_a_pod_are_asked_for(name):
    facts = manifests("Pod", SHARES[name])
    assert "peak_accelerators" in facts.questions
    workload = facts.request(1.0)["workload"]
    assert workload.keys() <= {"kind"}


JOBS = {
    "a deadline bounds all completions": (
        job(3, parallelism=3, completions=12, activeDeadlineSeconds=7200),
        (9, 2.0, 1, 18.0),
    ),
    "a deadline of each pod": (
        job(3, pod_deadline=3600, parallelism=3, completions=12),
        (9, 1.0, 4, 36.0),
    ),
    "a last wave that is smaller": (
        job(3, pod_deadline=3600, parallelism=3, completions=10),
        (9, 1.0, pytest.approx(10 / 3), 30.0),
    ),
    "fewer completions than pods": (
        job(1, parallelism=8, completions=2, activeDeadlineSeconds=3600),
        (2, 1.0, 1, 2.0),
    ),
    "no deadline": (job(3, parallelism=3, completions=12), (9, None, 4, None)),
}


@pytest.mark.parametrize("name", JOBS)
def test_completions_and_deadlines_of_a_job(name):
    spec, expected = JOBS[name]
    facts = manifests("Job", spec)
    assert (facts.accelerators, facts.hours, facts.runs, planned_hours(facts)) == expected
    assert ("hours" in facts.questions) == (facts.hours is None)


def workers(count, **more):
    groups = [{"template": {"spec": pod_of(4)}, **more}]
    head = {"template": {"spec": pod_of(0)}}
    return {"headGroupSpec": head, "workerGroupSpecs": groups} | ({} if count is None else count)


def roles(**more):
    return {
        "pytorchReplicaSpecs": {"Worker": {"replicas": 3, "template": {"spec": pod_of(8)}}}
    } | more


WORKLOADS = {
    "operator with a deadline": (
        "PyTorchJob", roles(runPolicy={"activeDeadlineSeconds": 3600}), 24, 1.0,
    ),
    "elastic": (
        "PyTorchJob", roles(elasticPolicy={"minReplicas": 1, "maxReplicas": 4}), ASKED, None,
    ),
    "Ray": ("RayCluster", workers(None, replicas=2, minReplicas=1, maxReplicas=8), 8, None),
    "Ray that scales": (
        "RayCluster",
        workers({"enableInTreeAutoscaling": True}, replicas=2, minReplicas=1, maxReplicas=8),
        ASKED, None,
    ),
    "Ray of several hosts": ("RayCluster", workers(None, replicas=2, numOfHosts=4), 32, None),
    "what starts before": ("Pod", pod_of(1, initContainers=pod_of(8)["containers"]), 8, None),
    "completions that a template fills": (
        "JobSet",
        {"replicatedJobs": [{"replicas": 2, "template": {"spec": job(8, parallelism=4)}}]},
        64, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORKLOADS)
def test_replicas_of_other_workloads(name):
    kind, spec, accelerators, hours = WORKLOADS[name]
    facts = manifests(kind, spec)
    assert (facts.accelerators, facts.hours) == (accelerators, hours)
    assert ("peak_accelerators" in facts.questions) == (accelerators is ASKED)


def labelled(name, **more):
    return pod_of(8, nodeSelector={GKE: name, **more})


def test_two_kinds_of_pods_are_asked_for_and_a_machine_settles_a_short_name():
    other = {"apiVersion": "v1", "kind": "Pod", "spec": labelled("nvidia-l4")}
    facts = manifests("Pod", labelled("nvidia-h100-80gb"), other)
    assert "several kinds" in facts.questions["accelerator"]
    assert facts.slug == ""
    machine = {"node.kubernetes.io/instance-type": "a2-highgpu-8g"}
    assert manifests("Pod", labelled("nvidia-tesla-a100", **machine)).slug == A100


def test_replicas_of_skypilot():
    served = "resources:\n  accelerators: H100:8\nservice:\n  {}\nrun: x\n"
    assert read_job_file(served.format("replicas: 3")).accelerators == 24
    policy = "replica_policy: {min_replicas: 1, max_replicas: 4}"
    assert (
        "scales from 1 to 4" in read_job_file(served.format(policy)).questions["peak_accelerators"]
    )


@pytest.mark.parametrize("text", ["x:\n" + "- {a: 1}\n" * 100_000, "---\na: 1\n" * 100_000])
def test_a_file_of_a_hundred_thousand_parts_is_refused_at_once(text):
    """Of a megabyte, 13 s of the server's time once."""
    began = time.process_time()
    with pytest.raises(InvalidInput, match="is YAML of more than 100,000 parts"):
        read_job_file(text, "job.yaml")
    assert time.process_time() - began < 5


def test_merges_that_double_each_other_are_refused():
    """Of 1,200 bytes, which would have made 2^40 entries."""
    steps = (f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 41))
    with pytest.raises(InvalidInput, match="merges more than 20,000 entries"):
        read_job_file("a0: &a0 {k: 1}\n" + "".join(steps), "job.yaml")
