"""Studies: worlds × learners × seeds × tasks, from one TOML file to one table.

`study.py` says what a study is, `reading.py` reads it from a file, `measuring.py` runs one cell of
it, and `table.py` makes the table, its provenance and its summary.
"""
