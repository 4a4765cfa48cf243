"""FlatWorld: circles of seven colours in a square, and moves of one length in eight directions."""
