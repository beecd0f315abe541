"""Strings that are levels, numbers, dates or times."""
