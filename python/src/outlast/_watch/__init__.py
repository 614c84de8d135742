"""Looking at a server that is away, until it is back."""
