"""A policy as data, and a session: one call's questions to it."""
