"""Event models of documents as naive Bayes classifiers."""
