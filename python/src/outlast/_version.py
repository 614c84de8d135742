"""The version of this package, which is that of the plugin it carries."""

__version__ = "0.1.0"
