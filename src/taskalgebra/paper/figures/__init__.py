"""The paper's figures, one per file: `draw(result) -> Figure`, a function of saved results alone.

Figures never learn, plan or rescale: what is not in the result is not in the figure.  They need
matplotlib: `pip install "taskalgebra[figures]"`.
"""
