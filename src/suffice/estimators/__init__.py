"""What the scikit-learn estimators share: taking rows in, learning, forgetting, answering."""
