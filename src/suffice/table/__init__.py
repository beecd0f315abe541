"""One classifier for real tables: mixed columns, missing values, reasons."""

from suffice.table.classifier import GenerativeClassifier
from suffice.table.structure.settings import SearchSettings
from suffice.table.which_model import classifier_for

__all__ = ["GenerativeClassifier", "SearchSettings", "classifier_for"]
