"""What a policy is worth: exactly, and by letting it act."""
