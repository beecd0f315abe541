"""Special functions and one-dimensional maxima."""
