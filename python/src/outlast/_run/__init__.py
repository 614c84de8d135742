"""Carrying out calls: attempts, waits, repairs, and telling the hooks."""
