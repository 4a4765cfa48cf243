"""Plots with matplotlib, of plain data.

One panel is drawn into the `ax` that is given, or into a new figure of pyplot, and its `Axes` are
returned.  Several panels are drawn into the `figure` that is given, a figure or a subfigure, or
into a new one, and an array of their `Axes` is returned.  Nothing is shown, and pyplot is only
touched where a figure is made.  Colours of text and paper are those of the caller's style.
"""

from taskalgebra.extras import missing

try:
    import matplotlib as matplotlib
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        missing("plots", "matplotlib", "figures"), name="matplotlib"
    ) from None
