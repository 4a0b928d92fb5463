"""Runs the rooms in order."""
