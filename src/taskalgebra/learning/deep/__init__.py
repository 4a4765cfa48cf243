"""Algorithm 1 with networks; the only place with torch."""
