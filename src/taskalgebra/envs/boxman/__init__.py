"""Boxman, the video game of Section 5."""
