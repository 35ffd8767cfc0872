"""The planner as tools of an assistant (MCP): read-only, small answers, the verdict first."""
