"""Job files of every kind: accelerators, nodes and hours as stated, and questions for the rest."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_cost_planner.command_line import main
from planner.contract.request.comparison import read_request
from planner.usage.job_files.reading import read_job_file
from pricing.common.invalid_input import InvalidInput


def slurm(*options: str, body: str = "srun train\n"):
    lines = "".join(f"#SBATCH {option}\n" for option in options)
    return read_job_file(f"#!/bin/bash\n{lines}{body}", "job.sbatch")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("options", "accelerators"),
    [
        (["--nodes=3", "--gres=gpu:4"], 12),
        (["-N 3", "--gres=gpu:h100:4"], 12),
        (["--nodes 2   # two of them", "--gpus-per-node=a100:8"], 16),
        (["--gpus=6"], 6),
        (["-G 6"], 6),
        (["--nodes=2", "--ntasks=4", "--gpus-per-task=2"], 8),
        (["--nodes=2", "--ntasks-per-node=4", "--gpus-per-task=1"], 8),
        (["--gres=gpu:v100:1,nvme:100"], 1),
        (["--nodes=2", "--gpus-per-node=h100:2,a100:2"], 8),
        (["--gpus=4", "hetjob", "--nodes=2", "--gres=gpu:2"], 8),
        (["--nodes=2-4", "--gres=gpu:4"], None),
        (["--gres=gpu:$N"], None),
        (["--nodes=2", "--exclusive"], None),
        (["--mem=4G"], None),
    ],
)
def test_accelerators_of_a_batch_script(options, accelerators):
    facts = slurm(*options)
    assert facts.accelerators == accelerators
    assert ("peak_accelerators" in facts.questions) == (accelerators is None)


def test_a_count_in_the_body_alone_is_named():
    facts = slurm("--nodes=2", "--exclusive", body="GPUS_PER_NODE=8\n")
    assert facts.accelerators == 16
    assert "a shell variable" in facts.notes[0]
    facts = slurm("--nodes=2", body="torchrun --nproc_per_node=4 train.py\n")
    assert facts.accelerators == 8


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


@pytest.mark.parametrize(("array", "runs"), [("0-15%4", 16), ("1,3,5-9:2", 5), ("x", 1)])
def test_an_array_starts_the_job_many_times(array, runs):
    facts = slurm("--gres=gpu:1", f"--array={array}")
    assert facts.runs == runs
    assert ("runs" in facts.questions) == (array == "x")


def test_a_commented_option_sets_nothing():
    facts = read_job_file("#SBATCH --gres=gpu:2\n##SBATCH --nodes=9\n", "a.sh")
    assert facts.accelerators == 2


def pod(count: object, **more: object):
    container = {"name": "a", "resources": {"limits": {"nvidia.com/gpu": count}}}
    return {"spec": {"containers": [container]} | more}


def manifest(kind: str, spec: object):
    document = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    return read_job_file(json.dumps(document), "a.yaml")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("kind", "spec", "accelerators"),
    [
        ("Pod", pod(2)["spec"], 2),
        ("Deployment", {"replicas": 3, "template": pod("2")}, 6),
        ("Job", {"parallelism": 4, "completions": 8, "template": pod(1)}, 4),
        ("CronJob", {"jobTemplate": {"spec": {"template": pod(4)}}}, 4),
        (
            "JobSet",
            {
                "replicatedJobs": [
                    {"replicas": 2, "template": {"spec": {"parallelism": 4, "template": pod(8)}}}
                ]
            },
            64,
        ),
        (
            "LeaderWorkerSet",
            {
                "replicas": 2,
                "leaderWorkerTemplate": {
                    "size": 4,
                    "leaderTemplate": pod(1),
                    "workerTemplate": pod(8),
                },
            },
            50,
        ),
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
        (
            "MPIJob",
            {
                "mpiReplicaSpecs": {
                    "Launcher": {"replicas": 1, "template": pod(0)},
                    "Worker": {"replicas": 2, "template": pod(4)},
                }
            },
            8,
        ),
        (
            "RayCluster",
            {
                "headGroupSpec": {"template": pod(0)},
                "workerGroupSpecs": [{"replicas": 2, "template": pod(4)}],
            },
            8,
        ),
        (
            "TrainJob",
            {"trainer": {"numNodes": 2, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 4}}}},
            8,
        ),
        ("Job", {"tasks": [{"replicas": 3, "template": pod(2)}]}, 6),
        ("Pod", pod("$GPU_PER_NODE")["spec"], None),
        ("Deployment", {"replicas": "$N", "template": pod(1)}, None),
        ("DaemonSet", {"template": pod(1)}, None),
    ],
)
def test_accelerators_of_a_manifest(kind, spec, accelerators):
    facts = manifest(kind, spec)
    assert facts.accelerators == accelerators
    assert ("peak_accelerators" in facts.questions) == (accelerators is None)


def test_labels_of_nodes_name_the_accelerator_and_deadlines_the_hours():
    labels = {"cloud.google.com/gke-accelerator": "nvidia-l4"}
    facts = manifest(
        "Job", {"activeDeadlineSeconds": 7200, "template": pod(1, nodeSelector=labels)}
    )
    assert (facts.slug, facts.hours) == ("nvidia-l4", 2.0)
    labels = {"node.kubernetes.io/instance-type": "p5.48xlarge"}
    assert manifest("Pod", pod(8, nodeSelector=labels)["spec"]).slug == "nvidia-h100-80gb-sxm"


def test_terraform_counts_what_is_set_and_asks_for_what_scales():
    facts = read_job_file(
        """
        groups = {
          a = { instance_type = "ml.p5.48xlarge", instance_count = 3 }
          # b = { instance_type = "p4d.24xlarge", instance_count = 9 }
          c = { instance_type = "m7i.large", instance_count = 5 }
        }
        """,
        "a.tfvars",
    )
    assert (facts.accelerators, facts.slug) == (24, "nvidia-h100-80gb-sxm")
    scaled = read_job_file('a = {\n machine_type = "a3-highgpu-8g"\n max_size = 4\n}\n', "a.tf")
    assert scaled.accelerators is None
    assert "how many a3-highgpu-8g run" in scaled.questions["peak_accelerators"]


@pytest.mark.parametrize(
    ("text", "accelerators", "slug"),
    [
        ("resources:\n  accelerators: L4:2\nnum_nodes: 3\nrun: x\n", 6, "nvidia-l4"),
        ("resources:\n  accelerators: {L4: 4}\nrun: x\n", 4, "nvidia-l4"),
        ("resources:\n  accelerators: {L4: 4, T4: 8}\nrun: x\n", None, ""),
        ("resources:\n  accelerators:\nrun: x\n", None, ""),
        ("resources:\n  instance_type: p5.48xlarge\nrun: x\n", 8, "nvidia-h100-80gb-sxm"),
        ("type: task\nnodes: 2\nresources:\n  gpu: L4:3\n", 6, "nvidia-l4"),
        ("type: task\nresources:\n  gpu: 1..8\n", None, ""),
        ("type: task\nresources:\n  gpu: 24GB\n", 1, ""),
        ("type: task\nresources:\n  gpu: {name: MI300X, count: 8}\n", 8, "amd-mi300x"),
    ],
)
def test_tasks_of_skypilot_and_dstack(text, accelerators, slug):
    facts = read_job_file(text, "a.yaml")
    assert (facts.accelerators, facts.slug) == (accelerators, slug)
    assert ("peak_accelerators" in facts.questions) == (accelerators is None)


@pytest.mark.parametrize(
    ("text", "name", "training"),
    [
        (
            "base_model: x/Llama-3.1-8B\nsequence_len: 2048\nmicro_batch_size: 1\nadapter: qlora\n"
            "load_in_4bit: true\n",
            "a.yml",
            {"model": "Llama-3.1-8B", "sequence_length": 2048, "optimizer": "qlora"},
        ),
        (
            "model_name_or_path: x/Llama-3.1-8B\ncutoff_len: 1024\nfinetuning_type: lora\n",
            "a.yaml",
            {"model": "Llama-3.1-8B", "sequence_length": 1024, "optimizer": "lora"},
        ),
        (
            "per_device_batch_size: 2\nmax_target_length: 1024\nici_fsdp_parallelism: 8\n"
            "dcn_data_parallelism: 4\nmodel_name: llama2-7b\nsteps: 10\n",
            "a.yml",
            {"global_batch_tokens": 2 * 1024 * 32},
        ),
        (
            "[model]\nname = 'llama3'\n[training]\nseq_len = 512\nsteps = 100\n"
            "global_batch_size = 16\n[parallelism]\ntensor_parallel_degree = 1\n",
            "a.toml",
            {"sequence_length": 512, "tokens": 100 * 16 * 512},
        ),
    ],
)
def test_configurations_of_training(text, name, training):
    facts = read_job_file(text, name)
    assert training.items() <= facts.training.items()
    assert ("tokens" in facts.questions) == ("tokens" not in facts.training)


def test_a_count_in_the_name_of_a_file_is_named():
    text = "trainer: {devices: 8, max_steps: 5}\nmodel: {global_batch_size: 64, seq_length: 128}\n"
    facts = read_job_file(text, "run-64gpus.yaml")
    assert facts.accelerators == 64
    assert any("file's name" in note for note in facts.notes)


def test_a_command_of_verl_says_its_accelerators():
    text = "python -m verl.trainer.main_ppo trainer.n_gpus_per_node=8 trainer.nnodes=2\n"
    facts = read_job_file(text, "a.sh")
    assert facts.accelerators == 16
    assert "hours" in facts.questions


BOMB = "a: &a [x]\n" + "".join(f"b{n}: [{', '.join(['*a'] * 50)}]\n" for n in range(10))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("hello: world\n", "is none of the forms"),
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
    assert main(["jobfile", str(script), "--json"]) == 0
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


OTHER_ARRAYS = {
    "#PBS -l ngpus=4,walltime=01:00:00\n#PBS -J 0-19:2%3\n": (10, 3),
    '#BSUB -J "train[1-100]%10"\n#BSUB -n 1\n#BSUB -gpu num=4\n': (100, 10),
    "#$ -l gpu=2\n#$ -t 1-10:2 -tc 3\n": (5, 3),
    "#$ -l gpu=2\n#$ -t 1-10\n": (10, None),
}


@pytest.mark.parametrize("text", OTHER_ARRAYS)
def test_arrays_of_other_schedulers(text):
    facts = read_job_file(text)
    assert (facts.runs, facts.at_once) == OTHER_ARRAYS[text]
