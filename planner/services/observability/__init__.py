"""What an operator sees: request ids, logs, measures, readiness, reports to other services."""
