"""Text: documents to counted words, classifiers of documents, and mail."""

from suffice.text.classify.classifier import TextClassifier
from suffice.text.vectorize.hashing import HashingVectorizer
from suffice.text.vectorize.vectorizer import CountVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TextClassifier"]
