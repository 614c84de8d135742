"""What a call is, what came of its attempts, and what a policy wants next. Data only."""
