"""Which files there are and what kind each is."""
