"""One classifier for real tables: mixed columns, gaps, reasons."""

from suffice.table.classifier import GenerativeClassifier

__all__ = ["GenerativeClassifier"]
