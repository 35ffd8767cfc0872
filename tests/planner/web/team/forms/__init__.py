"""Forms of a team: settings, quotes, tokens and webhooks in a browser."""
