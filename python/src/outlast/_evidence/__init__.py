"""What is seen of an attempt's requests, where they pass."""
