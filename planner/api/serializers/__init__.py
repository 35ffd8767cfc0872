"""Shapes of what goes in and out; what values mean is judged by the services."""
