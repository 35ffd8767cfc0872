"""Job files of other schedulers and of managed services, and files that would mislead."""

from __future__ import annotations

import json

import pytest

from planner.usage.job_files.reading import read_job_file

H100, A100 = "nvidia-h100-80gb-sxm", "nvidia-a100-40gb-sxm"
ASKED = None
BATCH = {
    "PBS Pro": (
        "#PBS -l select=2:ncpus=16:ngpus=4:gpu_model=h100\n#PBS -l walltime=12:30:00",
        8,
        12.5,
    ),
    "PBS, two kinds of chunks": ("#PBS -l select=3:ngpus=2+1:ncpus=4\n#PBS -N train", 6, None),
    "Torque": ("#PBS -l nodes=2:ppn=8:gpus=4,walltime=01:00:00", 8, 1.0),
    "Torque, a node by its name": ("#PBS -l nodes=gpu07:gpus=2", 2, None),
    "PBS, of the whole job": ("#PBS -l ngpus=4 -l walltime=30:00", 4, 0.5),
    "PBS, a template": ("#PBS -l select=$NODES:ngpus=4", ASKED, None),
    "PBS without accelerators": ("#PBS -l select=2:ncpus=8", ASKED, None),
    "LSF, of a host": ('#BSUB -n 1\n#BSUB -gpu "num=4:gmodel=H100"\n#BSUB -W 12:00', 4, 12.0),
    "LSF, of a task": ('#BSUB -n 16\n#BSUB -gpu "num=1/task"\n#BSUB -W 90', 16, 1.5),
    "LSF, of several hosts": ('#BSUB -n 16 -R "span[ptile=8]"\n#BSUB -gpu num=8', 16, None),
    "LSF, hosts not stated": ('#BSUB -n 16\n#BSUB -gpu "num=8"', ASKED, None),
    "LSF, the old form": ('#BSUB -R "rusage[ngpus_excl_p=2]"', 2, None),
    "Grid Engine": ("#$ -l gpu=2,h_rt=24:00:00\n#$ -N train", 2, 24.0),
    "Grid Engine, slots": ("#$ -l gpu=2 -pe smp 8", ASKED, None),
    "Flux, of a node": ("#flux: -N4 --gpus-per-node=8 -t 2h", 32, 2.0),
    "Flux, of a task": ("# flux: -n 8 -g 1\n# flux: --time-limit=30m", 8, 0.5),
    "Slurm, two types": ("#SBATCH --gres=gpu:a100:4,gpu:h100:2", 6, None),
    "Slurm, options below a command": (
        "#SBATCH --nodes=2\nmodule load x\n#SBATCH --gpus=64",
        ASKED,
        None,
    ),
    "Slurm, by socket": ("#SBATCH --nodes=2 --gpus-per-socket=2", ASKED, None),
    "Slurm, a disabled line": ("##SBATCH --gpus=64\n#SBATCH --gpus=2 --time=60", 2, 1.0),
    "Slurm, slices": ("#SBATCH --gres=gpu:a100_1g.5gb:2", 2, None),
}


def assert_facts(facts, accelerators, hours):
    assert facts.accelerators == accelerators
    assert facts.hours == hours
    assert ("peak_accelerators" in facts.questions) == (accelerators is None)
    assert ("hours" in facts.questions) == (hours is None)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", BATCH)
def test_batch_scripts(name):
    text, accelerators, hours = BATCH[name]
    assert_facts(read_job_file(f"#!/bin/bash\n{text}\n\npython train.py\n"), accelerators, hours)


def test_the_type_is_read_and_several_are_asked_for():
    text, _, _ = BATCH["PBS Pro"]
    assert read_job_file(text).slug == H100
    text, _, _ = BATCH["LSF, of a host"]
    assert read_job_file(text).slug == H100
    assert "several kinds" in read_job_file(BATCH["Slurm, two types"][0]).questions["accelerator"]
    assert "slices" in read_job_file(BATCH["Slurm, slices"][0]).questions["accelerator"]


def test_an_array_of_pbs_starts_the_job_many_times():
    facts = read_job_file("#PBS -l ngpus=1,walltime=01:00:00\n#PBS -J 0-19:2\n")
    assert facts.runs == 10
    assert facts.request(1.0)["workload"]["hours_per_month"] == 10.0


def vertex(*pools, **more):
    return {"displayName": "train", "jobSpec": {"workerPoolSpecs": list(pools), **more}}


def pool(count, machine="a3-highgpu-8g", **spec):
    return {"replicaCount": count, "machineSpec": {"machineType": machine, **spec}}


def batch(value):
    return {
        "resourceRequirements": [{"type": "VCPU", "value": "8"}, {"type": "GPU", "value": value}]
    }


def container(count):
    return {"containers": [{"resources": {"limits": {"nvidia.com/gpu": count}}}]}


def kubernetes(kind, spec):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, "spec": spec}


DEVICES = {"driver": "nvidia", "capabilities": ["gpu"]}


def compose(**device):
    deploy = {"replicas": 2, "resources": {"reservations": {"devices": [DEVICES | device]}}}
    return {"services": {"train": {"image": "x", "deploy": deploy}, "web": {"image": "y"}}}


def sagemaker(**resources):
    return {"TrainingJobName": "t", "ResourceConfig": resources}


SERVICES = {
    "SageMaker": (
        sagemaker(InstanceType="ml.p4d.24xlarge", InstanceCount=4)
        | {"StoppingCondition": {"MaxRuntimeInSeconds": 86400}},
        (A100, 32, 24.0),
    ),
    "SageMaker, groups": (
        sagemaker(
            InstanceGroups=[
                {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 2},
                {"InstanceType": "ml.m5.large", "InstanceCount": 9},
            ]
        ),
        (H100, 16, None),
    ),
    "SageMaker, a machine that nobody knows": (
        sagemaker(InstanceType="ml.p99.48xlarge", InstanceCount=2),
        ("", ASKED, None),
    ),
    "Vertex AI": (
        vertex(pool(1), pool("3"), scheduling={"timeout": "7200s"}),
        (H100, 32, 2.0),
    ),
    "Vertex AI, attached": (
        {
            "workerPoolSpecs": [
                pool(2, "n1-standard-8", acceleratorType="NVIDIA_TESLA_T4", acceleratorCount=4)
            ]
        },
        ("nvidia-t4", 8, None),
    ),
    "Vertex AI, a template": (vertex(pool("${REPLICAS}")), (H100, ASKED, None)),
    "Vertex AI, trials": (
        {"parallelTrialCount": 4, "trialJobSpec": {"workerPoolSpecs": [pool(1)]}},
        (H100, 32, None),
    ),
    "Azure ML": (
        {
            "$schema": "https://azuremlschemas.azureedge.net/latest/commandJob.schema.json",
            "command": "python train.py",
            "resources": {"instance_type": "Standard_ND96isr_H100_v5", "instance_count": 2},
            "limits": {"timeout": 3600},
        },
        (H100, 16, 1.0),
    ),
    "Azure ML, a named cluster": (
        {
            "command": "x",
            "compute": "azureml:gpu",
            "environment": "e",
            "limits": {"timeout": "PT2H30M"},
        },
        ("", ASKED, 2.5),
    ),
    "AWS Batch": (
        {"containerProperties": batch("4"), "timeout": {"attemptDurationSeconds": 1800}},
        ("", 4, 0.5),
    ),
    "AWS Batch, nodes": (
        {
            "nodeProperties": {
                "numNodes": 4,
                "nodeRangeProperties": [{"targetNodes": "0:", "container": batch("8")}],
            }
        },
        ("", 32, None),
    ),
    "Databricks": (
        {"name": "t", "new_cluster": {"node_type_id": "g5.12xlarge", "num_workers": 3}},
        ("nvidia-a10g", 16, None),
    ),
    "Databricks, scaling": (
        {"new_cluster": {"node_type_id": "g5.12xlarge", "autoscale": {"max_workers": 8}}},
        ("nvidia-a10g", ASKED, None),
    ),
    "Determined": (
        {"entrypoint": "x", "searcher": {"name": "single"}, "resources": {"slots_per_trial": 16}},
        ("", 16, None),
    ),
    "MosaicML": (
        {"name": "t", "compute": {"gpus": 64, "gpu_type": "h100_80gb", "cluster": "c"}},
        (H100, 64, None),
    ),
    "Docker Compose": (compose(count=4), ("", 8, None)),
    "Docker Compose, devices by name": (compose(device_ids=["0", "3"]), ("", 4, None)),
    "Docker Compose, all of the host": (compose(count="all"), ("", ASKED, None)),
    "KServe": (
        kubernetes(
            "InferenceService",
            {
                "predictor": {
                    "minReplicas": 2,
                    "maxReplicas": 2,
                    "model": container(2)["containers"][0],
                }
            },
        ),
        ("", 4, None),
    ),
    "KServe, scaling": (
        kubernetes(
            "InferenceService",
            {
                "predictor": {
                    "minReplicas": 0,
                    "maxReplicas": 9,
                    "model": container(2)["containers"][0],
                }
            },
        ),
        ("", ASKED, None),
    ),
    "Argo, one step": (
        kubernetes("Workflow", {"templates": [{"container": container(8)["containers"][0]}]}),
        ("", 8, None),
    ),
    "Argo, several steps": (
        kubernetes("Workflow", {"templates": [{"container": container(8)["containers"][0]}] * 2}),
        ("", ASKED, None),
    ),
    "a list of manifests": (
        {"apiVersion": "v1", "kind": "List", "items": [kubernetes("Pod", container(2))] * 2},
        ("", 4, None),
    ),
    "RayJob": (
        kubernetes(
            "RayJob",
            {
                "rayClusterSpec": {
                    "headGroupSpec": {"template": {"spec": container(1)}},
                    "workerGroupSpecs": [{"replicas": 3, "template": {"spec": container(8)}}],
                }
            },
        ),
        ("", 25, None),
    ),
    "Kubeflow TFJob": (
        kubernetes(
            "TFJob",
            {"tfReplicaSpecs": {"Worker": {"replicas": 4, "template": {"spec": container(2)}}}},
        ),
        ("", 8, None),
    ),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", SERVICES)
def test_jobs_of_services(name):
    document, (slug, accelerators, hours) = SERVICES[name]
    facts = read_job_file(json.dumps(document), "job.json")
    assert facts.slug == slug
    assert_facts(facts, accelerators, hours)


def test_spot_is_told():
    document = sagemaker(InstanceType="ml.p4d.24xlarge", InstanceCount=1)
    facts = read_job_file(json.dumps(document | {"EnableManagedSpotTraining": True}))
    assert facts.request(1.0)["workload"]["interruptible"] is True
