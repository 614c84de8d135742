"""Values and messages as they cross the boundary to the plugin."""
