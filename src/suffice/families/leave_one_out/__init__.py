"""Scores of rows under classes that have not learned them."""
