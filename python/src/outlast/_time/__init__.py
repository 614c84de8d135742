"""The clock in force, and waiting without holding up an event loop."""
