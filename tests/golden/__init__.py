"""Every figure that a reader sees, held against the answer's field.

Mirrors no package: nine fixed requests are answered once, and the page, its print view, the
workbook, the CSV and the FOCUS rows of each answer are read back. What they show is compared cell
by cell with what the answer's field must look like there, so a figure that is swapped, left out,
rounded otherwise or worked out again fails here, and so does a figure that no field accounts for.
"""
