"""Text: documents to counted words, classifiers of documents, and mail."""

from suffice.text.classifier import TextClassifier
from suffice.text.hashing import HashingVectorizer
from suffice.text.vectorizer import CountVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TextClassifier"]
