"""`python -m gpu_cost_planner` is `gpu-cost-planner`."""

from __future__ import annotations

import sys

from gpu_cost_planner.command_line import main

if __name__ == "__main__":
    sys.exit(main())
