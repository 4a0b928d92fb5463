"""Evidence and knowledge in, findings out. No source text is parsed here."""
