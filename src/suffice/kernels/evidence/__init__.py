"""Evidences of tallies under priors of a given strength, and their maxima."""
