"""Families of columns: how a block of a table is counted, scored, sampled and left out."""
