"""What the transports for clients of HTTP have in common."""
