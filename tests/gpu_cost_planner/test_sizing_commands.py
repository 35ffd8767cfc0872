"""The estimate and calibrate commands: answer, JSON and refusal."""

import json

import pytest

from gpu_cost_planner.command_line import main

REQUEST = {
    "workload": {"kind": "training", "parameters": 7e9, "tokens": 1e11},
    "accelerator": "nvidia-a100-80gb-sxm",
}
LOG = "index, utilization.gpu [%], memory.used [MiB]\n0, 97 %, 4000 MiB\n"


@pytest.fixture
def run(capsys):
    def answer(command, path, *options):
        status = main([command, str(path), *options])
        return status, *capsys.readouterr()

    return answer


@pytest.fixture
def written(tmp_path):
    def write(text, name):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_request_in_json_gives_the_answer_in_json(run, written):
    status, out, _ = run("estimate", written(json.dumps(REQUEST), "a.json"), "--json")
    answer = json.loads(out)
    assert (status, answer["training_flops"]) == (0, 4.2e21)
    assert answer["candidates"][0]["rank"] == 1


def test_the_table_says_weights_tier_and_when_other_chips_are_better(run, written):
    _, out, _ = run("estimate", written(json.dumps(REQUEST), "a.json"))
    shown = " ".join(out.split())
    assert "28 GB in fp32, 14 GB in fp16" in shown
    assert "complex: one server" in shown or "very demanding: several servers" in shown
    assert "some 30,000 USD of engineering" in shown


def test_every_refusal_is_printed_with_its_field(run, written):
    bad = {"workload": {"kind": "training", "parameters": -1, "tokens": 0}, "accelerator": "T4"}
    status, _, err = run("estimate", written(json.dumps(bad), "a.json"))
    assert status == 2
    assert "workload.parameters: -1" in err
    assert "workload.tokens: 0" in err


def test_what_is_neither_json_nor_toml_is_refused(run, written):
    status, _, err = run("estimate", written("{", "a.json"))
    assert (status, "is not JSON" in err) == (2, True)


def test_a_log_gives_its_findings(run, written):
    status, out, _ = run("calibrate", written(LOG, "log.csv"), "--json")
    assert (status, json.loads(out)["gpus"][0]["sustained_utilisation"]) == (0, 0.97)


def test_energy_below_one_kwh_is_not_told_as_none(run, written):
    small = {"kind": "training", "model": "Llama-3.1-8B", "tokens": 2e6, "optimizer": "lora"}
    _, out, _ = run("estimate", written(json.dumps({"workload": small}), "small.json"))
    ranked = out[out.index("Accelerators: fewest") : out.index("Method:")]
    energy = [
        line.rstrip(" │").split("│")[-1].strip() for line in ranked.splitlines() if "%" in line
    ]
    assert energy
    assert all(0 < float(kwh) < 1 for kwh in energy)
