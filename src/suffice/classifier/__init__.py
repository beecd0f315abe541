"""One classifier for real tables: mixed columns, gaps, reasons."""

from suffice.classifier.classifier import GenerativeClassifier

__all__ = ["GenerativeClassifier"]
