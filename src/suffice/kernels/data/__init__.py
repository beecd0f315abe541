"""Hashes of rows, and strings."""
