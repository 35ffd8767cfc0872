"""Job files that take long to read for their size."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from planner.usage.job_files import yaml_text
from planner.usage.job_files.reading import read_job_file
from pricing.common.invalid_input import InvalidInput


@pytest.mark.parametrize("text", ["x:\n" + "- {a: 1}\n" * 100_000, "---\na: 1\n" * 100_000])
def test_a_file_of_a_hundred_thousand_parts_is_refused_at_once(text):
    """Of a megabyte, 13 s of the server's time once."""
    began = time.process_time()
    with pytest.raises(InvalidInput, match="is YAML of more than 100,000 parts"):
        read_job_file(text, "job.yaml")
    assert time.process_time() - began < 5


@pytest.mark.parametrize("sign", ["/* ", '"a\\', " \n", '"', "a=\n"])
def test_a_file_of_one_sign_is_read_once_and_not_from_every_sign(sign):
    """60 KB took 5 to 34 s, a megabyte would have taken hours in which nobody was answered."""
    began = time.process_time()
    for name in ("main.tf", "job.yaml"):
        with suppress(InvalidInput):
            read_job_file(sign * (60_000 // len(sign)), name)
    assert time.process_time() - began < 2


def test_comments_that_are_not_closed_last_to_the_end():
    text = 'resource "a" "b" {\n instance_type = "p5.48xlarge" # "x"\n count = 2\n}\n/* count = 9'
    assert read_job_file(text, "main.tf").accelerators == 16


def test_merges_that_double_each_other_are_refused():
    """Of 1,200 bytes, which would have made 2^40 entries."""
    steps = (f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 41))
    with pytest.raises(InvalidInput, match="merges more than 20,000 entries"):
        read_job_file("a0: &a0 {k: 1}\n" + "".join(steps), "job.yaml")


def test_plain_values_are_read_and_nothing_else():
    text = "a: [1, 2.5, 0x10, 1_000, yes, 2027-01-01]\nb: &x {c: 'd'}\ne: {<<: *x, f: 1}\n--- 5\n"
    assert str(yaml_text.read_documents(text)) == (
        "[{'a': [1, 2.5, 16, 1000, True, datetime.date(2027, 1, 1)], "
        "'b': {'c': 'd'}, 'e': {'c': 'd', 'f': 1}}]"
    )
    for text in ("a: [", "a: *b", "!!python/object:os.system x", "[" * 100, "a: 2027-13-40"):
        with pytest.raises(InvalidInput, match=r"is (not )?YAML"):
            yaml_text.read_documents(text)
