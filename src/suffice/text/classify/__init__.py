"""Classifiers of documents."""
