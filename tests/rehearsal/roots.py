"""Fresh Debian roots, and scripts that run inside them."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SUITE = "bookworm"
PATHS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ENTER = r"""
set -e
root=$1 script=$2 network=$3 writable=$4 variables=$5
if [ "$network" = no ]; then ip link set lo up; fi
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/run"
shift 5
for pair in "$@"; do mount --bind "${pair%%=*}" "$root/${pair#*=}"; done
if [ "$writable" != all ]; then
    mount --bind "$root/$writable" "$root/$writable"
    mount -o remount,bind,ro "$root"
fi
eval "exec chroot \"\$root\" /usr/bin/env -i $variables sh -e -c \"\$script\""
"""


def make_base(folder: Path) -> Path:
    """The smallest Debian, once for all rehearsals of a folder."""
    base = folder / "base"
    if not (base / "usr/bin/apt-get").exists():
        shutil.rmtree(base, ignore_errors=True)
        _call(["debootstrap", "--variant=minbase", SUITE, str(base)], quiet=True)
        (base / "etc/hosts").write_text("127.0.0.1 localhost\n")
        (base / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
        (base / "usr/sbin/policy-rc.d").chmod(0o755)
    return base


def copy_root(base: Path, target: Path) -> Path:
    """A root of its own, equal to `base`."""
    shutil.rmtree(target, ignore_errors=True)
    _call(["cp", "--archive", "--reflink=auto", str(base), str(target)])
    return target


def run_inside(
    root: Path,
    script: str,
    *,
    network: bool = False,
    environment: Mapping[str, str] | None = None,
    writable: str = "all",
) -> None:
    """Runs a script as root inside, without a network unless `network`; whatever it started ends
    with it. `writable` names the only folder that may be written, where not all may."""
    extra = [pair for pair in _from_host(root) if network]
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    command += [] if network else ["--net"]
    variables = {"PATH": PATHS, "HOME": "/root", "LC_ALL": "C.UTF-8", **(environment or {})}
    if network:
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        variables |= dict(
            item.split("=", 1) for item in shlex.split(os.environ.get("REHEARSAL_ENVIRONMENT", ""))
        )
    pairs = shlex.join(f"{name}={value}" for name, value in variables.items())
    inner = ["sh", "-c", _ENTER, "enter", str(root), script, "yes" if network else "no"]
    _call([*command, *inner, writable, pairs, *extra])


def _from_host(root: Path) -> list[str]:
    """Mounts of what `REHEARSAL_FROM_HOST` names; the places for them are made."""
    pairs = shlex.split(os.environ.get("REHEARSAL_FROM_HOST", ""))
    for pair in pairs:
        source, _, target = pair.partition("=")
        place = root / target.lstrip("/")
        if Path(source).is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    return pairs


def _call(command: list[str], *, quiet: bool = False) -> None:
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}: {(done.stdout or '')[-2000:]}")
