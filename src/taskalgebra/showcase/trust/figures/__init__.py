"""Pictures, drawn from results alone; they need matplotlib."""
