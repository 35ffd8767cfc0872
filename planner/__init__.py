"""The planner: what a project needs, and what that costs rented, owned or mixed."""

import pricing  # noqa: F401  It sets the threads of numpy before anything here loads that.
