"""Learning with few steps."""
