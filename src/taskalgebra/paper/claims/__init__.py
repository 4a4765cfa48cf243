"""What the paper claims, what was measured, and the verdicts: functions of saved results only."""
