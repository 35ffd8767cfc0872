"""Job files that tempt to guess: conflicts, shares, slices, waves, searches and scaling."""

from __future__ import annotations

import json

import pytest

from gpu_cost_planner.command_line import main
from planner.usage.job_files.reading import read_job_file

A100, H100 = "nvidia-a100-40gb-sxm", "nvidia-h100-80gb-sxm"
ASKED = None


def slurm(*options):
    lines = "".join(f"#SBATCH {option}\n" for option in options)
    return read_job_file(f"#!/bin/bash\n{lines}srun train\n", "job.sbatch")


def manifest(kind, spec, *more):
    documents = [{"apiVersion": "v1", "kind": kind, "spec": spec}, *more]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})
    return read_job_file(text, "job.yaml")


def pod(*counts, resource="nvidia.com/gpu", **more):
    containers = [{"resources": {"limits": {resource: count}}} for count in counts]
    return {"containers": containers, **more}


def job(*counts, pod_deadline=None, **spec):
    more = {"activeDeadlineSeconds": pod_deadline} if pod_deadline else {}
    return spec | {"template": {"spec": pod(*counts, **more)}}


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
    "--ntasks=8 --ntasks-per-gpu=2": 4,
    "--nodes=2 --gpus-per-socket=2 --sockets-per-node=2": 8,
    "--nodes=2-4 --gpus=8": 8,
    "--nodes=1-3:2 --gres=gpu:2": ASKED,
    "--gres=gpu:0.5": ASKED,
    "--gres=shard:2": ASKED,
    "--gres=mps:50": ASKED,
    "--tres-per-node=gres/gpu:4 --nodes=2": 8,
    "--tres-per-task=cpu=4,gres/gpu:a100=2 --ntasks=3": 6,
    "--gres=gpu:a100:2(S:0-1)": 2,
    "-w gpu[01-08] --gres=gpu:8": 64,
    "--nodelist=rack[1-2]n[1,3-4],fat1,fat1 --gres=gpu:2": 14,
    "--nodelist=a1,a2 --gpus-per-task=2": 4,
    "--nodelist=a1,a2 --nodes=4 --gres=gpu:2": 8,
    "--nodelist=a1 --ntasks=4 --ntasks-per-node=2 --gres=gpu:2": 4,
    "--nodelist=a1,a2 --gpus=8": 8,
    "--nodelist=a1,a2 --gpus=8 --gres=gpu:2": ASKED,
    "--nodelist=./hosts --gres=gpu:2": ASKED,
    "--nodelist=gpu[8-1] --gres=gpu:2": ASKED,
    f"--nodelist={'a,' * 40_000}b --gres=gpu:2": ASKED,
    "-F hosts.txt --gres=gpu:2": ASKED,
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("options", SLURM, ids=lambda options: options[:60])
def test_counts_of_a_batch_script_are_right_or_asked_for(options):
    facts = slurm(options)
    assert facts.accelerators == SLURM[options]
    assert ("peak_accelerators" in facts.questions) == (SLURM[options] is ASKED)
    assert ("peak_accelerators" in facts.request(1.0)["workload"]) == (SLURM[options] is not ASKED)


def test_a_conflict_names_both_statements():
    why = slurm("--gpus=8 --gres=gpu:4 --nodes=4").questions["peak_accelerators"]
    assert why == "its options state different counts: 8 by --gpus, 16 by --gres"
    [note] = slurm("--ntasks=16 --gres=gpu:8").notes
    assert "--nodes is not stated and counts as one, although 16 tasks" in note


def test_two_types_in_one_line_are_no_one_type():
    facts = slurm("--gres=gpu:a100:2,gpu:h100:1", "--time=60")
    assert (facts.accelerators, facts.slug) == (3, "")
    assert "accelerator" not in facts.request(1.0)["workload"]


def test_a_name_that_leaves_forms_open_says_what_it_is_read_as():
    [note] = slurm("--gres=gpu:h200:2").notes
    assert note == (
        "'h200' is read as nvidia-h200-141gb-sxm and may mean nvidia-h200-141gb-nvl too: check it."
    )
    assert "nvidia-v100-32gb-sxm" in slurm("--gres=gpu:v100:2").notes[0]
    for exact in ("h200-sxm", "l4", H100, "nvidia-tesla-v100"):
        assert slurm(f"--gres=gpu:{exact}:2").notes == []


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
    "resource": pod(2, resource="nvidia.com/mig-1g.5gb", nodeSelector={GKE: "nvidia-h100-80gb"}),
    "partition": pod(
        1, nodeSelector={GKE: "nvidia-l4", "cloud.google.com/gke-gpu-partition-size": "1g.5gb"}
    ),
    "product": pod(1, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}),
    "sharing": pod(1, nodeSelector={"cloud.google.com/gke-gpu-sharing-strategy": "time-sharing"}),
    "shared": pod(1, resource="nvidia.com/gpu.shared"),
    "memory": pod(3000, resource="nvidia.com/gpumem"),
    "a half and two": pod(0.5, 2),
    "two parts that make a whole": pod("0.5", "1.5"),
}


def test_a_part_that_names_no_accelerator_is_named():
    named = pod(8, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"})

    def roles(master):
        both = {"Master": master, "Worker": named}
        specs = {role: {"template": {"spec": spec}} for role, spec in both.items()}
        return manifest("PyTorchJob", {"pytorchReplicaSpecs": specs})

    facts = roles(pod(4))
    assert (facts.accelerators, facts.slug) == (12, A100)
    [note] = facts.notes
    assert note.startswith("1 of 2 parts of it name no accelerator and count as NVIDIA-A100-SXM4")
    assert roles(named).notes == roles(pod(0)).notes == []


@pytest.mark.parametrize("name", SHARES)
def test_shares_of_accelerators_in_a_pod_are_asked_for(name):
    facts = manifest("Pod", SHARES[name])
    assert "peak_accelerators" in facts.questions
    workload = facts.request(1.0)["workload"]
    assert workload.keys() <= {"kind"}


def test_a_lsf_slice_is_none_either():
    facts = read_job_file('#BSUB -n 1\n#BSUB -gpu "num=1:mig=3/2:gmodel=H100"\n')
    assert facts.slices == "mig=3/2"
    assert "accelerator" in facts.questions


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
    "the shorter of both": (
        job(3, pod_deadline=3600, parallelism=3, completions=12, activeDeadlineSeconds=7200),
        (9, 2.0, 1, 18.0),
    ),
    "pods that end before the deadline": (
        job(3, pod_deadline=600, parallelism=3, completions=6, activeDeadlineSeconds=7200),
        (9, pytest.approx(1 / 6), 2, 3.0),
    ),
    "fewer completions than pods": (
        job(1, parallelism=8, completions=2, activeDeadlineSeconds=3600),
        (2, 1.0, 1, 2.0),
    ),
    "completions one after the other": (
        job(2, pod_deadline=3600, completions=5),
        (2, 1.0, 5, 10.0),
    ),
    "no deadline": (job(3, parallelism=3, completions=12), (9, None, 4, None)),
}


@pytest.mark.parametrize("name", JOBS)
def test_completions_and_deadlines_of_a_job(name):
    spec, expected = JOBS[name]
    facts = manifest("Job", spec)
    assert (facts.accelerators, facts.hours, facts.runs, planned_hours(facts)) == expected
    assert ("hours" in facts.questions) == (facts.hours is None)


def workers(count, **more):
    groups = [{"template": {"spec": pod(4)}, **more}]
    head = {"template": {"spec": pod(0)}}
    return {"headGroupSpec": head, "workerGroupSpecs": groups} | ({} if count is None else count)


def roles(**more):
    return {"pytorchReplicaSpecs": {"Worker": {"replicas": 3, "template": {"spec": pod(8)}}}} | more


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
    "what starts before": ("Pod", pod(1, initContainers=pod(8)["containers"]), 8, None),
    "completions that a template fills": (
        "JobSet",
        {"replicatedJobs": [{"replicas": 2, "template": {"spec": job(8, parallelism=4)}}]},
        64, None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORKLOADS)
def test_replicas_of_other_workloads(name):
    kind, spec, accelerators, hours = WORKLOADS[name]
    facts = manifest(kind, spec)
    assert (facts.accelerators, facts.hours) == (accelerators, hours)
    assert ("peak_accelerators" in facts.questions) == (accelerators is ASKED)


def test_what_an_autoscaler_scales_is_asked_for():
    scaler = {"apiVersion": "v2", "kind": "HorizontalPodAutoscaler", "spec": {"maxReplicas": 9}}
    facts = manifest("Deployment", {"replicas": 2, "template": {"spec": pod(1)}}, scaler)
    assert "a limit is no use" in facts.questions["peak_accelerators"]


def test_parts_that_run_for_different_times_are_asked_for():
    jobs = [job(1, activeDeadlineSeconds=seconds) for seconds in (3600, 7200)]
    other = {"apiVersion": "v1", "kind": "Job", "spec": jobs[1]}
    facts = manifest("Job", jobs[0], other)
    assert facts.accelerators == 2
    assert "run for different times" in facts.questions["hours"]


def labelled(name, **more):
    return pod(8, nodeSelector={GKE: name, **more})


def test_two_kinds_of_pods_are_asked_for_and_a_machine_settles_a_short_name():
    other = {"apiVersion": "v1", "kind": "Pod", "spec": labelled("nvidia-l4")}
    facts = manifest("Pod", labelled("nvidia-h100-80gb"), other)
    assert "several kinds" in facts.questions["accelerator"]
    assert facts.slug == ""
    machine = {"node.kubernetes.io/instance-type": "a2-highgpu-8g"}
    assert manifest("Pod", labelled("nvidia-tesla-a100", **machine)).slug == A100


def sagemaker(*groups):
    names = ("InstanceType", "InstanceCount")
    groups = [dict(zip(names, group, strict=True)) for group in groups]
    return {"TrainingJobName": "t", "ResourceConfig": {"InstanceGroups": groups}}


def vertex(machine, replicas=2, **spec):
    pool = {"machineSpec": {"machineType": machine, **spec}, "replicaCount": replicas}
    return {"jobSpec": {"workerPoolSpecs": [pool]}}


T4 = {"acceleratorType": "NVIDIA_TESLA_T4"}
LARGE = {"acceleratorType": "NVIDIA_H100_80GB"}
SERVICES = {
    "two kinds": (sagemaker(("ml.p5.48xlarge", 1), ("ml.g5.12xlarge", 1)), "", 12),
    "a template": (sagemaker(("ml.p5.48xlarge", "$N")), H100, ASKED),
    "a count that is missing": (vertex("n1-standard-8", **T4), "nvidia-t4", ASKED),
    "a count of the machine's own": (vertex("a3-highgpu-8g", **LARGE), H100, 16),
    "another count": (vertex("a3-highgpu-8g", acceleratorCount=4, **LARGE), H100, ASKED),
    "replicas of a template": (vertex("a3-highgpu-8g", "$N"), H100, ASKED),
}


@pytest.mark.parametrize("name", SERVICES)
def test_machines_of_services_are_right_or_asked_for(name):
    document, slug, accelerators = SERVICES[name]
    facts = read_job_file(json.dumps(document), "job.json")
    assert (facts.slug, facts.accelerators) == (slug, accelerators)


def test_a_search_of_sagemaker_runs_its_trials_some_at_once():
    limits = {"MaxNumberOfTrainingJobs": 20, "MaxParallelTrainingJobs": 4}
    training = {"ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2}}
    document = {
        "HyperParameterTuningJobConfig": {"ResourceLimits": limits},
        "TrainingJobDefinition": training | {"StoppingCondition": {"MaxRuntimeInSeconds": 3600}},
    }
    facts = read_job_file(json.dumps(document), "job.json")
    workload = facts.request(1.0)["workload"]
    assert (workload["peak_accelerators"], workload["hours_per_month"]) == (64, 320.0)


def test_trials_of_vertex_and_replicas_of_skypilot():
    search = vertex("a3-highgpu-8g", 1) | {"parallelTrialCount": 4, "maxTrialCount": 10}
    facts = read_job_file(json.dumps(search), "job.json")
    assert (facts.accelerators, facts.runs) == (32, 2.5)
    served = "resources:\n  accelerators: H100:8\nservice:\n  {}\nrun: x\n"
    assert read_job_file(served.format("replicas: 3")).accelerators == 24
    policy = "replica_policy: {min_replicas: 1, max_replicas: 4}"
    assert (
        "scales from 1 to 4" in read_job_file(served.format(policy)).questions["peak_accelerators"]
    )


def test_the_command_asks_how_many_run_at_once_and_how_many_slices_make_a_whole(tmp_path, capsys):
    script, request = tmp_path / "job.sbatch", tmp_path / "plan.json"
    script.write_text("#SBATCH --gpus=h100:8 --time=60 --array=0-9\n")
    assert main(["jobfile", str(script), "--request", str(request)]) == 2
    assert "at_once: how many of the 10 runs go at once" in capsys.readouterr().err
    assert main(["jobfile", str(script), "--at-once", "3", "--request", str(request)]) == 0
    assert json.loads(request.read_text())["workload"]["peak_accelerators"] == 24
    script.write_text("#SBATCH --gres=gpu:a100_1g.5gb:2 --time=60\n")
    answers = ["--accelerator", A100, "--request", str(request)]
    capsys.readouterr()
    assert main(["jobfile", str(script), *answers]) == 2
    assert "how many whole accelerators its slices" in capsys.readouterr().err
    assert main(["jobfile", str(script), *answers, "--accelerators", "1"]) == 0
    assert json.loads(request.read_text())["workload"]["peak_accelerators"] == 1
