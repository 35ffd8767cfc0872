"""The catalog that comes with the program: kept compressed, read and loaded."""
