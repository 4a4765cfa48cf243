"""The paper's figures, one a file: `draw(result) -> Figure`, a function of a saved result only.

Figures never learn, plan or rescale: what is not in the result is not in the figure.  They need
matplotlib: `pip install "taskalgebra[figures]"`.
"""
