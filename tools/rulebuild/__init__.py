"""Fact tables -> rules/: the second step of the knowledge pipeline (the first is tools/upstream)."""
