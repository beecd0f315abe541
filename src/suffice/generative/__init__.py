"""Generative classifiers: what every classifier that knows p(class) and p(x | class) can do."""
