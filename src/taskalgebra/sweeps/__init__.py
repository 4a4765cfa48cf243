"""Sweeps: lists of cells, run one by one, in local processes, or on a Ray cluster.

A cell is a module-level function and the data that it is called with, its seed included, so that
its result depends neither on the process that runs it nor on when it is run.  `run` gives the
results in the order of the cells, the same bits from every engine.  With a directory to keep them
in, finished cells are not run again.

    cells = [Cell(learn_and_judge, Settings(seed=seed)) for seed in range(100)]
    rows = run(cells, "processes", keep="kept")

`cells.py` says what a cell is, `content.py` how it is known again, `keeping.py` how its result is
kept; `running.py` holds `run`; the engines are `serial.py`, `processes.py` and `on_ray.py`.
"""
