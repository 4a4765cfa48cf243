"""What is lost where the theory ends, and how to get it back: `taskalgebra reproduce trust`.

One part per module, with `Config`, `QUICK`, `run → Result` and `judge`; `run.PARTS` names them.
Claims are judged from results alone, and pictures are drawn from them (`figures/`).
"""
