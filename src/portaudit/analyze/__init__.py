"""Bytes and a vocabulary in, evidence out. Nothing here says whether something is good or bad."""
