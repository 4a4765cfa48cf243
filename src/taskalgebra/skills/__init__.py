"""Skills and agents; how they are saved, loaded and found by name."""

from pathlib import Path

SHIPPED_AT = Path(__file__).parent / "shipped"
"""The directory of the skills that come with the library."""
