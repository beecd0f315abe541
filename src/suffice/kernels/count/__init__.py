"""Sums over rows."""
