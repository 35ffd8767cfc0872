"""`make rehearse`: machine, image or both."""

import argparse
import os
import shutil
import sys
from pathlib import Path

from tests.rehearsal.image import rehearse_image
from tests.rehearsal.machine import rehearse_machine

REHEARSALS = {"machine": rehearse_machine, "image": rehearse_image}


def main() -> None:
    parser = argparse.ArgumentParser(prog="rehearse", description=__doc__)
    parser.add_argument("which", nargs="*", choices=[*REHEARSALS, []], help="all by default")
    parser.add_argument("--folder", default="/var/tmp/planner-rehearsal", type=Path)
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("Only root can make a root folder of its own; run it with sudo.")
    for tool in ("debootstrap", "unshare", "ip"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not here; install the packages debootstrap, util-linux, iproute2.")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.which or REHEARSALS:
        print(f"== {name}", flush=True)
        REHEARSALS[name](options.folder)


if __name__ == "__main__":
    main()
