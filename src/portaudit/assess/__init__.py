"""Findings -> components, verdicts and a report. No file format is known here."""
