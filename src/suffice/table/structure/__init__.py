"""The structure search: a family for each column, and which columns form blocks."""
