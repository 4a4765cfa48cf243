"""Tasks with time, beside published figures: `taskalgebra reproduce temporal`.

One record per part (`record.Entry`), in the list of the module that measures it; `run.MODULES`
names the modules.  The optimum is found by a search of its own (`judge`).
"""
