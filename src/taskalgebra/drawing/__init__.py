"""Pictures of worlds, tasks and automata: for terminals, as images, as HTML, and plots."""
