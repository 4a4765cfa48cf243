"""Learning extended values by interaction."""
