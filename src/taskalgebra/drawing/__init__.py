"""Pictures of finite worlds: for terminals, and as images."""
