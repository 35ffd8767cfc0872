"""The section "On a machine" of the documentation, typed into a fresh Debian, then used."""

import shutil
import subprocess
import time
from pathlib import Path

from tests.rehearsal.documents import read_blocks, split_by_network
from tests.rehearsal.roots import copy_root, make_base, run_inside

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
PROGRAM = "srv/planner"
PASSWORD = "quiet-operator-7"
MOST_SECONDS = 600
_USUAL_PORT = "sed -i 's/^port = .*/port = 5432/' /etc/postgresql/*/main/postgresql.conf"
"""Debian's package takes another where a PostgreSQL of the machine outside has the usual one."""


def rehearse_machine(folder: Path) -> None:
    """Prints the seconds of the installation; ends with an error beyond ten minutes."""
    downloads, local = split_by_network(read_blocks("On a machine"))
    root = copy_root(make_base(folder), folder / "machine")
    copy_program(root / PROGRAM)
    shutil.copy(HERE / "systemctl.sh", root / "usr/local/bin/systemctl")
    (root / "usr/local/bin/systemctl").chmod(0o755)
    start = time.monotonic()
    for block in downloads:
        run_inside(root, block, network=True, environment={"DEBIAN_FRONTEND": "noninteractive"})
    run_inside(root, _USUAL_PORT)
    print(f"Packages installed in {time.monotonic() - start:.0f} s", flush=True)
    steps = "\n".join(local).replace("createsuperuser ", "createsuperuser --noinput ")
    done = 'echo "Installed and running: $(($(date +%s) - began)) s after the packages"'
    script = "\n".join(("began=$(date +%s)", steps, done, (HERE / "use.sh").read_text()))
    run_inside(root, script, environment={"DJANGO_SUPERUSER_PASSWORD": PASSWORD})
    seconds = time.monotonic() - start
    print(f"From a fresh Debian to a restored copy in {seconds:.0f} s", flush=True)
    if seconds > MOST_SECONDS:
        raise SystemExit(f"That is more than {MOST_SECONDS} s.")


def copy_program(target: Path) -> None:
    """What a clone would hold: the files that git knows, as they are."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    for name in filter(None, names):
        source = REPOSITORY / name
        if source.is_file() and not source.is_symlink():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)
