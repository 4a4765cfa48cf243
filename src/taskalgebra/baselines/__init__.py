"""What others do with tasks and values."""
