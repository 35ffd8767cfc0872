"""Views: find the team's thing, call a service, render."""
