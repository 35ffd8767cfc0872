"""`make mutants`: the mutants of a seeded sample, how many are killed, and those that are not."""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from tests.mutants.mutations import Mutant, find_mutants
from tests.mutants.runner import Job, run
from tests.mutants.targets import TARGETS, modules

LONG, SHORT = 400, 60
"""Mutants of the long and of the short form."""
LEAST_SHARE_KILLED, LEAST_OF_SHORT = 0.85, 0.75
"""A change anywhere draws other mutants: of 60, a share of 85 % shows as 75 % or less once in
forty draws by chance alone."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--short", action="store_true", help=f"{SHORT} mutants, not {LONG}")
    parser.add_argument("--count", type=int, help="so many mutants")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--only", default="", help="only modules whose path contains this")
    parser.add_argument("--workers", type=int, default=2, help="processes at once")
    options = parser.parse_args(arguments)
    jobs = _sample(options.count or (SHORT if options.short else LONG), options.seed, options.only)
    killed: Counter[str] = Counter()

    def found(mutant: Mutant, is_killed: bool) -> None:
        killed[str(mutant.path)] += is_killed
        if not is_killed:
            print(f"survived: {mutant.path}:{mutant.line} {mutant.operator}", file=shown)
            print(mutant.diff(), file=shown, flush=True)

    shown = sys.stdout  # pytest's own output is put aside
    run(jobs, options.workers, found)
    tried = Counter(str(mutant.path) for mutant, _ in jobs)
    return _report(tried, killed, LEAST_OF_SHORT if options.short else LEAST_SHARE_KILLED)


def _sample(count: int, seed: int, only: str) -> list[Job]:
    """The same mutants for the same code and seed, in the order of modules and lines."""
    every = [
        (mutant, tests)
        for path, tests in modules()
        if only in str(path)
        for mutant in find_mutants(path)
    ]
    random.Random(seed).shuffle(every)
    chosen = list(islice((job for job in every if job[0].source), count))
    print(f"{len(chosen)} of {len(every)} mutants, seed {seed}", flush=True)
    return sorted(chosen, key=lambda job: (str(job[0].path), job[0].line, job[0].operator))


def _report(tried: Counter[str], killed: Counter[str], least: float) -> int:
    print(f"\n{'module':52}{'killed':>8}{'of':>6}")
    for path, count in sorted(tried.items()):
        print(f"{path:52}{killed[path]:>8}{count:>6}")
    for target in TARGETS:
        total = sum(n for path, n in tried.items() if path.startswith(target))
        if total:
            share = sum(n for path, n in killed.items() if path.startswith(target)) / total
            print(f"{target:52}{share:>8.0%}{total:>6}")
    share = killed.total() / max(1, tried.total())
    print(f"{share:.1%} of {tried.total()} killed; at least {least:.0%} is asked")
    return 0 if share >= least else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
