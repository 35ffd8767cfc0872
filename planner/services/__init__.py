"""What a team can do, as plain functions that every interface calls with the caller's `Access`."""
