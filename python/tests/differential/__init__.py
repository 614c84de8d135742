"""witan-core's own loop as the oracle, against the plugin."""
