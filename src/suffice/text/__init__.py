"""Text: documents to counted words, classifiers of documents, and mail."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from suffice.text.classify.classifier import TextClassifier
    from suffice.text.vectorize.hashing import HashingVectorizer
    from suffice.text.vectorize.vectorizer import CountVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TextClassifier"]

# Loaded when first used: documents can be split and scored without scikit-learn.
_HOME = {
    "CountVectorizer": "suffice.text.vectorize.vectorizer",
    "HashingVectorizer": "suffice.text.vectorize.hashing",
    "TextClassifier": "suffice.text.classify.classifier",
}


def __getattr__(name: str) -> Any:
    if name == "mail":
        return import_module("suffice.text.mail")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'suffice.text' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
