"""What suffice does, on rows made up for it and on data of scikit-learn's: `-m suffice.demo`."""
