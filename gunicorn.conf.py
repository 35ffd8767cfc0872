"""What gunicorn reads wherever it is started from this folder."""

limit_request_line = 8190
"""Longest first line of a request, bytes: the address of a page holds a whole plan, and one sent
by a browser without scripts names every empty box too. 8190 is gunicorn's most."""
