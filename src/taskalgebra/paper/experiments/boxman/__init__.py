"""Boxman: its settings and skills, exact values to hold networks against, and its experiments."""
