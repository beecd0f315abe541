"""What suffice does, on made-up data and data sets of scikit-learn: `python -m suffice.demo`."""
