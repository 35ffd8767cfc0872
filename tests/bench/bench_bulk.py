"""A price file of AWS as large as a region's: time against bare ijson, memory against its size.

The file repeats the form of AWS's own: indented JSON, most of it reservations of machines that
have no accelerator. ijson's bare events are the floor: parsing can hardly be cheaper. Times are
of the processor, so that what else runs on the machine does not count.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from tests.bench.row import SHORT, Row
from tests.pricing.servers.aws_market import BOXES, Box, Market
from tests.pricing.servers.aws_rows import machine_row

MIB = 1 << 20
SMALL_MIB, LARGE_MIB = (4, 16) if SHORT else (64, 256)
RATIO = 1.5
"""Longest time, in times of bare ijson."""
MOST_MIB = 120.0
MORE_MIB = 10.0
"""Memory of the whole process, and what a file of four times the size may add to it."""
ONE_IN = 40
"""Of so many products one is an accelerated machine."""
REPEATS = 1 if SHORT else 5

CHILD = """
import datetime as dt, json, sys, time
from ijson.backends import yajl2_c
from pricing.market.offers import Offer
from pricing.providers.aws.bulk_files import region_offers
from pricing.providers.aws.rows import MachineLookup
from pricing.providers.aws.bulk_files import CHUNK_BYTES

def bare(path):
    with open(path, "rb") as file:
        return sum(1 for _ in yajl2_c.basic_parse(file, buf_size=CHUNK_BYTES))

def ours(path):
    day = dt.date(2026, 9, 10)
    with open(path, "rb") as file:
        found = region_offers(file, MachineLookup(), "us-east-1", day, {})
        return sum(1 for one in found if isinstance(one, Offer))

def timed(work, path):
    began = time.process_time()
    count = work(path)
    return time.process_time() - began, count

path, repeats = sys.argv[1], int(sys.argv[2])
runs = [(timed(bare, path)[0], *timed(ours, path)) for _ in range(repeats)]
status = open("/proc/self/status").read()  # ru_maxrss counts the parent's memory too
peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
print(json.dumps({"runs": runs, "mib": peak}))
"""


def bench() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        small, large = Path(folder, "small.json"), Path(folder, "large.json")
        for path, mib in ((small, SMALL_MIB), (large, LARGE_MIB)):
            write(path, mib * MIB)
        few, many = measured(small), measured(large)
    floor, parse = (statistics.median(run[n] for run in many["runs"]) for n in (0, 1))
    ratio = statistics.median(run[1] / run[0] for run in many["runs"])
    more = many["mib"] - few["mib"]
    return [
        Row(
            f"bulk: parse {LARGE_MIB} MiB, {many['runs'][0][2]:,} offers",
            parse,
            floor,
            f"<= {RATIO:g} x bare ijson",
            ratio <= RATIO,
            "s",
        ),
        Row(
            f"bulk: memory at {LARGE_MIB} MiB",
            many["mib"],
            MOST_MIB,
            f"<= {MOST_MIB:g} MiB",
            many["mib"] <= MOST_MIB,
            "MiB",
        ),
        Row(
            f"bulk: memory at {LARGE_MIB} MiB over {SMALL_MIB} MiB",
            many["mib"],
            few["mib"],
            f"<= {MORE_MIB:g} MiB more",
            more <= MORE_MIB,
            "MiB",
        ),
    ]


def measured(path: Path) -> dict[str, Any]:
    """Time and peak memory in a process that does nothing else."""
    command = [sys.executable, "-c", CHILD, str(path), str(REPEATS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def write(path: Path, size: int) -> None:
    """A price file of about `size` bytes."""
    plain, gpu = Entry(general_purpose()), Entry(accelerated())
    count = size * ONE_IN // (plain.size * (ONE_IN - 1) + gpu.size)
    with path.open("w", encoding="utf-8") as file:
        file.write('{\n "formatVersion": "v1.0",\n "products": {\n')
        put(file, (entry(plain, gpu, n).under("product", n) for n in range(count)))
        file.write(' },\n "terms": {\n "OnDemand": {\n')
        put(file, (entry(plain, gpu, n).under("OnDemand", n) for n in range(count)))
        file.write(' },\n "Reserved": {\n')
        put(file, (entry(plain, gpu, n).under("Reserved", n) for n in range(count)))
        file.write(' }\n },\n "attributesList": {}\n}\n')


def put(file: IO[str], entries: Iterator[str]) -> None:
    for number, text in enumerate(entries):
        file.write((",\n" if number else "") + text)


def entry(plain: Entry, gpu: Entry, number: int) -> Entry:
    return plain if number % ONE_IN else gpu


class Entry:
    """A product with its terms as text, to be repeated under other SKUs."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.sku = row["product"]["sku"]
        self.texts = {
            "product": json.dumps(row["product"], indent=1),
            **{name: json.dumps(terms, indent=1) for name, terms in row["terms"].items()},
        }
        self.size = sum(len(text) + 24 for text in self.texts.values())

    def under(self, name: str, number: int) -> str:
        """Its product, or its terms of one section, under the SKU of this number."""
        sku = f"{number:016X}"
        return f'"{sku}": ' + self.texts[name].replace(self.sku, sku)


def accelerated() -> dict[str, Any]:
    return machine_row(Market(), next(b for b in BOXES if b.name == "p4d.24xlarge"), "us-east-1")


def general_purpose() -> dict[str, Any]:
    usual: Box = next(b for b in BOXES if b.name == "g4dn.xlarge")
    row = machine_row(Market(), usual, "us-east-1")
    attributes = row["product"]["attributes"] | {
        "instanceType": "m5.xlarge",
        "instanceFamily": "General purpose",
        "gpuMemory": "NA",
        "processorFeatures": "Intel AVX; Intel AVX2; Intel AVX512; Intel Turbo",
        "physicalProcessor": "Intel Xeon Platinum 8175",
    }
    del attributes["gpu"]
    row["product"]["attributes"] = attributes
    return row
