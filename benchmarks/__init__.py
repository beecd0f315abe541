"""How fast: our estimators beside scikit-learn's, in one run on one machine."""
