"""Compiled loops over plain arrays: no classes, no policy."""
