"""How agents and skills show themselves: as text, as plots and films, and in notebooks."""
