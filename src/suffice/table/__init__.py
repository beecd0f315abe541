"""One classifier for real tables: mixed columns, missing values, reasons."""

from suffice.table.classifier import GenerativeClassifier
from suffice.table.structure.settings import SearchSettings

__all__ = ["GenerativeClassifier", "SearchSettings"]
