"""Skills and agents; how they are saved, loaded and found by name."""
