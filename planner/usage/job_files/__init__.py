"""Files that describe work, as the fields of a request: what they say, and what has to be asked."""
