"""What a team can do, as plain functions that every door calls with the caller's `Access`."""
