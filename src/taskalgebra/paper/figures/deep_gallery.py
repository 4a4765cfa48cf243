"""Another name of the deep pictures of `catalogue`."""

from importlib import import_module

FIGURES = import_module("taskalgebra.paper.reproduce").figures_of("deep")["deep"]
