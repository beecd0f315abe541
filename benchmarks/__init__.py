"""Speed and quality of our estimators against scikit-learn's, in one run on one machine."""
