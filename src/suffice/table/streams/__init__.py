"""Streams of rows: families decided again while there are few rows, windows, decay."""
