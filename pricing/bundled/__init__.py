"""The catalog that comes with the program: built from price lists, kept compressed, loaded.

`build` turns a folder of price lists into offers and accounts for every row of it; `files`
writes and reads the result. Nothing here is needed to read live prices.
"""
