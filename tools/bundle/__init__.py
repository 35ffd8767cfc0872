"""Builds the catalog that comes with the program: `python -m tools.bundle FOLDER [--out FOLDER]`.

`rows` reads price lists and accounts for every row; `clouds`, `history` and `places` turn rows
into offers, past prices and regions; `build` puts them together and writes `pricing/data`.
"""
