"""The paper, reproduced: one record per figure, from which all else follows.

- `results`: what an experiment leaves on disk
- `experiments`: protocols, run to results; those with networks are in `experiments.boxman`
- `figures`: drawn from results
- `claims`: judged from results
- `catalogue`: the record of each figure: its place, its words, its pictures, its claims
- `report`: everything on one page
- `reproduce`: runs, draws, judges and reports what was asked for
"""
