"""The steps of the Containerfile, done one by one in fresh Debian roots; the result then serves
with a file system that is only read, under the account of the image."""

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.rehearsal.machine import REPOSITORY, copy_program
from tests.rehearsal.roots import copy_root, make_base, run_inside

CONTAINERFILE = REPOSITORY / "deploy/Containerfile"
IGNORED = REPOSITORY / ".dockerignore"
MOST_BYTES = 400_000_000
SLIM_BYTES = 75_000_000
"""Of Debian's slim image; the base of a rehearsal holds manuals and apt's lists as well."""
STATE = "var/lib/planner"
_SLIM = "".join(f"path-exclude /usr/share/{name}/*\n" for name in ("doc", "locale", "man", "info"))
"""What Debian's slim image tells dpkg."""
_SERVE = """
export DEBUG=0 SECRET_KEY=rehearsed-rehearsed-rehearsed-rehearsed-rehearsed-rehearsed
export ALLOWED_HOSTS=planner.example.com HOME=/{state} DATABASE_URL=sqlite:////var/lib/planner/db.sqlite3
cd {folder}
python manage.py migrate --verbosity 0
python manage.py load_catalog
{command} &
for _ in $(seq 60); do {health} 2>/dev/null && break; sleep 1; done
{health}
python - <<'PYTHON'
{browse}
PYTHON
touch /srv/planner/written 2>/dev/null && exit 1
id -u
echo "Serves and answers its health check; nothing but /tmp and /{state} can be written."
"""
_BROWSE = """
import json, re, urllib.request

HEADERS = {"Host": "planner.example.com", "X-Forwarded-Proto": "https"}

def ask(path):
    request = urllib.request.Request(f"http://127.0.0.1:8000{path}", headers=HEADERS)
    return urllib.request.urlopen(request, timeout=60).read().decode(errors="replace")

print(json.loads(ask("/readyz"))["database"])
files = set()
pages = ("/", "/plan/", "/market/", "/method/", "/accounts/login/", "/api/v1/docs/")
for page in pages:
    files |= set(re.findall(r'(?:href|src)="(/static/[^"]+)"', ask(page)))
for file in files:
    ask(file)
print(f"{len(files)} files of {len(pages)} pages")
"""


@dataclass
class Stage:
    """One `FROM` of the file, as far as it is done."""

    root: Path
    folder: str = "/"
    user: str = "root"
    variables: dict[str, str] = field(default_factory=dict)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)


def rehearse_image(folder: Path) -> None:
    """Builds, measures and starts the image."""
    base = make_base(folder)
    stages: dict[str, Stage] = {}
    stage = None
    for instruction, argument in read_instructions(CONTAINERFILE.read_text()):
        if instruction == "FROM":
            name = argument.partition(" AS ")[2] or "last"
            stage = stages[name] = Stage(copy_root(base, folder / f"image-{name}"))
            (stage.root / "etc/dpkg/dpkg.cfg.d/slim").write_text(_SLIM)
        else:
            assert stage is not None
            do(stage, instruction, argument, stages)
    size = SLIM_BYTES + measure(stages["last"].root) - measure(base)
    serve(stages["last"])
    print(f"The image has {size / 1e6:.0f} MB", flush=True)
    if size > MOST_BYTES:
        raise SystemExit(f"It may have {MOST_BYTES / 1e6:.0f} MB.")


def read_instructions(text: str) -> list[tuple[str, str]]:
    """Instruction and argument of each line of the file; comments left out.

    >>> read_instructions("FROM debian AS build\\n# why\\nUSER planner\\n")
    [('FROM', 'debian AS build'), ('USER', 'planner')]
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in lines]  # type: ignore[misc]


def do(stage: Stage, instruction: str, argument: str, stages: dict[str, Stage]) -> None:
    """One instruction; one that is not known here is an error, never left out."""
    match instruction:
        case "RUN":
            script = f"cd {stage.folder}\n{argument}"
            variables = {**stage.variables, "DEBIAN_FRONTEND": "noninteractive"}
            run_inside(stage.root, script, network=True, environment=variables)
        case "COPY":
            copy(stage, argument, stages)
        case "ENV" | "ARG":
            stage.variables |= dict(item.split("=", 1) for item in shlex.split(argument))
        case "WORKDIR":
            stage.folder = argument
            (stage.root / argument.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "USER":
            stage.user = argument
        case "CMD":
            stage.command = json.loads(argument)
        case "HEALTHCHECK":
            stage.health = json.loads(argument[argument.index("[") :])
        case "VOLUME" | "EXPOSE" | "STOPSIGNAL":
            pass
        case _:
            raise SystemExit(f"{instruction} is not rehearsed.")


def copy(stage: Stage, argument: str, stages: dict[str, Stage]) -> None:
    """`COPY . .` with the ignore file, or a folder of another stage."""
    if match := re.fullmatch(r"--from=(\w+) (\S+) (\S+)", argument):
        source = stages[match[1]].root / match[2].lstrip("/")
        target = stage.root / match[3].lstrip("/")
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "--archive", str(source), str(target)], check=True)
    elif argument == ". .":
        target = stage.root / stage.folder.lstrip("/")
        whole = stage.root.with_name("context")
        shutil.rmtree(whole, ignore_errors=True)
        copy_program(whole)
        for name in re.findall(r"^!(\S+)$", IGNORED.read_text(), re.MULTILINE):
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "--archive", str(whole / name), str(place)], check=True)
    else:
        raise SystemExit(f"COPY {argument} is not rehearsed.")


def measure(root: Path) -> int:
    """Bytes of the files of a root, each once; what apt has downloaded left out."""
    seen: set[int] = set()
    total = 0
    for folder, folders, names in os.walk(root):
        if folder.endswith(("var/lib/apt/lists", "var/cache/apt")):
            folders.clear()
            continue
        for name in names:
            status = os.lstat(os.path.join(folder, name))
            if status.st_ino not in seen:
                seen.add(status.st_ino)
                total += status.st_size
    return total


def serve(stage: Stage) -> None:
    """Starts the command of the image as its account, on a root that is only read."""
    script = _SERVE.format(
        folder=stage.folder,
        command=shlex.join(stage.command),
        health=shlex.join(stage.health),
        browse=_BROWSE,
        state=STATE,
    )
    as_account = f"exec setpriv --reuid={stage.user} --regid={stage.user} --clear-groups "
    as_account += f"--no-new-privs --bounding-set=-all sh -e -c {shlex.quote(script)}"
    run_inside(stage.root, as_account, environment=stage.variables, writable=STATE)
