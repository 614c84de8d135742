"""What class an exception is of, without importing its package."""

from __future__ import annotations


def is_a(error: object, package: str, *names: str) -> bool:
    """Whether an exception is of one of a package's classes, or of a subclass."""
    return any(
        kind.__name__ in names and kind.__module__.partition(".")[0] == package
        for kind in type(error).__mro__
    )


def is_of(error: object, package: str) -> bool:
    """Whether an exception's own class is a package's."""
    return type(error).__module__.partition(".")[0] == package
