"""What suffice does, on data that come with it and with scikit-learn: `suffice demo`."""
