"""Calls that are commands: one process for each attempt."""
