"""What suffice does, shown on data that ships with scikit-learn: `python -m suffice.demo`."""
